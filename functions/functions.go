// Package functions is the registry. It lists every function with its declaration and the code that answers its calls.
// The process on a laptop is built from the registry. Tests compare the templates, the eraser and docs/data-model.md
// with it. The functions themselves never import it.
package functions

import (
	"slices"

	"lamplighter.dev/functions/actions"
	"lamplighter.dev/functions/allocations"
	"lamplighter.dev/functions/anomalies"
	"lamplighter.dev/functions/anomalycheck"
	"lamplighter.dev/functions/archiver"
	"lamplighter.dev/functions/auditanchor"
	"lamplighter.dev/functions/auditlinker"
	"lamplighter.dev/functions/auditlogs"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/functions/authorizer"
	"lamplighter.dev/functions/autoscalerpolicies"
	"lamplighter.dev/functions/billing"
	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/budgets"
	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/functions/connector"
	"lamplighter.dev/functions/console"
	"lamplighter.dev/functions/costqueries"
	"lamplighter.dev/functions/dashboards"
	"lamplighter.dev/functions/description"
	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/functions/eraser"
	"lamplighter.dev/functions/evaluator"
	"lamplighter.dev/functions/eventreadiness"
	"lamplighter.dev/functions/executor"
	"lamplighter.dev/functions/exporter"
	"lamplighter.dev/functions/exports"
	"lamplighter.dev/functions/integrations"
	"lamplighter.dev/functions/links"
	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/functions/notifications"
	"lamplighter.dev/functions/notifier"
	"lamplighter.dev/functions/organisations"
	"lamplighter.dev/functions/organisationsync"
	"lamplighter.dev/functions/overrides"
	"lamplighter.dev/functions/painter"
	"lamplighter.dev/functions/passkeyverifier"
	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/functions/queryrunner"
	"lamplighter.dev/functions/recommendations"
	"lamplighter.dev/functions/recommender"
	"lamplighter.dev/functions/remediation"
	"lamplighter.dev/functions/reminder"
	"lamplighter.dev/functions/reports"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/resources"
	"lamplighter.dev/functions/roles"
	"lamplighter.dev/functions/rulechecker"
	"lamplighter.dev/functions/scheduleddiscovery"
	"lamplighter.dev/functions/schedules"
	"lamplighter.dev/functions/showback"
	"lamplighter.dev/functions/smarttags"
	"lamplighter.dev/functions/sso"
	"lamplighter.dev/functions/sweeper"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/functions/tokens"
	"lamplighter.dev/functions/users"
	"lamplighter.dev/functions/webhooks"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
)

// Function is one entry: the declaration of a function, and the groups of operations or the worker that answer its
// calls. The authorizer, the mailer and the notifier have only a declaration, because each is called in its own way.
type Function struct {
	platform.Declaration
	Groups []Group
	Worker Worker
}

// Group makes a group of operations.
type Group func(*platform.Platform) *rest.Group

// Worker makes the handler of the calls of a state machine, a schedule, or an API function that waits.
type Worker func(*platform.Platform, cloud.Providers) workflow.Handler

// All returns the functions, in the order of their groups in the interface description. A new function needs an entry
// here, its folder, and its function in infra/stacks.
func All() []Function {
	return []Function{
		{auth.Declaration, []Group{auth.Operations}, nil},
		{tokens.Declaration, []Group{tokens.Operations}, nil},
		{organisations.Declaration, []Group{organisations.Operations}, nil},
		{sso.Declaration, []Group{sso.SignIn, sso.Settings}, nil},
		{users.Declaration, []Group{users.Operations}, nil},
		{teams.Declaration, []Group{teams.Operations}, nil},
		{roles.Declaration, []Group{roles.Operations}, nil},
		{cloudaccounts.Declaration, []Group{cloudaccounts.Operations}, nil},
		{cloudorganisations.Declaration, []Group{cloudorganisations.Operations}, nil},
		{resources.Declaration, []Group{resources.Operations}, nil},
		{resourcegroups.Declaration, []Group{resourcegroups.Operations}, nil},
		{schedules.Declaration, []Group{schedules.Operations}, nil},
		{calendars.Declaration, []Group{calendars.Operations}, nil},
		{overrides.Declaration, []Group{overrides.Operations}, nil},
		{actions.Declaration, []Group{actions.Operations}, nil},
		{anomalies.Declaration, []Group{anomalies.Operations}, nil},
		{budgets.Declaration, []Group{budgets.Operations}, nil},
		{webhooks.Declaration, []Group{webhooks.Operations}, nil},
		{integrations.Declaration, []Group{integrations.Operations}, nil},
		{dashboards.Declaration, []Group{dashboards.Operations}, nil},
		{billing.Declaration, []Group{billing.Operations}, nil},
		{reports.Declaration, []Group{reports.Operations}, nil},
		{allocations.Declaration, []Group{allocations.Operations}, nil},
		{exports.Declaration, []Group{exports.Operations}, nil},
		{costqueries.Declaration, []Group{costqueries.Operations}, nil},
		{showback.Declaration, []Group{showback.Operations}, nil},
		{recommendations.Declaration, []Group{recommendations.Operations}, nil},
		{remediation.Declaration, []Group{remediation.Operations}, nil},
		{smarttags.Declaration, []Group{smarttags.Operations}, nil},
		{autoscalerpolicies.Declaration, []Group{autoscalerpolicies.Operations}, nil},
		{notifications.Declaration, []Group{notifications.Operations}, nil},
		{eventreadiness.Declaration, []Group{eventreadiness.Operations}, nil},
		{auditlogs.Declaration, []Group{auditlogs.Operations}, nil},
		{description.Declaration, []Group{described}, nil},
		{console.Declaration, []Group{console.Operations}, nil},
		{authorizer.Declaration, nil, nil},
		{connector.Declaration, nil, asked(connector.Handler)},
		{painter.Declaration, nil, alone(func(*platform.Platform) workflow.Handler { return painter.Handler })},
		{
			passkeyverifier.Declaration, nil,
			alone(func(*platform.Platform) workflow.Handler { return passkeyverifier.Handler }),
		},
		{queryrunner.Declaration, nil, alone(querying)},
		{rulechecker.Declaration, nil, alone(rulechecker.Handler)},
		{discovery.Declaration, nil, discovery.Handler},
		{executor.Declaration, nil, executor.Handler},
		{organisationsync.Declaration, nil, organisationsync.Handler},
		{pricesync.Declaration, nil, pricesync.Handler},
		{billingsync.Declaration, nil, billingsync.Handler},
		{exporter.Declaration, nil, alone(exporter.Handler)},
		{links.Declaration, nil, alone(links.Handler)},
		{eraser.Declaration, nil, erasing},
		{scheduleddiscovery.Declaration, nil, alone(scheduleddiscovery.Handler)},
		{evaluator.Declaration, nil, alone(evaluator.Handler)},
		{archiver.Declaration, nil, archiving},
		{sweeper.Declaration, nil, alone(sweeper.Handler)},
		{reminder.Declaration, nil, alone(reminder.Handler)},
		{anomalycheck.Declaration, nil, alone(anomalycheck.Handler)},
		{recommender.Declaration, nil, recommender.Handler},
		{auditlinker.Declaration, nil, alone(auditlinker.Handler)},
		{auditanchor.Declaration, nil, anchoring},
		{mailer.Declaration, nil, nil},
		{notifier.Declaration, nil, nil},
	}
}

