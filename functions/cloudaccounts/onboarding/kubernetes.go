package onboarding

import (
	"cmp"
	"slices"
	"strings"
)

// clusterRole is the ClusterRole of a level.
type clusterRole struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Rules      []clusterRule     `json:"rules"`
}

type clusterRule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// rulesOf makes rules of permissions as the code lists them: "patch deployments.apps", "patch deployments.apps/scale", "list pods".
func rulesOf(permissions []string) []clusterRule {
	verbs := map[[2]string][]string{}
	for _, p := range permissions {
		verb, name, _ := strings.Cut(p, " ")
		name, sub, _ := strings.Cut(name, "/")
		resource, group, _ := strings.Cut(name, ".")
		if sub != "" {
			resource += "/" + sub
		}
		verbs[[2]string{group, resource}] = append(verbs[[2]string{group, resource}], verb)
	}
	var out []clusterRule
	for k, v := range verbs {
		slices.Sort(v)
		out = append(out, clusterRule{[]string{k[0]}, []string{k[1]}, slices.Compact(v)})
	}
	slices.SortFunc(out, func(a, b clusterRule) int {
		return cmp.Or(cmp.Compare(a.APIGroups[0], b.APIGroups[0]), cmp.Compare(a.Resources[0], b.Resources[0]))
	})
	return out
}

func cluster(Organisation) (Steps, error) {
	policies, err := buildPolicies("kubernetes", func(l level) (any, []string) {
		return clusterRole{"rbac.authorization.k8s.io/v1", "ClusterRole", map[string]string{"name": "lamplighter"}, rulesOf(l.all)}, nil
	})
	if err != nil {
		return Steps{}, err
	}
	token := `{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"name":"lamplighter","namespace":"lamplighter",` +
		`"annotations":{"kubernetes.io/service-account.name":"lamplighter"}}}`
	const get = "kubectl get secret lamplighter --namespace lamplighter --output "
	return Steps{Provider: "kubernetes", Policies: policies, Methods: []Method{{
		AuthMethod: "kubeconfig", Title: "A service account of the cluster, and a kubeconfig with its token", Recommended: true,
		Commands: []string{
			"kubectl create namespace lamplighter",
			"kubectl create serviceaccount lamplighter --namespace lamplighter",
			"echo " + quote(string(policies[1].Document)) + " | kubectl apply --filename -",
			"kubectl create clusterrolebinding lamplighter --clusterrole=lamplighter --serviceaccount=lamplighter:lamplighter",
			"echo " + quote(token) + " | kubectl apply --filename -",
			get + `jsonpath='{.data.ca\.crt}' | base64 --decode > lamplighter-ca.crt`,
			"kubectl config --kubeconfig=lamplighter.kubeconfig set-cluster cluster --embed-certs --certificate-authority=lamplighter-ca.crt" +
				` --server="$(kubectl config view --minify --output jsonpath='{.clusters[0].cluster.server}')"`,
			`kubectl config --kubeconfig=lamplighter.kubeconfig set-credentials lamplighter --token="$(` + get + `jsonpath='{.data.token}' | base64 --decode)"`,
			"kubectl config --kubeconfig=lamplighter.kubeconfig set-context lamplighter --cluster=cluster --user=lamplighter",
			"kubectl config --kubeconfig=lamplighter.kubeconfig use-context lamplighter",
		},
		Credentials: []string{"kubeconfig"},
	}}}, nil
}
