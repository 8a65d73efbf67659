package twin

import "net/http"

func (c *Cloud) callerIdentity(request) (any, *failure) {
	return []node{text("Account", Account), text("Arn", "arn:aws:iam::"+Account+":user/u"), text("UserId", "AIDATWIN")}, nil
}

// assumeRole demands the external id of the role's trust policy, where that has one.
func (c *Cloud) assumeRole(q request) (any, *failure) {
	arn := q.get("RoleArn")
	want, ok := c.roles[arn]
	if !ok || (want != "" && q.get("ExternalId") != want) {
		return nil, fail(http.StatusForbidden, "AccessDenied", "User: arn:aws:iam::999999999999:role/lamplighter is not authorized to perform: sts:AssumeRole on resource: %s", arn)
	}
	return []node{
		el("Credentials", text("AccessKeyId", "ASIATWINTWINTWIN"), text("SecretAccessKey", "secret"), text("SessionToken", "token"), text("Expiration", "2099-01-01T00:00:00Z")),
		el("AssumedRoleUser", text("Arn", arn), text("AssumedRoleId", "AROA:s")),
	}, nil
}
