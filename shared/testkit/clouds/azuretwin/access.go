package azuretwin

import (
	"fmt"
	"net/http"
	"path"
	"strings"
)

// opOf names a request as Azure's roles name permissions.
func opOf(r *http.Request) string {
	if storageHost(r) != "" {
		return blobsRead
	}
	return resourceOp(r, strings.TrimSuffix(r.URL.Path, "/"))
}

// resourceOp names a request of the resource manager or of a service beside it.
func resourceOp(r *http.Request, p string) string {
	switch {
	case strings.HasSuffix(p, "/.well-known/openid-configuration"):
		return "entra:configuration"
	case strings.HasSuffix(p, "/oauth2/v2.0/token"):
		return "entra:token"
	case strings.EqualFold(p, "/providers/Microsoft.ResourceGraph/resources"):
		return "Microsoft.ResourceGraph/resources/read"
	case strings.HasSuffix(p, "/metrics:getBatch"):
		return "Microsoft.Insights/metrics/read"
	case strings.HasSuffix(p, "/locations"):
		return "Microsoft.Resources/subscriptions/locations/read"
	}
	if _, of := cutPrefixFold(p, groupsPath); of {
		return groupOp(p)
	}
	scope, rest, found := strings.Cut(p, "/providers/")
	if !found || scope == "" {
		return "Microsoft.Resources/subscriptions/read"
	}
	named := typeOf(rest)
	return named + "/" + verbOf(r.Method)
}

// verbOf returns the verb that roles use for an HTTP method.
func verbOf(method string) string {
	switch method {
	case http.MethodGet:
		return "read"
	case http.MethodPost:
		return "action"
	case http.MethodDelete:
		return "delete"
	}
	return "write"
}

// typeOf takes the names out of Microsoft.Compute/virtualMachines/web/start: Microsoft.Compute/virtualMachines/start.
// Types that the twin has are written as Azure writes them.
func typeOf(path string) string {
	parts := strings.Split(path, "/")
	words := parts[:1:1]
	for i := 1; i < len(parts); i += 2 {
		words = append(words, parts[i])
	}
	out := strings.Join(words, "/")
	for _, known := range types {
		if rest, ok := cutPrefixFold(out, known); ok && (rest == "" || rest[0] == '/') {
			return known + rest
		}
	}
	return out
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// isAllowed reports whether a role allows the action; none are the role that may do everything.
func (c *Cloud) isAllowed(op string) bool {
	if len(c.roles) == 0 {
		return true
	}
	for _, r := range c.roles {
		if anyMatch(r.Actions, op) && !anyMatch(r.NotActions, op) {
			return true
		}
	}
	return false
}

// anyMatch: asterisks go over slashes, which path.Match's do not, so slashes are taken for another letter.
func anyMatch(patterns []string, op string) bool {
	flat := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "!") }
	for _, p := range patterns {
		if ok, err := path.Match(flat(p), flat(op)); err == nil && ok {
			return true
		}
	}
	return false
}

// answerEntra answers as login.microsoftonline.com does.
func (c *Cloud) answerEntra(q request) (answer, *failure) {
	tenant, _, _ := strings.Cut(strings.Trim(q.URL.Path, "/"), "/")
	if !strings.EqualFold(tenant, Tenant) {
		return answer{}, newFailure(http.StatusBadRequest, "invalid_request", "AADSTS90002: Tenant '%s' not found. "+
			"Check to make sure you have the correct tenant ID.\r\nTrace ID: 1", tenant)
	}
	base := "https://" + q.Host + "/" + tenant
	if q.op == "entra:configuration" {
		return okAnswer(map[string]any{
			"issuer": base + "/v2.0", "authorization_endpoint": base + "/oauth2/v2.0/authorize",
			"token_endpoint": base + "/oauth2/v2.0/token",
		})
	}
	switch {
	case q.body["client_id"] != Client:
		return answer{}, newFailure(http.StatusBadRequest, "invalid_client", "AADSTS700016: Application with "+
			"identifier '%s' was not found in the directory.\r\nTrace ID: 1", q.body["client_id"])
	case q.body["client_assertion"] != nil && (c.Assertion == "" || q.body["client_assertion"] != c.Assertion):
		return answer{}, newFailure(http.StatusUnauthorized, "invalid_client", "AADSTS700213: No matching federated "+
			"identity record found for presented assertion audience.\r\nTrace ID: 1")
	case q.body["client_assertion"] == nil && q.body["client_secret"] != Secret:
		return answer{}, newFailure(http.StatusUnauthorized, "invalid_client", "AADSTS7000215: Invalid client secret "+
			"provided. Ensure the secret being sent in the request is the client secret value.\r\nTrace ID: 1")
	}
	if c.tokens == nil {
		c.tokens = map[string]string{}
	}
	token := fmt.Sprintf("twin-token-%d", len(c.tokens)+1)
	c.tokens[token] = textOf(q.body, "scope")
	return okAnswer(map[string]any{
		"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599,
		"access_token": token,
	})
}

// EndTokens makes all tokens that were given out be refused.
func (c *Cloud) EndTokens() { c.ChangeLocked(func() { clear(c.tokens) }) }
