package onboarding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object is a Kubernetes object with the fields needed here.
type object struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metadata          `json:"metadata,omitzero"`
	Type       string            `json:"type,omitempty"`
	Rules      []ClusterRule     `json:"rules,omitempty"`
	RoleRef    map[string]string `json:"roleRef,omitempty"`
	Subjects   []subject         `json:"subjects,omitempty"`
	Items      []object          `json:"items,omitempty"`
}

type metadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type subject struct {
	APIGroup  string `json:"apiGroup,omitempty"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// ClusterRule is a rule of a ClusterRole in Kubernetes' format. The group "" is Kubernetes' core.
type ClusterRule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// RulesOf returns the rules for permissions in the code's format: "patch deployments.apps", "patch
// deployments/scale.apps", "list pods". Resources of a group with the same verbs share a rule.
func RulesOf(permissions []string) []ClusterRule {
	verbs := map[[2]string][]string{}
	for _, p := range permissions {
		verb, name, _ := strings.Cut(p, " ")
		resource, group, _ := strings.Cut(name, ".")
		at := [2]string{group, resource}
		verbs[at] = append(verbs[at], verb)
	}
	out := []ClusterRule{}
	for at, v := range verbs {
		slices.Sort(v)
		out = append(out, ClusterRule{[]string{at[0]}, []string{at[1]}, slices.Compact(v)})
	}
	slices.SortFunc(out, func(a, b ClusterRule) int {
		return cmp.Or(slices.Compare(a.APIGroups, b.APIGroups), slices.Compare(a.Verbs, b.Verbs),
			slices.Compare(a.Resources, b.Resources))
	})
	return mergeRules(out)
}

// mergeRules joins adjacent rules that differ only in their resources.
func mergeRules(sorted []ClusterRule) []ClusterRule {
	out := sorted[:0]
	for _, r := range sorted {
		if n := len(out); n > 0 && slices.Equal(out[n-1].APIGroups, r.APIGroups) &&
			slices.Equal(out[n-1].Verbs, r.Verbs) {
			out[n-1].Resources = append(out[n-1].Resources, r.Resources...)
			continue
		}
		out = append(out, r)
	}
	return out
}

// These are the names of the objects that a customer creates in the cluster.
const (
	roleName = "lamplighter" // also of the namespace, the service account and the secret
	rbac     = "rbac.authorization.k8s.io"
)

// metricsRole is the name of the ClusterRole with the optional permission for metrics.
const metricsRole = roleName + "-metrics"

func newClusterRole(actions []string) object { return namedRole(roleName, actions) }

func newBinding(to subject) object { return namedBinding(roleName, to) }

func namedRole(name string, actions []string) object {
	return object{
		APIVersion: rbac + "/v1", Kind: "ClusterRole", Metadata: metadata{Name: name},
		Rules: RulesOf(actions),
	}
}

func namedBinding(name string, to subject) object {
	return object{
		APIVersion: rbac + "/v1", Kind: "ClusterRoleBinding", Metadata: metadata{Name: name},
		RoleRef: map[string]string{"apiGroup": rbac, "kind": "ClusterRole", "name": name}, Subjects: []subject{to},
	}
}

// clusterMetrics returns the optional permission for metrics.
func clusterMetrics(who subject) (*ClusterMetrics, error) {
	actions := requiredBy("kubernetes").Metrics
	manifest, err := newManifest(namedRole(metricsRole, actions), namedBinding(metricsRole, who))
	if err != nil {
		return nil, err
	}
	return &ClusterMetrics{Actions: actions, Manifest: manifest, Commands: []string{applyCommand(manifest)}}, nil
}

// newManifest returns a manifest of the items for one kubectl apply.
func newManifest(items ...object) (string, error) {
	b, err := json.MarshalIndent(object{APIVersion: "v1", Kind: "List", Items: items}, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write manifest: %w", err)
	}
	return string(b), nil
}

func applyCommand(manifest string) string {
	return "echo " + quote(manifest) + " | kubectl apply --filename -"
}

func clusterPolicies() ([]CloudPolicy, error) {
	return buildPolicies("kubernetes", func(l level) (any, []string) { return newClusterRole(l.all), nil })
}

func kubernetesSteps(Organisation) (Steps, error) {
	policies, err := clusterPolicies()
	if err != nil {
		return Steps{}, err
	}
	own := metadata{Name: roleName, Namespace: roleName}
	who := subject{Kind: "ServiceAccount", Name: roleName, Namespace: roleName}
	holder := own
	holder.Annotations = map[string]string{"kubernetes.io/service-account.name": roleName}
	manifest, err := newManifest(
		object{APIVersion: "v1", Kind: "Namespace", Metadata: metadata{Name: roleName}},
		object{APIVersion: "v1", Kind: "ServiceAccount", Metadata: own},
		newClusterRole(policyOf(policies, startStopLevel).Actions),
		newBinding(who),
		object{APIVersion: "v1", Kind: "Secret", Metadata: holder, Type: "kubernetes.io/service-account-token"},
	)
	if err != nil {
		return Steps{}, err
	}
	metrics, err := clusterMetrics(who)
	if err != nil {
		return Steps{}, err
	}
	const get = "kubectl get secret lamplighter --namespace lamplighter --output "
	return Steps{Provider: "kubernetes", Policies: policies, Metrics: metrics, Methods: []Method{{
		AuthMethod: "kubeconfig", Title: "A service account of the cluster, and a kubeconfig with its token",
		Recommended: true, Template: &manifest,
		Commands: []string{
			applyCommand(manifest),
			get + `jsonpath='{.data.ca\.crt}' | base64 --decode > lamplighter-ca.crt`,
			"kubectl config --kubeconfig=lamplighter.kubeconfig set-cluster cluster --embed-certs " +
				"--certificate-authority=lamplighter-ca.crt" +
				` --server="$(kubectl config view --minify --output jsonpath='{.clusters[0].cluster.server}')"`,
			`kubectl config --kubeconfig=lamplighter.kubeconfig set-credentials lamplighter --token="$(` + get +
				`jsonpath='{.data.token}' | base64 --decode)"`,
			"kubectl config --kubeconfig=lamplighter.kubeconfig set-context lamplighter --cluster=cluster " +
				"--user=lamplighter",
			"kubectl config --kubeconfig=lamplighter.kubeconfig use-context lamplighter",
		},
		Credentials: []string{"kubeconfig"},
	}}}, nil
}

// managedClusters returns the steps that let the credentials of an account enter the clusters of its cloud. before
// are the commands to run before the manifest is applied.
func managedClusters(who subject, title string, before ...string) (*ManagedClusters, error) {
	policies, err := clusterPolicies()
	if err != nil {
		return nil, err
	}
	manifest, err := newManifest(newClusterRole(policyOf(policies, startStopLevel).Actions), newBinding(who))
	if err != nil {
		return nil, err
	}
	metrics, err := clusterMetrics(who)
	if err != nil {
		return nil, err
	}
	return &ManagedClusters{
		Title: title, Policies: policies, Manifest: manifest, Metrics: metrics,
		Commands: append(before, applyCommand(manifest)),
	}, nil
}
