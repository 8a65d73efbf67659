package executor

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// disconnect marks the account as one that its organization excludes.
func (w *fixture) disconnect() {
	w.Helper()
	w.Change(inventory.AccountKey(org, w.account.ID), table.Set("status", inventory.AccountDisconnected),
		table.Set("error", "it was excluded"))
}

// TestDisconnected_NothingIsAskedOfTheAccount has actions begin after their account was excluded from its organization.
func TestDisconnected_NothingIsAskedOfTheAccount(t *testing.T) {
	for name, single := range map[string]bool{"a single action": true, "a bulk action by hand": false} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, map[string]string{"size": "40"})
			r := w.pick("aws-ec2", cloud.Running)
			in := execution.RunInput{Org: org, Until: execution.UntilSettled}
			if single {
				in.Actions = []string{w.submit(r, cloud.Stop).ID}
			} else {
				b := execution.Bulk{
					ID: "bulk_01k00000000000000000000001", Type: cloud.Stop, Status: execution.BulkQueued, Total: 1,
					CreatedAt: noon,
					Plan:      &execution.BulkPlan{ChangedBy: "bulk:ada@example.com:1", FailurePolicy: "continue"},
				}
				w.Put(execution.BulkKey(org, b.ID), b)
				w.Put(execution.NamedKey(org, b.ID), execution.Named{ResourceIDs: []string{r.ID}})
				in = apitest.Value(w.e.beginBulk(w.ctx, execution.BulkInput{Org: org, BulkID: b.ID}))(w).Chunks[0]
			}
			w.disconnect()
			before := countCalls(w)
			w.driveRun(in)
			all := apitest.Rows[execution.Action](w.Fixture, execution.ActionPKs(org)...)
			if len(all) != 1 || all[0].Status != execution.Failed ||
				!strings.Contains(all[0].ErrorMessage, "it was excluded") {
				t.Errorf("%s", apitest.JSON(all))
			}
			if n := countCalls(w) - before; n != 0 {
				t.Errorf("%d calls were made to the cloud", n)
			}
		})
	}
}

// TestDisconnected_AnEventRaisesNothingAndSaysWhy has a plan scale up in an account that was excluded meanwhile.
func TestDisconnected_AnEventRaisesNothingAndSaysWhy(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	e.disconnect()
	e.driveTo(readiness.Failed)
	if p := e.plan(); !strings.Contains(p.Message, "it was excluded") {
		t.Errorf("the plan says %q", p.Message)
	}
	if got := apitest.JSON(e.sizes()); got != apitest.JSON(e.before) {
		t.Errorf("the groups have %s; they had %s", got, apitest.JSON(e.before))
	}
	if n := len(e.readHolds().All()); n != 0 {
		t.Errorf("the plan holds %d targets", n)
	}
}
