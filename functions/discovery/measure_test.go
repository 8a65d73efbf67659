package discovery

import (
	"context"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/testkit/apitest"
)

// readCollection returns how the account was last measured.
func (s *fixture) readCollection() measurement.Collection {
	s.Helper()
	return apitest.Value(measurement.New(s.Platform).LastCollection(s.ctx, org, s.account.ID))(s)
}

// advanceDays has so many days pass, with a discovery at noon of each.
func (s *fixture) advanceDays(n int) {
	s.Helper()
	for range n {
		s.clk.Advance(24 * time.Hour)
		s.runPass(discovery.Succeeded)
	}
}

func TestMeasuring_TheFirstPassOfADayCollectsTheDayBefore(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "2", "stopped": "0"})
	s.runPass(discovery.Succeeded)
	if c := s.readCollection(); c.Day != "" {
		t.Errorf("what was just found was measured: %+v", c)
	}
	s.advanceDays(1)
	c := s.readCollection()
	if c.Day != "2026-03-01" || c.Resources < 150 || c.Series == 0 || c.Calls == 0 ||
		c.Calls != s.countCalls("Metrics") ||
		c.USD <= 0 || c.Error != "" {
		t.Errorf("%+v after %d calls; want a day's", c, s.countCalls("Metrics"))
	}
	s.clk.Advance(6 * time.Hour)
	s.runPass(discovery.Succeeded)
	if got := s.countCalls("Metrics"); got != c.Calls {
		t.Errorf("%d calls after another pass of the day; want %d still", got, c.Calls)
	}
}

func TestMeasuring_AnswersTheMetricsOfTheRules(t *testing.T) {
	s := newFixture(t, settings{"size": "60", "regions": "1", "stopped": "0", "kinds": "aws-ec2,aws-rds"})
	s.runPass(discovery.Succeeded)
	s.advanceDays(1)
	store, end := measurement.New(s.Platform), s.clk.Now().Truncate(24*time.Hour)
	answered := map[string]int{}
	for _, r := range s.readRecords() {
		h := apitest.Value(store.Read(s.ctx, measurement.Of{Org: org, AccountID: s.account.ID, UID: r.UID},
			end.AddDate(0, 0, -30), end))(s)
		for _, m := range cloud.MetricsOf(r.Type) {
			if v, ok := h.Answer(m, measurement.Window{End: end, Since: r.CreatedAt}); ok && v >= 0 {
				answered[r.Type+" "+m.Name]++
			} else if m.Days <= 14 && m.When == "" && r.Status == cloud.Running {
				t.Errorf("%s of %s is %v, %v after the first collection", m.Name, r.UID, v, ok)
			}
		}
	}
	if answered["aws-ec2 cpu_p995_14d"] < 20 || answered["aws-rds free_mem_min_14d"] < 5 ||
		answered["aws-rds free_storage_min_30d"] != 0 {
		t.Errorf("%v; want those of 14 days, and none of 30", answered)
	}
}

// daysOf returns how many of the last 20 days are known of a resource.
func (s *fixture) daysOf(uid string) (days int) {
	s.Helper()
	end := s.clk.Now().Truncate(24 * time.Hour)
	h := apitest.Value(measurement.New(s.Platform).Read(s.ctx, measurement.Of{
		Org: org, AccountID: s.account.ID, UID: uid,
	}, end.AddDate(0, 0, -20), end))(s)
	for _, of := range h {
		days = max(days, len(of))
	}
	return days
}

func TestMeasuring_DaysWithoutAPassAreMadeUpFor(t *testing.T) {
	for name, tt := range map[string]struct {
		kind   string
		missed int
		want   int
	}{
		"three days of AWS":                        {"aws-ec2", 3, 14 + 1 + 3},
		"three days of Azure, which has two turns": {"azure-vm", 3, 15 + 1 + 3},
		"thirty days are too many":                 {"aws-ec2", 30, 14},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, settings{"size": "20", "regions": "1", "stopped": "0", "kinds": tt.kind})
			s.runPass(discovery.Succeeded)
			s.advanceDays(1)
			s.clk.Advance(time.Duration(tt.missed) * 24 * time.Hour)
			s.advanceDays(1)
			for _, r := range s.readRecords() {
				if got := s.daysOf(r.UID); got != tt.want {
					t.Errorf("%d days of %s are known; want %d", got, r.UID, tt.want)
				}
			}
		})
	}
}

func TestMeasuring_LargeAccountsBackfillFewerDays(t *testing.T) {
	yesterday := noon.Truncate(24 * time.Hour)
	for name, tt := range map[string]struct {
		last      string
		resources int
		want      int
	}{
		"a new account":                    {"", 500, 14},
		"a new account without resources":  {"", 0, 14},
		"a new account of 100,000":         {"", 100_000, 7},
		"a new account of a million":       {"", 1_000_000, 1},
		"the night after a collection":     {measurement.DayOf(yesterday.AddDate(0, 0, -1)), 500, 1},
		"five nights after":                {measurement.DayOf(yesterday.AddDate(0, 0, -5)), 500, 5},
		"a day that nobody could have set": {"soon", 500, 14},
	} {
		if got := daysSince(tt.last, yesterday, tt.resources); got != tt.want {
			t.Errorf("%s: %d days, want %d", name, got, tt.want)
		}
	}
}

func TestMeasuring_WhatIsDeniedIsToldAndKeepsNothingBack(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "2", "stopped": "0"})
	s.runPass(discovery.Succeeded)
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "200", "regions": "2", "stopped": "0", "denied": "cloudwatch:GetMetricData"})
	s.advanceDays(1)
	if c := s.readCollection(); c.Day != "2026-03-01" || c.Error == "" || c.Series != 0 {
		t.Errorf("%+v; want the day noted, with what was denied", c)
	}
}

