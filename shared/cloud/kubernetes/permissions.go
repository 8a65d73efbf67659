package kubernetes

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// needs are the rules of each capability, in the terms of RBAC.
type needs struct{ discover, startStop, scale []rule }

// rule is one verb on one resource, or on its subresource.
type rule struct {
	resource apiResource
	sub      string
	verb     string
}

func (r rule) ruleName() string {
	if r.sub != "" {
		return permissionName(r.verb, r.resource, r.sub)
	}
	return permissionName(r.verb, r.resource)
}

// clusterNeeds are the rules that every connection needs to identify the cluster.
var clusterNeeds = []rule{{namespacesOf, "", "get"}}

// optionalResources are resources that not every cluster has.
var optionalResources = []apiResource{scaledOf, rolloutsOf}

// metricsCapability is the capability of the optional rule for metrics: without it everything else works.
const metricsCapability = "metrics"

// askedRule is a rule and the capability that needs it.
type askedRule struct {
	capability string
	rule       rule
}

// Permissions asks the cluster for the permissions of the credentials in all namespaces. Rules for resources that the
// cluster does not have are left out.
func (c *conn) Permissions(ctx context.Context) ([]cloud.Permission, error) {
	return c.reviewAll(ctx, allNeeds())
}

var _ cloud.KindProber = (*conn)(nil)

// KindPermissions asks the cluster about the rules of one kind.
func (c *conn) KindPermissions(ctx context.Context, kindType, _, _ string) ([]cloud.Permission, error) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.Type == kindType })
	if i < 0 {
		return nil, cloud.ErrInvalid("Kubernetes has no resource type %q here", kindType)
	}
	var rules []askedRule
	for _, r := range registry[i].needs.startStop {
		rules = append(rules, askedRule{"start_stop", r})
	}
	for _, r := range registry[i].needs.scale {
		rules = append(rules, askedRule{"scale", r})
	}
	return c.reviewAll(ctx, rules)
}

// reviewAll asks the cluster about the rules, except those for resources that it does not have.
func (c *conn) reviewAll(ctx context.Context, rules []askedRule) ([]cloud.Permission, error) {
	all, err := c.servedRules(ctx, rules)
	if err != nil {
		return nil, err
	}
	out, errs := make([]cloud.Permission, len(all)), make([]error, len(all))
	cloud.InParallel(len(all), parallelCalls, func(i int) { out[i], errs[i] = c.reviewRule(ctx, all[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func allNeeds() []askedRule {
	var all []askedRule
	add := func(capability string, rules []rule) {
		for _, r := range rules {
			if a := (askedRule{capability, r}); !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	add("discover", clusterNeeds)
	add("discover", otherNeeds())
	add("discover", surveyNeeds)
	add(metricsCapability, []rule{metricsNeed})
	for _, k := range registry {
		add("discover", k.needs.discover)
		add("start_stop", k.needs.startStop)
		add("scale", k.needs.scale)
	}
	add(cloud.RemediateCapability, changeRules(cloud.ChangeNeeds("kubernetes")))
	return all
}

func (c *conn) servedRules(ctx context.Context, all []askedRule) ([]askedRule, error) {
	missing := map[apiResource]bool{}
	optional := slices.Clone(optionalResources)
	for _, o := range others {
		if o.extra {
			optional = append(optional, o.apiResource)
		}
	}
	for _, r := range optional {
		has, err := c.servesResource(ctx, r)
		if err != nil {
			return nil, err
		}
		missing[r] = !has
	}
	return slices.DeleteFunc(all, func(a askedRule) bool { return missing[a.rule.resource] }), nil
}

// reviewRule asks about one rule. Credentials that are not accepted at all are an error.
func (c *conn) reviewRule(ctx context.Context, a askedRule) (cloud.Permission, error) {
	p := cloud.Permission{Capability: a.capability, Action: a.rule.ruleName(), Status: "unknown"}
	r := a.rule
	var got struct {
		Status struct {
			Allowed bool   `json:"allowed"`
			Reason  string `json:"reason"`
		} `json:"status"`
	}
	err := c.callResource(ctx, http.MethodPost, reviewsOf, ref{}, request{into: &got, body: map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{
			"verb": r.verb, "group": r.resource.Group, "resource": r.resource.Resource, "subresource": r.sub,
		}},
	}})
	if err != nil {
		err = classifyError(permissionName("create", reviewsOf), err)
		p.Message = err.Error()
		if cloud.ClassOf(err) == cloud.Refused || ctx.Err() != nil {
			return p, err
		}
		return p, nil
	}
	if got.Status.Allowed {
		p.Status = "granted"
		return p, nil
	}
	p.Status, p.Message = "denied", cmp.Or(got.Status.Reason, "no role of the cluster grants it in all namespaces")
	return p, nil
}

// RequiredActions are the rules of this package's calls ("patch deployments.apps", "patch deployments/scale.apps"), by
// level of access. Each level includes the levels before it. Metrics is optional: it lets the cluster's own Prometheus
// be asked.
type RequiredActions struct{ Discover, StartStop, Scale, Remediate, Metrics []string }

// ListRequiredActions returns the rules of every registered kind, sorted and without duplicates. Customers make their
// ClusterRole from it.
func ListRequiredActions() RequiredActions {
	levels := map[string][]string{}
	for _, a := range allNeeds() {
		levels[a.capability] = append(levels[a.capability], a.rule.ruleName())
	}
	discover := levels["discover"]
	startStop := slices.Concat(discover, levels["start_stop"])
	scale := slices.Concat(startStop, levels["scale"])
	return RequiredActions{
		sortUnique(discover), sortUnique(startStop), sortUnique(scale),
		sortUnique(slices.Concat(scale, levels[cloud.RemediateCapability])), sortUnique(levels[metricsCapability]),
	}
}

func sortUnique(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
