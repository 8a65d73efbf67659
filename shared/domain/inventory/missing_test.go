package inventory

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// missingFixture is an account of 100 instances that were found.
func missingFixture(t *testing.T) *fixture {
	t.Helper()
	s := newFixture(t)
	s.listing(100, nil)
	return s
}

// listing runs a complete scan that finds the first n instances; exists is the answer to reads by id of the others.
func (s *fixture) listing(n int, exists map[string]bool) Changes {
	s.Helper()
	sc := s.scan("job_" + s.Clock.Now().Format(time.RFC3339))
	s.upsert(sc, instances(0, n)...)
	return s.finishRead(sc, exists)
}

func TestFinish_AReadByIDConfirmsWhatAListingDidNotReturn(t *testing.T) {
	s := missingFixture(t)
	gone, there := instance(98), instance(99)
	s.Clock.Advance(time.Hour)
	equal(t, "one is gone, one exists", s.listing(98, map[string]bool{gone.UID: false, there.UID: true}),
		Changes{Vanished: 1})
	equal(t, "that is gone", s.record(gone.UID).Status, cloud.Terminated)
	for range 10 {
		s.Clock.Advance(24 * time.Hour)
		equal(t, "listed without the one that exists", s.listing(98, map[string]bool{there.UID: true}).Vanished, 0)
	}
	equal(t, "that exists", s.record(there.UID).Status, there.Status)
	equal(t, "last seen", s.find(List{Filter: Filter{Search: there.UID}})[0].LastSeenAt, s.Clock.Now())
}

// TestFinish_WithoutAReadTwoListingsTerminate covers resources that cannot be read by id.
func TestFinish_WithoutAReadTwoListingsTerminate(t *testing.T) {
	last := instance(99).UID
	for name, c := range map[string]struct {
		between func(s *fixture) // 30 minutes after the first listing without the resource
		wait    time.Duration    // from then to the second one
		want    int
	}{
		"an hour apart":                 {nil, 30 * time.Minute, 1},
		"less than an hour apart":       {nil, 29 * time.Minute, 0},
		"a listing between returned it": {func(s *fixture) { s.listing(100, nil) }, 24 * time.Hour, 0},
		"a read between found it": {func(s *fixture) {
			s.listing(99, map[string]bool{last: true})
		}, 24 * time.Hour, 0},
		"an action between saw it": {func(s *fixture) {
			s.seen(Seen{last, cloud.Stopped, s.Clock.Now()})
		}, 59 * time.Minute, 0},
		"a listing between missed it": {func(s *fixture) { s.listing(99, nil) }, 30 * time.Minute, 1},
		"a listing between confirmed it": {func(s *fixture) {
			s.listing(99, map[string]bool{last: false})
		}, time.Hour, 0},
		"the index was compacted between": {func(s *fixture) {
			s.Must(s.store.CompactIndex(s.ctx, testOrg))
		}, 30 * time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := missingFixture(t)
			s.Clock.Advance(time.Hour)
			equal(t, "the first one", s.listing(99, nil), Changes{})
			s.Clock.Advance(30 * time.Minute)
			if c.between != nil {
				c.between(s)
			}
			s.Clock.Advance(c.wait)
			equal(t, "the second one", s.listing(99, nil).Vanished, c.want)
		})
	}
}

func TestFinish_ManyMissingResourcesWaitForADay(t *testing.T) {
	s := missingFixture(t)
	s.Clock.Advance(time.Hour)
	equal(t, "30 of 100 are missing", s.listing(70, nil).Vanished, 0)
	for range 3 {
		s.Clock.Advance(6 * time.Hour)
		equal(t, "some hours later", s.listing(70, nil).Vanished, 0)
	}
	s.Clock.Advance(6 * time.Hour)
	equal(t, "a day later", s.listing(70, nil).Vanished, 30)
	s.Clock.Advance(time.Hour)
	equal(t, "20 more", s.listing(50, nil).Vanished, 0)
	s.Clock.Advance(time.Hour)
	equal(t, "an hour later", s.listing(50, nil).Vanished, 20)
}

// TestFinish_AMissingResourceKeepsItsStatusAndCostsNoRecord checks that a schedule continues to act on the resource
// until it is confirmed to be gone.
func TestFinish_AMissingResourceKeepsItsStatusAndCostsNoRecord(t *testing.T) {
	s := missingFixture(t)
	before := s.record(instance(99).UID)
	s.Clock.Advance(time.Hour)
	s.listing(99, nil)
	equal(t, "the record", s.record(instance(99).UID), before)
	got := s.find(List{Filter: Filter{Search: instance(99).UID}})[0]
	equal(t, "status", got.Status, before.Status)
	equal(t, "last seen", got.LastSeenAt, noon)
}
