package evaluator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// mortal is a store of a process that is killed at a random call: from then on nothing of it reaches the store. Whether the call at which it
// dies was done nobody knows.
type mortal struct {
	table.Store
	mu   sync.Mutex
	left int
	half bool
}

var errKilled = errors.New("killed")

func (m *mortal) alive() (first, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	return m.left == 0, m.left > 0
}

// die does the call of its death, or does not.
func (m *mortal) die(do func() error) error {
	if m.half {
		_ = do()
	}
	return errKilled
}

func (m *mortal) Get(ctx context.Context, k table.Key) (table.Item, error) {
	if _, ok := m.alive(); !ok {
		return table.Item{}, errKilled
	}
	return m.Store.Get(ctx, k)
}

func (m *mortal) BatchGet(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	if _, ok := m.alive(); !ok {
		return nil, errKilled
	}
	return m.Store.BatchGet(ctx, keys...)
}

func (m *mortal) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if _, ok := m.alive(); !ok {
		return table.Page{}, errKilled
	}
	return m.Store.Query(ctx, q)
}

func (m *mortal) Write(ctx context.Context, w table.Write) (it table.Item, err error) {
	last, ok := m.alive()
	if last {
		return it, m.die(func() error { _, err := m.Store.Write(ctx, w); return err })
	}
	if !ok {
		return it, errKilled
	}
	return m.Store.Write(ctx, w)
}

func (m *mortal) BatchWrite(ctx context.Context, ws ...table.Write) error {
	last, ok := m.alive()
	if last {
		return m.die(func() error { return m.Store.BatchWrite(ctx, ws[:rand.IntN(len(ws)+1)]...) })
	}
	if !ok {
		return errKilled
	}
	return m.Store.BatchWrite(ctx, ws...)
}

func (m *mortal) Transact(ctx context.Context, ws ...table.Write) error {
	last, ok := m.alive()
	if last {
		return m.die(func() error { return m.Store.Transact(ctx, ws...) })
	}
	if !ok {
		return errKilled
	}
	return m.Store.Transact(ctx, ws...)
}

// tally counts how often each execution was started.
type tally struct {
	workflow.Engine
	mu sync.Mutex
	n  map[string]int
}

func (t *tally) Start(_ context.Context, _, name string, _ any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n[name]++
	return nil
}

// Two evaluators at once, each killed at a random call in each minute, and 10,000 firings: each is asked for once, and told once.
func TestEvaluator_TwoAtOnceKilledAtRandomFireEachOnce(t *testing.T) {
	const orgs, schedules, minutes = 10, 10, 100
	a := newFixture(t)
	starts := &tally{n: map[string]int{}}
	a.Workflow = starts
	for n := range orgs {
		a.minutely(fmt.Sprintf("org_01k0000000000000000000001%d", n), schedules)
	}
	killed := 0
	for range minutes {
		a.Clock.Advance(time.Minute)
		var wg sync.WaitGroup
		for range 2 {
			p := a.killable(1 + rand.IntN(600))
			wg.Go(func() { _, _ = EvaluateDue(context.Background(), p) })
			defer func(m *mortal) {
				if m.left <= 0 {
					killed++
				}
			}(p.Table.(*mortal))
		}
		wg.Wait()
	}
	a.run() // what the last ones have left
	a.count(starts, orgs, schedules*minutes)
}

// minutely makes an organization of an instance for each of some schedules that fire each minute, stop and start in turn.
func (a *fixture) minutely(org string, schedules int) {
	a.Helper()
	a.Put(identity.AccessKey(org), identity.Access{})
	a.ids[org] = inventorytest.Discover(a.Fixture, org, "aws-ec2", inventorytest.Instances(schedules)...)
	for n := range schedules {
		a.Clock.Advance(time.Millisecond)
		a.scheduleOf(org, nil, []string{"stop */2 * * * *", "start 1-59/2 * * * *"}, n)
	}
}

// killable returns the platform of a process that dies at its n-th call of the store.
func (a *fixture) killable(n int) *platform.Platform {
	p := a.Platform.Clone()
	p.Table = &mortal{Store: a.Table, left: n, half: rand.IntN(2) == 0}
	return p
}

// count holds what was done against what was due: each minute of each schedule once, but for those that a later one has superseded while
// nobody lived to do them, which are done by none.
func (a *fixture) count(starts *tally, orgs, each int) {
	a.Helper()
	total := 0
	for n := range orgs {
		org := fmt.Sprintf("org_01k0000000000000000000001%d", n)
		seen := map[string]bool{}
		asked := map[string]int{}
		for _, e := range apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(org)) {
			if e.Kind != evaluation.Fired {
				continue
			}
			k := fmt.Sprint(e.ScheduleID, e.At)
			if seen[k] {
				a.Errorf("%s is told twice", k)
			}
			seen[k] = true
			if e.Acted > 0 {
				for _, id := range e.BulkActionIDs {
					asked[id]++
				}
				total++
			}
		}
		bulks := a.bulks(org)
		for _, b := range bulks {
			if asked[b.ID] != 1 {
				a.Errorf("%s is of %d firings", b.ID, asked[b.ID])
			}
		}
		if len(bulks) != len(asked) {
			a.Errorf("%s: %d bulk actions, %d are told", org, len(bulks), len(asked))
		}
		if len(apitest.Rows[execution.Bulk](a.Fixture, execution.BulkPK(org))) < each/2 {
			a.Errorf("%s: only %d bulk actions of %d firings", org, len(bulks), each)
		}
		if st := a.state(org); st.Until != a.Clock.Now().Unix()/60 || st.Round != "" {
			a.Errorf("%s is evaluated until %d, with a round %q", org, st.Until, st.Round)
		}
	}
	a.Logf("%d firings were asked for, of %d that were due", total, orgs*each)
}

// stored is how far an organization is.
type stored struct {
	Until int64  `json:"until"`
	Round string `json:"round"`
}

func (a *fixture) state(org string) stored {
	a.Helper()
	return apitest.Read[stored](a.Fixture, table.Key{PK: table.OrgPK(org) + "EVALUATION", SK: "STATE"})
}

