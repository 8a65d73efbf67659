package functions_test

import (
	"maps"
	"testing"

	"lamplighter.dev/functions/budgets"
	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/functions/dashboards"
	"lamplighter.dev/functions/reports"
	"lamplighter.dev/functions/reports/unitmetric"
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
	"lamplighter.dev/shared/engine/table"
	owners "lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestLimits_HoldHoweverManyAddAtOnce: a limit that is counted before the addition let requests pass that counted at
// the same moment.
func TestLimits_HoldHoweverManyAddAtOnce(t *testing.T) {
	type group = func(*platform.Platform) *rest.Group
	type fields = map[string]any
	org, ada := apitest.Org, apitest.Caller(apitest.Org, "ada", "*:*")
	crons := []any{fields{"cronExpression": "0 3 29 2 *", "action": "stop"}}
	for path, c := range map[string]struct {
		group group
		body  fields // besides the name
		apitest.Addition
	}{
		"/teams": {teams.Operations, nil, apitest.Addition{PK: owners.Key(org, "").PK, Limit: owners.MaxTeams}},
		"/resource-groups": {resourcegroups.Operations, nil, apitest.Addition{
			PK: index.PK(org), Prefix: inventory.GroupKey(org, "grp_").SK, Limit: inventory.MaxGroups,
		}},
		"/schedules": {schedules.Operations, fields{"crons": crons}, apitest.Addition{
			PK: scheduling.ScheduleKey(org, "").PK, Limit: scheduling.MaxSchedules,
		}},
		"/calendars": {
			calendars.Operations,
			fields{"effect": "no_action", "entries": []any{fields{"from": "2099-12-24"}}},
			apitest.Addition{
				PK: scheduling.CalendarKey(org, "").PK, Limit: scheduling.MaxCalendars,
			},
		},
		"/dashboards": {dashboards.Operations, nil, apitest.Addition{PK: identity.DashboardKey(org, "").PK, Limit: 50}},
		"/budgets": {budgets.Operations, fields{"amountUSD": "10", "scopeType": "org"}, apitest.Addition{
			PK: budgeting.Key(org, "").PK, Limit: budgeting.MaxBudgets,
		}},
		"/reports/unit-metrics": {reports.Operations, fields{"unit": "order"}, apitest.Addition{
			PK: table.OrgPK(org) + unitmetric.Partition.Name(), Limit: unitmetric.MaxMetrics,
		}},
	} {
		t.Run(path, func(t *testing.T) {
			f := apitest.New(t, c.group)
			c.Send = func(name string) apitest.Answer {
				body := fields{"name": name}
				maps.Copy(body, c.body)
				return f.Call(ada, "POST "+path, body)
			}
			f.CheckLimit(c.Addition, c.group)
		})
	}
}
