package evaluator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/nightly"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// mortal is the store of a process that is killed at a random call. Later calls do not reach the store. The call at
// which it dies may or may not have taken effect.
type mortal struct {
	table.Store
	mu   sync.Mutex
	left int
	part int // 0: the call of its death is not done; 1: it is, of a batch the first half
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
	if m.part > 0 {
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
		return m.die(func() error { return m.Store.BatchWrite(ctx, ws[:(len(ws)+1)/2]...) })
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

// Two evaluators run at once, each killed at a random call in each minute, with 10,000 firings in 100 minutes. Each
// firing is ordered once and reported once. Firings of one resource are far enough apart that none is superseded.
func TestEvaluator_TwoAtOnceKilledAtRandomFireEachOnce(t *testing.T) {
	const schedules, minutes, each = 100, 100, 10
	orgs := nightly.CountTries(4, 10)
	if race.Enabled {
		orgs = 2
	}
	a := newFixture(t)
	a.Workflow = apitest.Idle{}
	for n := range orgs {
		a.spread(orgOf(n), schedules, minutes, each)
	}
	var killed atomic.Int64
	random := seed.Random(t)
	for range minutes {
		a.Clock.Advance(time.Minute)
		var wg sync.WaitGroup
		for range 2 {
			p := a.killable(random)
			wg.Go(func() {
				if _, err := EvaluateDue(context.Background(), p); errors.Is(err, errKilled) {
					killed.Add(1)
				}
			})
		}
		wg.Wait()
	}
	t.Logf("%d of %d evaluators were killed", killed.Load(), 2*minutes)
	a.runEvaluator() // the rest of the last evaluators' work
	asked := 0
	for n := range orgs {
		asked += a.checkFirings(orgOf(n))
	}
	if asked != orgs*schedules*each {
		t.Errorf("%d firings were asked for; %d were due", asked, orgs*schedules*each)
	}
}

func orgOf(n int) string { return fmt.Sprintf("org_01k000000000000000000001%02d", n) }

// spread creates an organization with one instance for each schedule. Each schedule fires each times in the given
// number of minutes from now.
func (a *fixture) spread(org string, schedules, minutes, each int) {
	a.Helper()
	a.Put(identity.AccessKey(org), identity.Access{})
	a.ids[org] = inventorytest.Discover(a.Fixture, org, "aws-ec2", inventorytest.Instances(schedules)...)
	for n := range schedules {
		var lines []string
		for i := range each {
			at := monday.Add(time.Duration(1+n%(minutes/each)+i*(minutes/each)) * time.Minute)
			lines = append(lines, fmt.Sprintf("%s %d %d * * *", []string{"stop", "start"}[i%2], at.Minute(), at.Hour()))
		}
		a.scheduleOf(org, func(s *scheduling.Schedule) { s.Timezone = "UTC" }, lines, n)
	}
}

// killable returns the platform of a process that dies at some call of the store.
func (a *fixture) killable(r *rand.Rand) *platform.Platform {
	p := a.Clone()
	p.Table = &mortal{Store: a.Table, left: 1 + r.IntN(1200), part: r.IntN(2)}
	return p
}

// checkFirings compares the bulk actions of an organization with its log, and returns the number of firings that have
// acted.
func (a *fixture) checkFirings(org string) (total int) {
	a.Helper()
	seen, asked := map[string]bool{}, map[string]int{}
	for _, e := range onlyFirings(apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(org))) {
		k := fmt.Sprint(e.ScheduleID, e.CronID, e.At)
		if seen[k] || e.Acted != 1 || len(e.BulkActionIDs) != 1 {
			a.Errorf("%s is told twice, or not done: %+v", k, e)
		}
		seen[k] = true
		for _, id := range e.BulkActionIDs {
			asked[id]++
		}
		total += e.Acted
	}
	bulks := a.listBulks(org)
	for _, b := range bulks {
		if asked[b.ID] != 1 || b.Total != 1 {
			a.Errorf("%s is of %d firings", b.ID, asked[b.ID])
		}
	}
	if len(bulks) != len(asked) {
		a.Errorf("%s: %d bulk actions, %d are told", org, len(bulks), len(asked))
	}
	if st := a.storedState(org); st.Until != a.Clock.Now().Unix()/60 || st.Round != "" {
		a.Errorf("%s is evaluated until %d, with a round %q", org, st.Until, st.Round)
	}
	return total
}

// stored is how far an organization is.
type stored struct {
	Until int64  `json:"until"`
	Round string `json:"round"`
}

func (a *fixture) storedState(org string) stored {
	a.Helper()
	return apitest.Read[stored](a.Fixture, table.Key{PK: table.OrgPK(org) + "EVALUATION", SK: "STATE"})
}
