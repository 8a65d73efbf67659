package local

import (
	"lamplighter.dev/functions/actions"
	"lamplighter.dev/functions/auditlogs"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/description"
	"lamplighter.dev/functions/organisations"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/functions/roles"
	"lamplighter.dev/functions/sso"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/functions/tokens"
	"lamplighter.dev/functions/users"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// group is an operation group under the folder of its function.
type group struct {
	folder     string
	operations func(*platform.Platform) *rest.Group
}

// groups are all of them, in the order in which the interface description lists them. A new one is one line here, besides
// its folder and its entry in template.yaml; a function with operations under two tags has two.
func groups() []group {
	return []group{
		{"auth", auth.Operations},
		{"tokens", tokens.Operations},
		{"sso", sso.SignIn},
		{"organisations", organisations.Operations},
		{"sso", sso.Settings},
		{"users", users.Operations},
		{"teams", teams.Operations},
		{"roles", roles.Operations},
		{"cloudaccounts", cloudaccounts.Operations},
		{"resources", resources.Operations},
		{"resourcegroups", resourcegroups.Operations},
		{"actions", actions.Operations},
		{"auditlogs", auditlogs.Operations},
		{"description", described},
	}
}

// described describes everything that is in groups, itself too.
func described(p *platform.Platform) *rest.Group {
	return description.Operations(p, func() ([]byte, error) { return Describe(p).YAML(), nil })
}

// Describe is the interface description of the whole service. It asks nothing of p, whose fields may be empty.
func Describe(p *platform.Platform) *rest.API {
	_, api := rest.Mount(p, mounted(p)...)
	return api
}

// mounted makes every group.
func mounted(p *platform.Platform) []*rest.Group {
	var out []*rest.Group
	for _, g := range groups() {
		out = append(out, g.operations(p))
	}
	return out
}

// functions are the groups as the functions that the template routes to.
func functions(p *platform.Platform) map[string]rest.Function {
	mounted := map[string][]*rest.Group{}
	for _, g := range groups() {
		mounted[g.folder] = append(mounted[g.folder], g.operations(p))
	}
	out := map[string]rest.Function{}
	for folder, gs := range mounted {
		out[folder] = rest.Lambda(p, gs...)
	}
	return out
}

// Operations are the declared operations, by the folders of their functions.
func Operations(p *platform.Platform) map[string][]rest.Op {
	out := map[string][]rest.Op{}
	for _, g := range groups() {
		out[g.folder] = append(out[g.folder], g.operations(p).Ops()...)
	}
	return out
}
