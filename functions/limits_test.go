package functions_test

import (
	"testing"

	"lamplighter.dev/functions/budgets"
	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/functions/dashboards"
	"lamplighter.dev/functions/reports"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/schedules"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/domain/unitmetric"
	"lamplighter.dev/shared/engine/table"
	owners "lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
)

// named returns the body of an addition: a name beside other members.
func named(other map[string]any) func(string) any {
	return func(name string) any {
		body := map[string]any{"name": name}
		for member, v := range other {
			body[member] = v
		}
		return body
	}
}

// TestLimits_HoldHoweverManyAddAtOnce: a limit that is counted before the addition let requests pass that counted at
// the same moment.
func TestLimits_HoldHoweverManyAddAtOnce(t *testing.T) {
	type group = func(*platform.Platform) *rest.Group
	noCrons := []any{map[string]any{"cronExpression": "0 3 29 2 *", "action": "stop"}}
	for name, c := range map[string]struct {
		group group
		apitest.Addition
	}{
		"teams":           {teams.Operations, apitest.Addition{PK: owners.Key(apitest.Org, "").PK, Limit: owners.MaxTeams}},
		"resource-groups": {resourcegroups.Operations, apitest.Addition{PK: index.PK(apitest.Org), Prefix: inventory.GroupKey(apitest.Org, "grp_").SK, Limit: inventory.MaxGroups}},
		"schedules": {schedules.Operations, apitest.Addition{
			PK: scheduling.ScheduleKey(apitest.Org, "").PK, Limit: scheduling.MaxSchedules, Body: named(map[string]any{"crons": noCrons}),
		}},
		"calendars": {calendars.Operations, apitest.Addition{
			PK: scheduling.CalendarKey(apitest.Org, "").PK, Limit: scheduling.MaxCalendars,
			Body: named(map[string]any{"effect": "no_action", "entries": []any{map[string]any{"from": "2099-12-24"}}}),
		}},
		"dashboards": {dashboards.Operations, apitest.Addition{PK: identity.DashboardKey(apitest.Org, "").PK, Limit: 50}},
		"budgets": {budgets.Operations, apitest.Addition{
			PK: budgeting.Key(apitest.Org, "").PK, Limit: budgeting.MaxBudgets, Body: named(map[string]any{"amountUSD": "10", "scopeType": "org"}),
		}},
		"reports/unit-metrics": {reports.Operations, apitest.Addition{
			PK: table.OrgPK(apitest.Org) + unitmetric.Partition.Name(), Limit: unitmetric.MaxMetrics, Body: named(map[string]any{"unit": "order"}),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := apitest.New(t, c.group)
			c.Path, c.Caller = "/"+name, apitest.Caller(apitest.Org, "ada", "*:*")
			if c.Body == nil {
				c.Body = named(nil)
			}
			f.CheckLimit(c.Addition, c.group)
		})
	}
}
