package awstwin

import "net/http"

func (c *Cloud) callerIdentity(request) (any, *failure) {
	return []node{
		newText("Account", Account), newText("Arn", "arn:aws:iam::"+Account+":user/u"),
		newText("UserId", "AIDATWIN"),
	}, nil
}

// webIdentityToken answers with a token that names the audience. A real token of AWS's is a JWT, but tests do not
// decode it.
func (c *Cloud) webIdentityToken(q request) (any, *failure) {
	if q.getString("Audience.member.1") == "" || q.getString("SigningAlgorithm") == "" {
		return nil, newFailure(http.StatusBadRequest, "ValidationError", "1 validation error detected: Value null at "+
			"'audience' failed to satisfy constraint")
	}
	return []node{
		newText("WebIdentityToken", "jwt for "+q.getString("Audience.member.1")),
		newText("Expiration", "2099-01-01T00:00:00Z"),
	}, nil
}

// assumeRole requires the external id of the role's trust policy, if it has one.
func (c *Cloud) assumeRole(q request) (any, *failure) {
	arn := q.getString("RoleArn")
	want, ok := c.roles[arn]
	if !ok || (want != "" && q.getString("ExternalId") != want) {
		return nil, newFailure(
			http.StatusForbidden, "AccessDenied",
			"User: arn:aws:iam::999999999999:role/lamplighter is not authorized to perform: sts:AssumeRole on "+
				"resource: %s", arn)
	}
	return []node{
		newElement("Credentials", newText("AccessKeyId", "ASIATWINTWINTWIN"), newText("SecretAccessKey", "secret"),
			newText("SessionToken", "token"), newText("Expiration", "2099-01-01T00:00:00Z")),
		newElement("AssumedRoleUser", newText("Arn", arn), newText("AssumedRoleId", "AROA:s")),
	}, nil
}
