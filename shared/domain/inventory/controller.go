package inventory

import (
	"strings"
)

// controllerMark is a tag or label that a controller or a tool of infrastructure as code sets on its resources. A key
// that ends in a slash is a prefix. With a value, only that value counts, ignoring case.
type controllerMark struct{ key, value, controller string }

// controllerMarks are the known marks, the most specific first. The sources are the providers' and tools' pages about
// the tags that they reserve.
var controllerMarks = []controllerMark{
	{"eks:cluster-name", "", "eks"},
	{"eks:nodegroup-name", "", "eks"},
	{"aws:eks:cluster-name", "", "eks"},
	{"goog-gke-node", "", "gke"},
	{"goog-gke-volume", "", "gke"},
	{"goog-k8s-cluster-name", "", "gke"},
	{"aks-managed-cluster-name", "", "aks"},
	{"aks-managed-poolname", "", "aks"},
	{"kubernetes.io/cluster/", "", "operator"},
	{"ebs.csi.aws.com/cluster", "", "operator"},
	{"kubernetes.io/created-for/pvc/name", "", "operator"},
	{"argocd.argoproj.io/", "", "gitops"},
	{"kustomize.toolkit.fluxcd.io/", "", "gitops"},
	{"helm.toolkit.fluxcd.io/", "", "gitops"},
	{"app.kubernetes.io/managed-by", "helm", "helm"},
	{"app.kubernetes.io/managed-by", "", "operator"},
	{"aws:autoscaling:groupname", "", "asg"},
	{"aws:backup:source-resource", "", "backup"},
	{"aws:cloudformation:stack-name", "", "cloudformation"},
	{"aws:servicecatalog:provisionedproductarn", "", "cloudformation"},
	{"goog-terraform-provisioned", "true", "terraform"},
	{"terraform", "true", "terraform"},
	{"managed-by", "", ""},
	{"managed_by", "", ""},
	{"managedby", "", ""},
}

// ControllerOf returns the controller or tool that would recreate or revert a resource with these tags, whose keys are
// in lower case. It returns "" if no mark is known. A mark without a controller names it in its value.
func ControllerOf(tags map[string]string) string {
	for _, mark := range controllerMarks {
		if value, there := mark.find(tags); there {
			if mark.controller == "" {
				return strings.ToLower(strings.TrimSpace(value))
			}
			return mark.controller
		}
	}
	return ""
}

// find returns the value of the first tag, in the order of their keys, that matches the mark.
func (m controllerMark) find(tags map[string]string) (value string, there bool) {
	if !strings.HasSuffix(m.key, "/") {
		value, there = tags[m.key]
		return value, there && (m.value == "" || strings.EqualFold(value, m.value))
	}
	first := ""
	for key := range tags {
		if strings.HasPrefix(key, m.key) && (!there || key < first) {
			first, there = key, true
		}
	}
	return tags[first], there
}
