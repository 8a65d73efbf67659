package executor

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// BenchmarkExpand12000 creates the actions of a schedule's two orders on 12,000 resources in 500 accounts, on a store
// that syncs. Each action is pending and claims its resource. Together with BenchmarkEvaluate12000 of
// functions/evaluator it measures the time from the start of a minute to queued intents.
func BenchmarkExpand12000(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := apitest.Value(table.Open(filepath.Join(b.TempDir(), "store.db"), table.Options{}))(b)
		w := openFixture(b, onDisk(b, s, b.TempDir()))
		var members []inventory.Member
		for n := range 500 {
			members = append(members, w.instances(fmt.Sprintf("ca_%026d", n), 24)...)
		}
		w.Must(w.e.inventory.CompactIndex(w.ctx, org))
		var orders []execution.Order
		for n := range 2 {
			orders = append(orders, execution.Order{
				Verb: cloud.Stop, Members: members[n*6000 : (n+1)*6000], Reason: execution.ReasonSchedule,
				ChangedBy: "schedule:a:b", Cause: strconv.Itoa(n), At: noon,
			})
		}
		apitest.Value(execution.QueueOrders(w.ctx, w.e.p.Table, org, orders))(b)
		b.StartTimer()
		done := make(chan error)
		for _, o := range orders { // two executions, as the machine runs them
			go func() {
				_, err := w.e.beginBulk(w.ctx, execution.BulkInput{Org: org, BulkID: o.ID()})
				done <- err
			}()
		}
		for range orders {
			w.Must(<-done)
		}
		b.StopTimer()
		if n := len(apitest.Rows[execution.Action](w.Fixture, execution.ActionPKs(org)...)); n != 12_000 {
			b.Fatalf("%d actions", n)
		}
		w.Must(s.Close())
		b.StartTimer()
	}
}

// instances has an account of so many instances, which run.
func (w *fixture) instances(account string, n int) []inventory.Member {
	w.Helper()
	inventorytest.Connect(w.Fixture, org, account)
	found, out := make([]cloud.Resource, n), make([]inventory.Member, n)
	for i := range found {
		found[i] = cloud.Resource{UID: fmt.Sprintf("i-%s-%02d", account, i), Name: "web", Status: cloud.Running}
	}
	p := inventory.Partition{AccountID: account, Provider: "aws", Region: "eu-west-1", Kind: "aws-ec2"}
	scan := inventory.Scan{Partition: p, ID: "job", Started: noon}
	apitest.Value(w.e.inventory.UpsertScanned(w.ctx, org, inventory.Batch{Scan: scan, At: noon, Resources: found}))(w)
	uids := make([]string, n)
	for i, r := range found {
		uids[i] = r.UID
	}
	for i, r := range apitest.Value(w.e.inventory.ByUIDs(w.ctx, org, uids, inventory.SeeEverything()))(w) {
		out[i] = inventory.Member{ResourceID: r.ID, UID: r.UID, Tier: 1, Order: 1}
	}
	return out
}
