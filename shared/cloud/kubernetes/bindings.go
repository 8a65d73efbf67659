package kubernetes

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// binding has the fields that are read of a RoleBinding or a ClusterRoleBinding.
type binding struct {
	Head `json:"metadata"`
	Role struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"roleRef"`
	Subjects []subject `json:"subjects"`
}

type subject struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// String returns the subject as "Group:name", or "ServiceAccount:namespace/name".
func (s subject) String() string {
	if s.Namespace != "" {
		return s.Kind + ":" + s.Namespace + "/" + s.Name
	}
	return s.Kind + ":" + s.Name
}

// clusterRole has the fields that are read of a ClusterRole.
type clusterRole struct {
	Head  `json:"metadata"`
	Rules []struct {
		Groups    []string `json:"apiGroups"`
		Resources []string `json:"resources"`
		Verbs     []string `json:"verbs"`
	} `json:"rules"`
}

// allowsAll reports whether the role allows every verb on every resource.
func (r *clusterRole) allowsAll() bool {
	for _, rule := range r.Rules {
		if slices.Contains(rule.Groups, "*") && slices.Contains(rule.Resources, "*") &&
			slices.Contains(rule.Verbs, "*") {
			return true
		}
	}
	return false
}

// surveyRoles returns the names of the ClusterRoles that allow everything.
func (c *cluster) surveyRoles(ctx context.Context) (answer[map[string]bool], error) {
	return c.survey.roles.get(c.clock.Now(), false, func() (map[string]bool, error) {
		out := map[string]bool{}
		err := eachTyped(ctx, c, clusterRolesOf, "", func(r *clusterRole) {
			if r.allowsAll() {
				out[r.Name] = true
			}
		})
		return out, err
	})
}

// surveyAccounts returns the service accounts of the cluster.
func (c *cluster) surveyAccounts(ctx context.Context) (answer[map[ref]bool], error) {
	return c.survey.accounts.get(c.clock.Now(), false, func() (map[ref]bool, error) {
		out := map[ref]bool{}
		err := eachTyped(ctx, c, accountsOf, namesAlone, func(a *named) { out[a.ref()] = true })
		return out, err
	})
}

func describeBindings(ctx context.Context, c *cluster) (describer[binding], error) {
	var roles answer[map[string]bool]
	var accounts answer[map[ref]bool]
	err := readAll(
		reading(&roles, func() (answer[map[string]bool], error) { return c.surveyRoles(ctx) }),
		reading(&accounts, func() (answer[map[ref]bool], error) { return c.surveyAccounts(ctx) }),
	)
	return func(b binding, r *cloud.Resource) {
		r.Facts = b.bindingFacts()
		switch why := roles.missing(); {
		case b.Role.Kind != "ClusterRole": // a Role reaches no further than its namespace
			r.Facts["wildcard_role"] = false
		case why != "":
			r.Facts.Miss(why, "wildcard_role")
		default:
			r.Facts["wildcard_role"] = roles.value[b.Role.Name]
		}
		if why := accounts.missing(); why != "" {
			r.Facts.Miss(why, "subject_missing")
		} else {
			r.Facts["subject_missing"] = b.missesAccount(accounts.value)
		}
	}, err
}

// bindingFacts returns the facts that a binding has of itself.
func (b binding) bindingFacts() cloud.Facts {
	subjects := []string{}
	for _, s := range b.Subjects {
		subjects = append(subjects, s.String())
	}
	return cloud.Facts{"role": b.Role.Name, "cluster_wide": b.Namespace == "", "subjects": subjects}
}

// missesAccount reports whether a service account of the binding does not exist. Accounts of the cluster's own
// controllers come and go with the controllers that are switched on.
func (b binding) missesAccount(accounts map[ref]bool) bool {
	return slices.ContainsFunc(b.Subjects, func(s subject) bool {
		return s.Kind == "ServiceAccount" && !accounts[ref{s.Namespace, s.Name}] &&
			!strings.HasPrefix(b.Name, "system:")
	})
}
