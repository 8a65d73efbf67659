package executor

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// BenchmarkBulkStop10000 stops 10,000 simulated instances in two regions, each call to the cloud taking 200 ms and each
// instance up to two seconds, through the real state machine and a store that syncs. The bars: 20 s, and 400 calls.
func BenchmarkBulkStop10000(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		w := newFixtureOnDisk(b, map[string]string{
			"size": "11500", "kinds": "aws-ec2", "regions": "2", "stopped": "0", "transitionSeconds": "2",
			"callMillis": "200",
		})
		g := w.newFlatGroup(10_000)
		in := w.submitBulk(g, cloud.Stop)
		engine := w.engine()
		before := countCalls(w)
		b.StartTimer()
		w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
		w.awaitExecution(engine, in.BulkID)
		b.StopTimer()
		if done := w.bulk(in.BulkID); done.Completed != 10_000 || done.Status != execution.BulkCompleted {
			b.Fatalf("%+v", done)
		}
		b.ReportMetric(float64(countCalls(w)-before), "calls/op")
		w.Must(engine.Close())
		b.StartTimer()
	}
}

// newFlatGroup makes a group of size instances that all stand at one place.
func (w *fixture) newFlatGroup(size int) inventory.Group {
	w.Helper()
	var places []inventory.GroupPlacement
	for _, r := range w.resources {
		if r.Unschedulable == "" && len(places) < size {
			places = append(places, inventory.GroupPlacement{ResourceID: r.ID, Tier: 1, Order: 1})
		}
	}
	g := apitest.Value(w.e.inventory.CreateGroup(w.ctx, org,
		inventory.Group{ID: id.New("grp", noon), Name: "flat", FailurePolicy: "continue"}, places))(w)
	return g
}

// newFixtureOnDisk is one on the machine's clock and a store that syncs.
func newFixtureOnDisk(b *testing.B, credentials map[string]string) *fixture {
	b.Helper()
	s := apitest.Value(table.Open(filepath.Join(b.TempDir(), "store.db"), table.Options{}))(b)
	b.Cleanup(func() { _ = s.Close() })
	return newFixtureOn(b, onDisk(b, s, b.TempDir()), credentials)
}

// engine runs the machines with this fixture's executor.
func (w *fixture) engine() *workflow.Embedded {
	w.Helper()
	return w.engineAt(w.e.p.Clock)
}

// engineAt runs them on a clock of their own.
func (w *fixture) engineAt(c clock.Clock) *workflow.Embedded {
	w.Helper()
	machines, err := workflow.LoadMachines(apitest.Machines(w, "action", "bulk-action"),
		map[string]string{"ExecutorFunctionArn": "executor"})
	w.Must(err)
	e, err := workflow.NewEmbedded(workflow.Parts{
		Store: w.Table, Clock: c, Machines: machines, Log: slog.New(slog.DiscardHandler),
		Handlers:   map[string]workflow.Handler{"executor": w.metered},
		Transition: func(string) { w.states.Add(1) },
	})
	w.Must(err)
	return e
}

// metered answers a task and counts its writes, except those of the simulated cloud.
func (w *fixture) metered(ctx context.Context, in json.RawMessage) (any, error) {
	ctx, m := table.WithPartitionMeter(ctx)
	defer func() {
		for pk, u := range m.Partitions() {
			if !strings.HasPrefix(pk, "SIM#") {
				w.written.Add(int64(u.Write))
			}
		}
	}()
	return w.e.HandleTask(ctx, in)
}

// awaitExecution waits for the end of a bulk action's execution.
func (w *fixture) awaitExecution(e *workflow.Embedded, name string) {
	w.Helper()
	x := apitest.Value(e.Wait(w.ctx, execution.BulkMachine, name))(w)
	if x.Status != workflow.Succeeded {
		w.Fatalf("%s: %s %s", x.Status, x.Error, x.Cause)
	}
}

func countCalls(w *fixture) (n int) {
	for _, c := range simulated.CallsByMethod(w.e.providers["simulated"], w.account.ID) {
		n += c
	}
	return n
}
