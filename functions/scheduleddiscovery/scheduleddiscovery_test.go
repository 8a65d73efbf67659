package scheduleddiscovery

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
	"lamplighter.dev/shared/testkit/race"
)

var midnight = time.Date(2026, time.March, 29, 0, 0, 0, 0, time.UTC) // clocks in Europe are put forward on that day

// fixture is organizations whose accounts are due, and how often a discovery of each was started.
type fixture struct {
	*apitest.Fixture
	clock   *clock.Manual
	started *starts
}

// starts counts the executions that were started, by account.
type starts struct {
	apitest.Idle
	mu        sync.Mutex
	byAccount map[string]int
	names     map[string]bool
}

func (s *starts) Start(_ context.Context, _, name string, input any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := input.(discovery.Input)
	s.byAccount[in.Org+"/"+in.AccountID]++
	s.names[name] = true
	return nil
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	c := clock.NewManual(midnight)
	s := &fixture{
		apitest.On(tb, apitest.PlatformAt(tb, clocktest.Instant{Manual: c})), c,
		&starts{byAccount: map[string]int{}, names: map[string]bool{}},
	}
	s.Workflow = s.started
	return s
}

// addAccount connects one, as POST /cloud-accounts does.
func (s *fixture) addAccount(org, status string) string {
	s.Helper()
	a := inventory.Account{ID: id.New("ca", s.clock.Now()), Status: status, Provider: "simulated"}
	s.Put(inventory.AccountKey(org, a.ID), a)
	s.Write(apitest.Value(discovery.AddDue(org, a.ID))(s))
	return a.ID
}

// addAccounts connects so many in each of some organizations.
func (s *fixture) addAccounts(orgs, each int) {
	s.Helper()
	for n := range orgs {
		org := fmt.Sprintf("org_%d", n)
		s.Put(identity.AccessKey(org), identity.Access{})
		for range each {
			s.addAccount(org, inventory.AccountConnected)
		}
	}
}

func (s *fixture) runWorker() Started {
	s.Helper()
	return apitest.Value(StartDue(context.Background(), s.Platform))(s)
}

// runMinutes runs the schedule so many minutes, and returns the most starts of one.
func (s *fixture) runMinutes(n int) (most int) {
	s.Helper()
	for range n {
		most = max(most, s.runWorker().Started)
		s.clock.Advance(time.Minute)
	}
	return most
}

// checkEach wants that every account was started so often.
func (s *fixture) checkEach(accounts, times int) {
	s.Helper()
	if len(s.started.byAccount) != accounts {
		s.Errorf("%d accounts were started; want %d", len(s.started.byAccount), accounts)
	}
	for a, n := range s.started.byAccount {
		if n != times {
			s.Fatalf("%s was started %d times; want %d", a, n, times)
		}
	}
}

func TestEachAccount_IsDiscoveredFourTimesADay(t *testing.T) {
	race.SkipRepetition(t)
	s := newFixture(t)
	s.addAccounts(30, 100)
	most := s.runMinutes(24 * 60)
	s.checkEach(3000, 4)
	if most < 8 || most > 25 {
		t.Errorf("%d starts in one minute; want them spread evenly, about 8", most)
	}
}

func TestWhatWasMissed_IsMadeUpForInPartsOfBoundedSize(t *testing.T) {
	s := newFixture(t)
	s.addAccounts(10, 100)
	s.runMinutes(10)
	clear(s.started.byAccount)
	s.clock.Advance(5*time.Hour + 50*time.Minute) // the slot of the first run comes again
	first := s.runWorker()
	if first.Started < mostStarts || first.Started >= mostStarts+pageSize || first.Behind < 100 {
		t.Errorf("%+v; want a part, and the rest left for later", first)
	}
	for n := range 10 {
		s.clock.Advance(time.Minute)
		if got := s.runWorker(); n > 6 && (got.Behind != 0 || got.Minutes != 1) {
			t.Errorf("still behind: %+v", got)
		}
	}
	s.checkEach(1000, 1)
}

func TestWhatWasMissedForDays_IsMadeUpForOnce(t *testing.T) {
	s := newFixture(t)
	s.addAccounts(10, 10)
	s.runMinutes(360)
	s.checkEach(100, 1)
	s.clock.Advance(72*time.Hour + 17*time.Minute)
	s.runMinutes(4) // discoveries that are due again within these are under way
	s.checkEach(100, 2)
}

