package executor

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/foundation/clock"
)

// TestABulkAction_CostsFewStatesAndUnits counts the cost of stopping fifty AWS instances that are stopped at the
// first look: the paid states of Step Functions and the write units of the table.
func TestABulkAction_CostsFewStatesAndUnits(t *testing.T) {
	w := newFixture(t,
		map[string]string{"size": "100", "kinds": "aws-ec2", "regions": "1", "stopped": "0", "transitionSeconds": "0"})
	in := w.submitBulk(w.newFlatGroup(50), cloud.Stop)
	engine := w.engineAt(clock.System{}) // the machine waits for nothing
	w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
	w.awaitExecution(engine, in.BulkID)
	w.Must(engine.Close())
	if b := w.bulk(in.BulkID); b.Status != execution.BulkCompleted || b.Completed != 50 {
		t.Fatalf("%+v", b)
	}
	if n := w.states.Load(); n > 7 {
		t.Errorf("%d states; want at most 4, and 3 of the one run", n)
	}
	if n := w.written.Load(); n > 712 {
		t.Errorf("%d write units; want at most 13 an action, and 62", n)
	}
	t.Logf("%d states, %d write units", w.states.Load(), w.written.Load())
}
