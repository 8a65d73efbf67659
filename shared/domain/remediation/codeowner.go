package remediation

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/inventory"
)

// CodeOwner is the code that a resource is made from.
type CodeOwner struct {
	Tool string // cloudformation, terraform, helm, gitops, or the name in the resource's mark
	Name string // of the stack, workspace, release or application; empty if no tag says it
	Part string // of the resource in it, for CloudFormation; empty if no tag says it
}

// controllersOnly are controllers that keep a resource as it is, and have no code to change.
var controllersOnly = []string{"eks", "gke", "aks", "operator", "asg", "backup"}

// nameTags are the tags that name the owner, by tool. The first that a resource has counts. A key that ends in a slash
// is no prefix here.
var nameTags = map[string][]string{
	"cloudformation": {"aws:cloudformation:stack-name", "aws:servicecatalog:provisionedproductarn"},
	"terraform": {
		"terraform-workspace", "terraform_workspace", "terraform:workspace", "tfc-workspace", "tfc_workspace",
		"workspace", "terraform-module", "terraform_module", "module", "stack",
	},
	"helm": {"meta.helm.sh/release-name", "app.kubernetes.io/instance", "release", "helm.sh/chart"},
	"gitops": {
		"argocd.argoproj.io/instance", "argocd.argoproj.io/tracking-id", "kustomize.toolkit.fluxcd.io/name",
		"helm.toolkit.fluxcd.io/name", "app.kubernetes.io/instance",
	},
	"pulumi": {"pulumi:stack", "pulumi:project", "stack"},
}

// ownerOf returns the controller or tool of a resource by its tags, and the code if it is a tool of infrastructure as
// code.
func ownerOf(tags map[string]string) (controller string, code CodeOwner, isCode bool) {
	lower := make(map[string]string, len(tags))
	for k, v := range tags {
		lower[strings.ToLower(k)] = v
	}
	controller = inventory.ControllerOf(lower)
	if slices.Contains(controllersOnly, controller) {
		return controller, code, false
	}
	tool := controller
	if tool == "opentofu" {
		tool = "terraform"
	}
	code = CodeOwner{Tool: controller, Part: lower["aws:cloudformation:logical-id"]}
	for _, key := range nameTags[tool] {
		code.Name = cmp.Or(code.Name, lower[key])
	}
	if app, _, tracked := strings.Cut(code.Name, ":"); tracked && tool == "gitops" {
		code.Name = app // argocd.argoproj.io/tracking-id is "app:group/kind:namespace/name"
	}
	return controller, code, controller != ""
}

// ControllerOf returns the controller or tool that would undo a change of a resource with these tags, "" if no mark is
// known, and the code that it is made from, or nil if it is made from none.
func ControllerOf(tags map[string]string) (string, *CodeOwner) {
	controller, code, isCode := ownerOf(tags)
	if !isCode {
		return controller, nil
	}
	return controller, &code
}

// String returns the owner in words: "cloudformation (shop)".
func (o CodeOwner) String() string {
	if o.Name == "" {
		return o.Tool
	}
	return o.Tool + " (" + o.Name + ")"
}
