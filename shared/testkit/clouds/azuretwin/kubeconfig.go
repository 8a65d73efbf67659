package azuretwin

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// aksApplication is the ID of an Entra application. Every AKS cluster accepts tokens for it.
const aksApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"

// OpensClusters reports whether a token was given out for AKS, as its clusters ask Entra.
func (c *Cloud) OpensClusters(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.HasPrefix(c.tokens[token], aksApplication)
}

// AddEntraCluster adds a running cluster with a public endpoint, which takes tokens of Entra.
func (c *Cloud) AddEntraCluster(name, region, endpoint string, authority []byte) *Resource {
	return c.AddCluster(name, region, func(r *Resource) {
		r.Endpoint, r.Authority = endpoint, authority
		r.Properties()["aadProfile"] = map[string]any{"managed": true, "enableAzureRBAC": false, "tenantID": Tenant}
	})
}

// kubeconfigAnswer answers with a file that names a plugin for its user, as Azure does for clusters with Entra.
func (r *Resource) kubeconfigAnswer(q request) (answer, *failure) {
	if q.URL.Query().Get("format") != "exec" {
		return answer{}, newFailure(http.StatusBadRequest, "BadRequest", "the auth-provider of format '%s' is not "+
			"supported any more.", q.URL.Query().Get("format"))
	}
	name := fmt.Sprint(r.Body["name"])
	file := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: %[1]s
contexts: [{name: %[1]s, context: {cluster: %[1]s, user: clusterUser_Group-1_%[1]s}}]
clusters: [{name: %[1]s, cluster: {server: %[2]q, certificate-authority-data: %[3]s}}]
users:
- name: clusterUser_Group-1_%[1]s
  user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin, args: [get-token, --server-id, `+
		`%[4]s]}}
`, name, r.Endpoint, base64.StdEncoding.EncodeToString(r.Authority), aksApplication)
	return okAnswer(map[string]any{"kubeconfigs": []any{map[string]any{
		"name":  "clusterUser",
		"value": base64.StdEncoding.EncodeToString([]byte(file)),
	}}})
}
