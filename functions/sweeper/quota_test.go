package sweeper

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// latency is of a call to Step Functions.
const latency = 50 * time.Millisecond

// quotaEngine is Step Functions with its quotas (see stepFunctions.Start for their source). It refuses calls above
// them.
type quotaEngine struct {
	clock             clock.Clock
	starts, describes *rate.Limiter

	mu      sync.Mutex
	status  map[string]workflow.Status
	strict  bool // a start of running work is refused, too
	refused int
	asked   map[string]int
}

func newQuotaEngine() *quotaEngine {
	return &quotaEngine{
		clock: clock.System{}, starts: rate.NewLimiter(300, 1300), describes: rate.NewLimiter(15, 300),
		status: map[string]workflow.Status{}, asked: map[string]int{},
	}
}

// takeToken takes one call out of a quota.
func (e *quotaEngine) takeToken(ctx context.Context, l *rate.Limiter, name string) error {
	if err := e.clock.Sleep(ctx, latency); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked[name]++; !l.Allow() {
		e.refused++
		return fault.New(fault.Unavailable, "ThrottlingException")
	}
	return nil
}

func (e *quotaEngine) Start(ctx context.Context, _, name string, _ any) error {
	if err := e.takeToken(ctx, e.starts, name); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.status[name]; s != "" && (s != workflow.Running || e.strict) {
		return fault.New(fault.Conflict, "ExecutionAlreadyExists")
	}
	e.status[name] = workflow.Running
	return nil
}

func (e *quotaEngine) Describe(ctx context.Context, machine, name string) (workflow.Execution, error) {
	if err := e.takeToken(ctx, e.describes, name); err != nil {
		return workflow.Execution{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.status[name] == "" {
		return workflow.Execution{}, fault.New(fault.NotFound, "ExecutionDoesNotExist")
	}
	return workflow.Execution{Machine: machine, Name: name, Status: e.status[name]}, nil
}

func (e *quotaEngine) Stop(context.Context, string, string, string) error             { return nil }
func (e *quotaEngine) Signal(context.Context, string, any, *workflow.TaskError) error { return nil }

// addPending adds n pieces of pending work. One in ten was never started; the others run.
func addPending(t *testing.T, p *platform.Platform, e *quotaEngine, n int) {
	t.Helper()
	ctx := table.Within(t.Context(), workqueue.Prefix)
	ws := make([]table.Write, n)
	for i := range ws {
		id := fmt.Sprintf("act_%05d", i)
		ws[i] = apitest.Value(workqueue.AddWork(workqueue.Work{
			ID: id, Org: "org_1", Machine: "action",
			At: p.Clock.Now(),
		}, map[string]string{"org": "org_1"}))(t)
		if i%10 != 0 {
			e.status[id] = workflow.Running
		}
	}
	if err := p.Table.BatchWrite(ctx, ws...); err != nil {
		t.Fatal(err)
	}
}

// pauseOn waits until the next sweep.
func pauseOn(t *testing.T, c clock.Clock) {
	t.Helper()
	if err := c.Sleep(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
}

// Row 6: all 10,000 are overdue at once, which is the worst that there can be.
func TestSweep_TakesTenThousandWithinItsTimeAndTheQuota(t *testing.T) {
	n := 10_000
	if race.Enabled {
		n = 1_000
	}
	synctest.Test(t, func(t *testing.T) {
		p, e := apitest.PlatformAt(t, clock.System{}), newQuotaEngine()
		p.Workflow = e
		addPending(t, p, e, n)
		pauseOn(t, e.clock)
		begin := time.Now()
		got, err := Handler(p)(t.Context(), nil)
		if took := time.Since(begin); err != nil || took > 55*time.Second {
			t.Fatalf("%+v in %s: %v", got, took, err)
		}
		if len(e.status) != n || e.refused != 0 {
			t.Errorf("%d of %d run, %d calls were refused by the quota", len(e.status), n, e.refused)
		}
		t.Logf("all pending in %s of virtual time: %+v", time.Since(begin), got)
	})
}

// A quota that somebody else has used up ends a sweep; whichever shard a piece of work is in, its turn comes.
func TestSweep_GoesOnWhereTheQuotaEndedIt(t *testing.T) {
	const n, sweeps = 3_000, 300 // by chance, one in a hundred million runs would want more
	synctest.Test(t, func(t *testing.T) {
		p, e := apitest.PlatformAt(t, clock.System{}), newQuotaEngine()
		p.Workflow, e.starts = e, rate.NewLimiter(10, 200)
		addPending(t, p, e, n)
		handler, shards := Handler(p), map[string]bool{}
		for turn := 0; len(shards) < workqueue.Shards; turn++ {
			pauseOn(t, e.clock)
			if _, err := handler(t.Context(), nil); err != nil || turn == sweeps {
				t.Fatalf("%d of %d shards were reached in %d sweeps: %v", len(shards), workqueue.Shards, turn, err)
			}
			for name := range e.asked {
				shards[workqueue.WorkKey(name).PK] = true
			}
		}
	})
}

// All executions ended without ending their work. They are looked at within the smaller quota, and started again in
// turn.
func TestSweep_KeepsTheQuotasWhereEverythingHasEnded(t *testing.T) {
	const n = 2_000
	synctest.Test(t, func(t *testing.T) {
		p, e := apitest.PlatformAt(t, clock.System{}), newQuotaEngine()
		p.Workflow = e
		addPending(t, p, e, n)
		for name := range e.status {
			e.status[name] = workflow.Failed
		}
		handler := Handler(p)
		for range 6 {
			pauseOn(t, e.clock)
			apitest.Value(handler(t.Context(), nil))(t)
		}
		anew := 0
		for name, status := range e.status {
			if strings.HasSuffix(name, "-1") && status == workflow.Running {
				anew++
			}
		}
		if anew != n*9/10 || e.refused != 0 {
			t.Errorf("%d of %d were started anew, %d calls were refused by a quota", anew, n*9/10, e.refused)
		}
	})
}

// A refused start is no proof that an execution has ended: its machine may have been deployed anew meanwhile.
func TestSweep_StartsNothingTwiceThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, e := apitest.PlatformAt(t, clock.System{}), newQuotaEngine()
		p.Workflow, e.strict = e, true
		addPending(t, p, e, 20)
		handler := Handler(p)
		for range 5 {
			pauseOn(t, e.clock)
			got := apitest.Value(handler(t.Context(), nil))(t).(Swept) //nolint:forcetypeassert // as above
			if got.Retried != 0 {
				t.Errorf("%+v", got)
			}
		}
		if len(e.status) != 20 {
			t.Errorf("%d executions of 20 pieces of work", len(e.status))
		}
	})
}