func TestTwoRunsAtOnce_StartEachDiscoveryOnce(t *testing.T) {
	s := newFixture(t)
	s.addAccounts(10, 100)
	s.runWorker()
	s.clock.Advance(6*time.Hour - time.Minute)
	clear(s.started.byAccount)
	for range 10 {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := StartDue(context.Background(), s.Platform); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	s.checkEach(1000-len(s.dueAt(0)), 1)
}

// dueAt returns the accounts of a slot.
func (s *fixture) dueAt(minute int64) []discovery.Due {
	s.Helper()
	return apitest.Rows[discovery.Due](s.Fixture, discovery.SlotPK(midnight.Unix()/60+minute))
}

func TestAPassThatEndedAtOnce_IsNotBegunAgainForTheSameMinute(t *testing.T) {
	s := newFixture(t)
	s.Put(identity.AccessKey("org_1"), identity.Access{})
	ca := s.addAccount("org_1", inventory.AccountConnected)
	due, d := s.clock.Now(), discovery.Due{Org: "org_1", AccountID: ca}
	for n, want := range []bool{true, false} {
		begun := apitest.Value(discovery.StartDue(s.Context(), s.Platform, d, due))(s)
		if begun != want {
			t.Errorf("try %d began: %v", n, begun)
		}
		s.Change(inventory.AccountKey("org_1", ca), table.Remove("jobID")) // as the end of a pass does
	}
}

func TestAnAccount_ThatIsBusyGoneOrRefused(t *testing.T) {
	day := 24 * 60
	for name, c := range map[string]struct {
		change func(s *fixture, ca string)
		status string
		starts int
		listed bool
	}{
		"is left alone while a discovery runs": {func(s *fixture, ca string) {
			s.Put(discovery.JobKey("org_1", "job_1"),
				discovery.Job{ID: "job_1", Status: discovery.Running, StartedAt: midnight.Add(24 * time.Hour)})
			s.Change(inventory.AccountKey("org_1", ca), table.Set("jobID", "job_1"))
		}, inventory.AccountConnected, 0, true},
		"is taken off the list when it is gone": {func(s *fixture, ca string) {
			s.Write(table.Delete(inventory.AccountKey("org_1", ca)))
		}, inventory.AccountConnected, 0, false},
		"is taken off the list when its organization has ended": {func(s *fixture, _ string) {
			s.Put(identity.AccessKey("org_1"), identity.Access{Ended: true})
		}, inventory.AccountConnected, 0, false},
		"is tried once a day when its credentials are refused": {
			func(*fixture, string) {},
			inventory.AccountDisconnected, 1, true,
		},
		"is discovered when it is degraded": {
			func(*fixture, string) {}, inventory.AccountDegraded,
			4, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.Put(identity.AccessKey("org_1"), identity.Access{})
			ca := s.addAccount("org_1", c.status)
			c.change(s, ca)
			s.runMinutes(day)
			_, err := s.Table.Get(s.Anywhere(), discovery.DueKey(ca))
			if got := s.started.byAccount["org_1/"+ca]; got != c.starts || fault.Is(err, fault.NotFound) == c.listed {
				t.Errorf("%d starts in a day, listed: %v; want %d, %v", got, err, c.starts, c.listed)
			}
		})
	}
}

// TestAStoreThatFails_LosesNoDiscovery has every seventh call fail, before or after it took effect.
func TestAStoreThatFails_LosesNoDiscovery(t *testing.T) {
	s := newFixture(t)
	s.addAccounts(3, 20)
	sound := s.Table
	var faults []table.Injection
	for n := 3; n < 3000; n += 7 {
		harm := table.FailBefore
		if n%2 == 0 {
			harm = table.FailAfter
		}
		faults = append(faults, table.Injection{Harm: harm, Call: n})
	}
	s.Table = table.NewFaultyStore(sound, s.clock, faults...)
	for range 360 + 20 {
		_, _ = StartDue(context.Background(), s.Platform) // fails now and then, and goes on in the next minute
		s.clock.Advance(time.Minute)
	}
	s.Table = sound
	if work := s.pendingCount(); work != 60 {
		t.Errorf("%d discoveries were begun; want 60", work)
	}
}

// pendingCount returns the number of started discoveries.
func (s *fixture) pendingCount() int {
	s.Helper()
	n := 0
	for shard := range workqueue.Shards {
		n += len(apitest.Rows[workqueue.Work](s.Fixture, workqueue.PK(shard)))
	}
	return n
}