func TestMeasuring_WhatIsThrottledIsTriedAgainAndPaidFor(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "1", "stopped": "0", "kinds": "aws-ec2"})
	s.runPass(discovery.Succeeded)
	w, in := s.newWorker(), s.newShare("").Input
	sh := Share{
		Input: in, Started: s.clk.Now(),
		Measuring: &Measuring{Day: noon.Truncate(24*time.Hour).AddDate(0, 0, -1)},
	}
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "200", "regions": "1", "stopped": "0", "kinds": "aws-ec2", "throttle": "1"})
	tried := apitest.Value(w.scanShare(s.ctx, sh))(s)
	if tried.Done || tried.WaitSeconds != 60 || tried.Measuring.Tries != 1 || s.readCollection().Day != "" {
		t.Fatalf("%+v %+v; want it tried again in a minute", tried, tried.Measuring)
	}
	s.setSettings(settings{"size": "200", "regions": "1", "stopped": "0", "kinds": "aws-ec2"})
	if done := apitest.Value(w.scanShare(s.ctx, tried))(s); !done.Done || s.readCollection().Resources == 0 {
		t.Errorf("%+v, %+v; want it collected", done, s.readCollection())
	}
}

func TestMeasuring_LeavesOutWhatIsTerminated(t *testing.T) {
	s := newFixture(t, settings{"size": "100", "regions": "1", "stopped": "0", "kinds": "aws-rds"})
	s.runPass(discovery.Succeeded)
	s.account = s.storedAccount()
	s.setSettings(settings{"size": "100", "regions": "1", "stopped": "0", "kinds": "aws-rds", "vanish": "1"})
	s.clk.Advance(time.Hour)
	s.runPass(discovery.Succeeded)
	found := apitest.Value(s.newWorker().measurableAfter(s.ctx, org, s.account.ID, after{"", 100}))(s)
	if len(found) != 0 ||
		len(apitest.Value(inventory.New(s.Platform).FindResources(s.ctx, org,
			inventory.List{Filter: inventory.Filter{Sight: inventory.SeeEverything()}}))(s)) == 0 {
		t.Errorf("%d are measured; want none of what is gone", len(found))
	}
}

// Azure is asked every second night for two days: a turn of one half must not take the days of the other away.
func TestMeasuring_OfAzureHasEachDayByTheSecondNight(t *testing.T) {
	s := newFixture(t, settings{"size": "60", "regions": "1", "stopped": "0", "kinds": "azure-vm"})
	s.runPass(discovery.Succeeded)
	s.advanceDays(4)
	store, end := measurement.New(s.Platform), s.clk.Now().Truncate(24*time.Hour)
	calls := s.countCalls("Metrics")
	found := s.readRecords()
	for _, r := range found {
		h := apitest.Value(store.Read(s.ctx, measurement.Of{Org: org, AccountID: s.account.ID, UID: r.UID},
			end.AddDate(0, 0, -30), end))(s)
		for _, m := range cloud.MeasuresOf(r.Type) {
			for _, ago := range []int{2, 3} {
				if _, asked := h[m][measurement.DayOf(end.AddDate(0, 0, -ago))]; !asked {
					t.Errorf("%s of %s: nothing of %d days ago", m.Metric, r.UID, ago)
				}
			}
		}
	}
	if len(found) != 60 || calls != 4 {
		t.Errorf("%d machines by %d calls; want 60, and one call a night for the half of them", len(found), calls)
	}
}

// unreading is a cloud that was asked for one of two measures.
type unreading struct{ cloud.Metered }

func (unreading) Metrics(_ context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	return cloud.MetricAnswer{Unread: []cloud.Unmeasured{{UID: r.UIDs[0], Measure: 0}}}, nil
}

// A series without values says that a count is 0, so an unread measure must not have one.
func TestMeasuring_WhatIsUnreadHasNoSeries(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	c := &collector{conn: unreading{}, day: day, days: 1, all: map[time.Time][]measurement.Series{}}
	c.askMeasures(t.Context(), measureRequest{"aws-sqs", "eu-west-1", "", 1}, []string{"a", "b"})
	series := map[string]int{}
	for _, s := range c.all[day] {
		series[s.UID]++
	}
	if n := len(cloud.MeasuresOf("aws-sqs")); series["a"] != n-1 || series["b"] != n {
		t.Errorf("%v series; want %d of a, and %d of b", series, n-1, n)
	}
}

// Measures of candidates are asked of those whose facts meet the condition.
func TestMeasuring_CandidatesHaveMoreMeasures(t *testing.T) {
	s := newFixture(t, settings{"size": "60", "regions": "1", "stopped": "0", "kinds": "aws-rds"})
	s.runPass(discovery.Succeeded)
	s.advanceDays(1)
	store, end := measurement.New(s.Platform), s.clk.Now().Truncate(24*time.Hour)
	iops := cloud.Measure{Namespace: "AWS/RDS", Metric: "ReadIOPS", Statistic: "Maximum"}
	seen := map[bool]int{}
	for _, r := range s.readRecords() {
		h := apitest.Value(store.Read(s.ctx, measurement.Of{Org: org, AccountID: s.account.ID, UID: r.UID},
			end.AddDate(0, 0, -2), end))(s)
		_, collected := h[iops]
		kind, _ := r.Facts["storage_type"].(string)
		if candidate := strings.HasPrefix(kind, "io"); candidate != collected {
			t.Errorf("%s with %q: collected %v", r.UID, kind, collected)
		} else {
			seen[candidate]++
		}
	}
	if seen[false] == 0 {
		t.Errorf("%v", seen)
	}
}
