package discovery

import (
	"maps"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/engine/table"
)

var machines = settings{"size": "30", "regions": "2", "stopped": "0", "kinds": "aws-ec2"}

// newCandidates returns an account of which all machines wait for a confirmation of their processors' use.
func newCandidates(t *testing.T) (*fixture, []inventory.Resource) {
	t.Helper()
	s := newFixture(t, machines)
	s.runPass(discovery.Succeeded)
	s.advanceDays(1)
	s.account = s.storedAccount()
	store := measurement.New(s.Platform)
	byShard := map[int][]measurement.Candidate{}
	var all []inventory.Resource
	for _, r := range s.readRecords() {
		all = append(all, r)
		n := table.ShardOf(r.UID, measurement.CandidateShards)
		byShard[n] = append(byShard[n], measurement.Candidate{
			UID: r.UID, Type: r.Type, Region: r.Region, Metrics: []string{"cpu_p995_14d", "points_14d"},
		})
	}
	for n, some := range byShard {
		s.Must(store.AskFor(s.ctx, org, s.account.ID, n, some))
	}
	return s, all
}

// confirmations returns the confirmations of resources.
func (s *fixture) confirmations(all []inventory.Resource) map[string]measurement.Confirmed {
	s.Helper()
	out := map[string]measurement.Confirmed{}
	now := s.clk.Now()
	for _, r := range all {
		var shard measurement.Shard
		s.Must(measurement.New(s.Platform).ReadShard(s.ctx, org, measurement.ShardDays{
			Shard: table.ShardOf(r.UID, measurement.Shards), From: now.AddDate(0, 0, -14), Until: now,
			UIDs: []string{r.UID},
		}, &shard))
		if c := shard.Of(r.UID).Confirmed; c.UID != "" {
			out[r.UID] = c
		}
	}
	return out
}

func TestCandidates_AreConfirmedByTheNextDiscovery(t *testing.T) {
	s, all := newCandidates(t)
	before := s.readCollection()
	s.clk.Advance(time.Hour)
	s.runPass(discovery.Succeeded)
	got := s.confirmations(all)
	for _, r := range all {
		c := got[r.UID]
		if v := c.Values["cpu_p995_14d"]; v <= 0 || v > 100 || c.Day != before.Day || len(c.Values) != 1 {
			t.Errorf("%s: %+v", r.UID, c)
		}
	}
	after := s.readCollection()
	if after.Candidates || after.ConfirmedAt.IsZero() || after.Day != before.Day || after.Calls <= before.Calls {
		t.Errorf("%+v; before %+v", after, before)
	}
	calls := s.countCalls("Metrics")
	s.clk.Advance(time.Hour)
	s.runPass(discovery.Succeeded)
	if n := s.countCalls("Metrics"); n != calls {
		t.Errorf("%d further calls once all are confirmed", n-calls)
	}
}

// The first discovery after midnight measures yesterday, and confirms what the night before has asked for.
func TestCandidates_AreConfirmedWithTheDaysMeasures(t *testing.T) {
	s, all := newCandidates(t)
	s.advanceDays(1)
	if got := s.confirmations(all); len(got) != len(all) {
		t.Errorf("%d of %d are confirmed", len(got), len(all))
	}
	if c := s.readCollection(); c.Candidates || c.Day != measurement.DayOf(s.clk.Now().AddDate(0, 0, -1)) {
		t.Errorf("%+v", c)
	}
}

func TestCandidates_WaitForACloudThatDoesNotAnswer(t *testing.T) {
	s, all := newCandidates(t)
	for _, tt := range []struct {
		name, key, value string
		waits            bool
		values           int
	}{
		{"throttled", "throttle", "1", true, 0},
		{"denied", "denied", "cloudwatch:GetMetricData", false, 0},
	} {
		of := settings{tt.key: tt.value}
		maps.Copy(of, machines)
		s.account = s.storedAccount()
		s.setSettings(of)
		sh := Share{Input: s.newShare("").Input, Started: s.clk.Now(), Measuring: &Measuring{
			Day: s.clk.Now().Truncate(24*time.Hour).AddDate(0, 0, -1), Measured: true, Confirm: true,
			Sum: s.readCollection(),
		}}
		if _, err := s.newWorker().scanShare(s.ctx, sh); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if c := s.readCollection(); c.Candidates != tt.waits {
			t.Errorf("%s: candidates wait: %v", tt.name, c.Candidates)
		}
		for uid, c := range s.confirmations(all) {
			if len(c.Values) != tt.values {
				t.Errorf("%s: %s has %+v", tt.name, uid, c)
			}
		}
	}
}

func TestCandidates_OfATypeInARegionShareARequest(t *testing.T) {
	var all []measurement.Candidate
	for n := range 60 {
		all = append(all, measurement.Candidate{
			UID: string(rune('a' + n%26)), Type: "aws-ec2", Region: []string{"r1", "r2"}[n%2], Metrics: []string{"cpu"},
		})
	}
	var sizes []int
	for _, some := range alike(all) {
		sizes = append(sizes, len(some))
	}
	if want := []int{25, 5, 25, 5}; !slices.Equal(sizes, want) {
		t.Errorf("%v; want %v", sizes, want)
	}
}

func TestCandidates_ACountThatTheCloudRefusesIsNotConfirmed(t *testing.T) {
	all := []measurement.Candidate{{UID: "vol-1", Type: "aws-ebs", Region: "r1", Metrics: []string{"iops_max_14d"}}}
	metrics := fineMetrics(all[0])
	until := noon.Truncate(24 * time.Hour)
	r := requestOf(all, metrics, until)
	for name, tt := range map[string]struct {
		got    cloud.MetricAnswer
		values int
	}{
		"read, without points": {cloud.MetricAnswer{}, 1},
		"refused":              {cloud.MetricAnswer{Unread: cloud.UnreadAll(r.UIDs, r)}, 0},
		"one of two measures is refused": {
			cloud.MetricAnswer{Unread: []cloud.Unmeasured{{UID: "vol-1", Measure: 1}}}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &confirmer{until: until}
			c.take(metrics, r, tt.got)
			if len(c.confirmed) != 1 || len(c.confirmed[0].Values) != tt.values {
				t.Errorf("%+v; want %d values", c.confirmed, tt.values)
			}
		})
	}
}