// described describes everything that is in All, itself too.
func described(p *platform.Platform) *rest.Group {
	return description.Operations(p, description.Source{
		YAML: func() ([]byte, error) { return Describe(p).YAML(), nil },
		JSON: func() ([]byte, error) { return Describe(p).JSON(), nil },
	})
}

// Describe returns the interface description of the whole service. It asks nothing of p, whose fields may be empty.
func Describe(p *platform.Platform) *rest.API {
	_, api := rest.Mount(p, Groups(p)...)
	api.AddSamples(SampleBodies())
	return api
}

// Groups returns the groups of all functions.
func Groups(p *platform.Platform) []*rest.Group {
	var out []*rest.Group
	for _, f := range All() {
		out = append(out, f.Operations(p)...)
	}
	return out
}

// Operations returns the groups of f; none of a worker.
func (f Function) Operations(p *platform.Platform) []*rest.Group {
	out := make([]*rest.Group, len(f.Groups))
	for i, g := range f.Groups {
		out[i] = g(p)
	}
	return out
}

// Partitions returns all that functions of fs declare, in order, each once.
func Partitions(fs []Function) []table.Partition {
	var all table.Access
	for _, f := range fs {
		all = all.With(f.Access)
	}
	return slices.DeleteFunc(all.All(), func(p table.Partition) bool { return p == eraser.Everything })
}

// Machines returns the state machines whose tasks functions run, in order, each once.
func Machines(fs []Function) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Tasks...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alone returns a worker that needs no cloud.
func alone(h func(*platform.Platform) workflow.Handler) Worker {
	return func(p *platform.Platform, _ cloud.Providers) workflow.Handler { return h(p) }
}

// asked returns a worker that an API function calls and waits for.
func asked(h func(*platform.Platform, cloud.Providers) lambdacall.Handler) Worker {
	return func(p *platform.Platform, providers cloud.Providers) workflow.Handler {
		return workflow.Handler(h(p, providers))
	}
}

// querying returns the handler that queries line items in this process. In AWS, Athena queries them
// (functions/queryrunner/lambda).
func querying(p *platform.Platform) workflow.Handler {
	return queryrunner.Handler(p, billfile.NewLineItemEngine(p.Lines, p.Clock))
}

// archiving returns the archiver. A schedule and the eraser call it.
func archiving(p *platform.Platform, _ cloud.Providers) workflow.Handler {
	return workflow.Handler(archiver.Handler(p))
}

// anchoring returns the worker that anchors the audit log, for its schedule and for the operation that verifies the
// log.
func anchoring(p *platform.Platform, _ cloud.Providers) workflow.Handler {
	return workflow.Handler(auditanchor.Handler(p))
}

// erasing returns the eraser of the partitions that all functions declare. It panics if a declared partition cannot be
// erased, because the declaration is wrong.
func erasing(p *platform.Platform, _ cloud.Providers) workflow.Handler {
	walk, err := eraser.NewWalk(Partitions(All()))
	if err != nil {
		panic("functions: " + err.Error())
	}
	return eraser.Handler(p, walk)
}
