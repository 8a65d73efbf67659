package recommender

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const unusedIOPS = "aws-ebs-iops-unused"

// newCandidate returns an organization with a volume of 6,000 IOPS that uses few of them by hourly points.
func newCandidate(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	v := f.volume("vol-io", 0)
	v.Facts["volume_type"], v.Facts["iops"], v.Capacity = "io2", 6000.0, map[string]int64{"sizeGiB": 100}
	f.discover("aws-ebs", v)
	f.bill(map[string]string{"vol-io": "5"})
	store := measurement.New(f.Platform)
	f.Must(store.NoteCollection(f.In(org), org, inventorytest.Account, measurement.Collection{Day: "2026-01-01"}))
	f.evaluateNextDay()
	return f
}

// evaluateNextDay evaluates everything after a night of few IOPS.
func (f *fixture) evaluateNextDay() {
	f.Helper()
	f.Clock.Advance(day)
	f.evaluateQuietVolume()
}

func (f *fixture) evaluateQuietVolume() {
	f.Helper()
	f.measure("vol-io", "aws-ebs", 20, func(time.Time, cloud.Measure) float64 { return 1 })
	amazon := pricer{unit: cloud.PerMonth, prices: map[string]string{"ebs/io2/storage": "0.1", "ebs/io2/iops": "0.05"}}
	f.Must(pricing.New(f.Platform, cloud.Providers{"aws": amazon}).RefreshPrices(
		table.Within(f.Context(), pricing.Prefix), pricing.ProviderRegion{Provider: "aws", Region: "eu-west-1"}))
	f.evaluate()
}

// confirm stores the highest IOPS of the volume by points of 5 minutes, up to some days ago.
func (f *fixture) confirm(values map[string]float64, daysAgo int) {
	f.Helper()
	store := measurement.New(f.Platform)
	c := apitest.Value(store.LastCollection(f.In(org), org, inventorytest.Account))(f)
	f.Must(store.Confirm(f.In(org), org, inventorytest.Account, c, []measurement.Confirmed{{
		UID: "vol-io", Values: values, Day: dayOf(f.Clock.Now().AddDate(0, 0, -daysAgo)),
	}}))
}

// candidates are those that wait for a confirmation, if the next discovery looks at them.
func (f *fixture) candidates() []measurement.Candidate {
	f.Helper()
	store := measurement.New(f.Platform)
	c := apitest.Value(store.LastCollection(f.In(org), org, inventorytest.Account))(f)
	if !c.Candidates {
		return nil
	}
	return apitest.Value(store.Candidates(f.In(org), org, inventorytest.Account))(f)
}

func TestConfirm_ARuleThatLowersIOPSAsksForFinerPointsFirst(t *testing.T) {
	f := newCandidate(t)
	if strings.Contains(f.rows(), unusedIOPS) {
		t.Errorf("IOPS are lowered by hourly means: %s", f.rows())
	}
	counts := apitest.Value(recommendation.New(f.Platform).ReadCounts(f.In(org), org))(f)
	i := slices.IndexFunc(counts, func(c recommendation.RuleCount) bool { return c.RuleID == unusedIOPS })
	if i < 0 || counts[i].Unknown != 1 || counts[i].Missing[0].Reason != unconfirmed {
		t.Errorf("counts of %s: %+v", unusedIOPS, counts)
	}
	got := f.candidates()
	if len(got) != 1 || got[0].UID != "vol-io" || got[0].Region != "eu-west-1" ||
		!slices.Contains(got[0].Metrics, "iops_max_14d") {
		t.Errorf("candidates: %+v", got)
	}
}

func TestConfirm_FinerPointsDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		values  map[string]float64
		daysAgo int
		opens   bool
		asks    bool
	}{
		"the peak is low too":          {map[string]float64{"iops_max_14d": 900}, 1, true, false},
		"a peak of five minutes":       {map[string]float64{"iops_max_14d": 5900}, 1, false, false},
		"too few points":               {map[string]float64{}, 1, false, false},
		"the points are a week old":    {map[string]float64{"iops_max_14d": 900}, 7, true, true},
		"the points are nine days old": {map[string]float64{"iops_max_14d": 900}, 9, false, true},
		"other metrics were confirmed": {map[string]float64{"mibps_p99_14d": 1}, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newCandidate(t)
			f.Clock.Advance(day)
			f.confirm(tt.values, tt.daysAgo)
			f.evaluateQuietVolume()
			if got := strings.Contains(f.rows(), unusedIOPS+" vol-io open"); got != tt.opens {
				t.Errorf("open: %v; rows %s", got, f.rows())
			}
			if got := len(f.candidates()) > 0; got != tt.asks {
				t.Errorf("asks for a confirmation: %v", got)
			}
		})
	}
}

func TestConfirm_EvidenceHasTheValuesOfFinerPoints(t *testing.T) {
	f := newCandidate(t)
	f.confirm(map[string]float64{"iops_max_14d": 900}, 0)
	f.evaluateNextDay()
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.RuleID == unusedIOPS {
			if r.Evidence.Values["iops_max_14d"] != 900.0 || r.Evidence.Confirmed == "" {
				t.Errorf("%+v", r.Evidence)
			}
			// of $150 a month, the share of 4,920 of 6,000 IOPS: 900 and 20 % stay
			f.Equal("net saving", r.Savings.Net.Fixed(2), "119.03")
			return
		}
	}
	t.Errorf("no row of %s: %s", unusedIOPS, f.rows())
}

// A peak that only finer points show closes a recommendation. A confirmation that is too old closes nothing.
func TestConfirm_ClosesOnlyByFinerPoints(t *testing.T) {
	f := newCandidate(t)
	f.confirm(map[string]float64{"iops_max_14d": 900}, 0)
	f.evaluateNextDay()
	for range 12 { // nobody confirms it again
		f.evaluateNextDay()
	}
	if !strings.Contains(f.rows(), unusedIOPS+" vol-io open") {
		t.Errorf("after two weeks without a confirmation: %s", f.rows())
	}
	for range 4 {
		f.confirm(map[string]float64{"iops_max_14d": 5900}, 0)
		f.evaluateNextDay()
	}
	if strings.Contains(f.rows(), unusedIOPS+" vol-io open") {
		t.Errorf("after a peak of five minutes: %s", f.rows())
	}
}
