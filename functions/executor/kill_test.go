package executor

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/nightly"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
	"lamplighter.dev/shared/testkit/tabletest"
)

const bulkSize = 1000

// killCount are fifty; with the race detector, under which a process needs long to begin, enough for races.
func killCount() int {
	if race.Enabled {
		return 3
	}
	return nightly.CountTries(8, 50)
}

// TestKilledManyTimesABulkActionLosesNothing kills the process that runs bulk actions of 1,000 resources, at random
// moments. Then it compares every action, every record and the cloud itself with the request.
func TestKilledManyTimesABulkActionLosesNothing(t *testing.T) {
	if dir := os.Getenv("LAMPLIGHTER_KILL_DIR"); dir != "" {
		liveOnce(t, dir, os.Getenv("LAMPLIGHTER_KILL_BULK"))
		return
	}
	if testing.Short() {
		t.Skip("kills a process many times: not with -short")
	}
	dir := t.TempDir()
	var g inventory.Group
	var places []inventory.GroupPlacement
	inProcess(t, dir, func(w *fixture) {
		g = w.newFlatGroup(bulkSize)
		places = apitest.Value(w.e.inventory.ListPlacements(w.ctx, org, g.ID))(w)
	})
	killed, r := 0, seed.Random(t)
	for verb := cloud.Stop; killed < killCount(); verb = opposite(verb) {
		var in execution.BulkInput
		inProcess(t, dir, func(w *fixture) { in = w.submitBulk(g, verb) })
		for ended := false; !ended; {
			if ended = runBulkProcess(t, dir, in.BulkID, moment(r, killed)); !ended {
				killed++
			}
		}
		inProcess(t, dir, func(w *fixture) {
			if failed := w.auditBulk(w.bulk(in.BulkID), places); failed != 0 {
				t.Errorf("%d of %d failed after %d kills", failed, len(places), killed)
			}
		})
	}
}

// moment returns how long a process that begins to run may live; for ever, which is 0, after the last kill.
func moment(r *rand.Rand, killed int) time.Duration {
	if killed >= killCount() {
		return 0
	}
	return time.Microsecond + time.Duration(r.Int64N(int64(150*time.Millisecond)))
}

func opposite(v cloud.Verb) cloud.Verb {
	if v == cloud.Stop {
		return cloud.Start
	}
	return cloud.Stop
}

// runBulkProcess runs the bulk action in a process of its own until it ends, or kills that process after a while.
func runBulkProcess(t *testing.T, dir, bulkID string, kill time.Duration) (ended bool) {
	t.Helper()
	return runTestProcess(t, "TestKilledManyTimesABulkActionLosesNothing", kill,
		"LAMPLIGHTER_KILL_DIR="+dir, "LAMPLIGHTER_KILL_BULK="+bulkID)
}

// runTestProcess runs a test of this package in a process of its own, with more variables of the environment, and
// reports whether the process printed "ended". It kills the process at the time kill after it printed "running"; 0
// lets it live.
func runTestProcess(t *testing.T, test string, kill time.Duration, env ...string) (ended bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], //nolint:gosec // this very binary
		"-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, lines.Text())
		if kill > 0 && lines.Text() == "running" { // the process lives on the machine's time
			time.AfterFunc(kill, func() { _ = cmd.Process.Kill() })
		}
		ended = ended || lines.Text() == "ended"
	}
	if err := cmd.Wait(); err != nil && kill == 0 {
		t.Fatalf("the process that nobody killed: %v\n%s", err, strings.Join(said, "\n"))
	}
	return ended
}

// liveOnce is the life of one process: it resumes the work of the process before it, and prints when it runs and when
// all has ended.
func liveOnce(t *testing.T, dir, bulkID string) {
	t.Helper()
	inProcess(t, dir, func(w *fixture) {
		engine := w.engine()
		w.Must(engine.Resume(w.ctx))
		err := engine.Start(w.ctx, execution.BulkMachine, bulkID, execution.BulkInput{Org: org, BulkID: bulkID})
		if x, _ := engine.Describe(w.ctx, execution.BulkMachine, bulkID); err != nil && x.Status != workflow.Succeeded {
			t.Fatal(err)
		}
		fmt.Println("running")
		w.awaitExecution(engine, bulkID)
		fmt.Println("ended")
		w.Must(engine.Close())
	})
}

// inProcess opens the store in dir, with the account in it, which the first time is made.
func inProcess(t *testing.T, dir string, do func(w *fixture)) {
	t.Helper()
	s := apitest.Value(table.Open(filepath.Join(dir, "store.db"), table.Options{}))(t)
	w := openFixture(t, onDisk(t, tabletest.Limited(s), dir))
	w.reopen()
	do(w)
	w.Must(s.Close())
}

// reopen connects the account that is there, or makes it.
func (w *fixture) reopen() {
	w.Helper()
	stored := apitest.Rows[inventory.Account](w.Fixture, inventory.AccountKey(org, "").PK)
	if len(stored) == 0 {
		w.connectAccount(map[string]string{
			"size": "1150", "kinds": "aws-ec2", "regions": "2", "stopped": "0", "transitionSeconds": "1",
		})
		w.discoverAll()
		return
	}
	w.account = stored[0]
	w.conn = apitest.Value(w.e.newClouds().Connect(w.ctx, org, w.account))(w)
}
