package anomalycheck

import (
	"testing"
	"time"
)

func TestCheck_AJobEveryFiveDaysIsNoAnomalyUntilItCostsMore(t *testing.T) {
	f := newFixture(t)
	days := map[string]string{}
	for at := day("2026-01-21"); at.Before(day("2026-03-10")); at = at.AddDate(0, 0, 5) {
		days[at.Format(time.DateOnly)] = "400"
	}
	f.bill(days)
	f.check()
	f.Equal("anomalies of the job", f.records(), "")
	days["2026-03-07"] = "1200" // a day of the job
	f.Clock.Advance(time.Hour)
	f.bill(days)
	f.check()
	f.Equal("events of a dearer job", f.events(), "cost.anomaly.resource.critical i-0")
}
