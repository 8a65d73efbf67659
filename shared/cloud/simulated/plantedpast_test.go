package simulated

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// weekOf sums the cost of a resource on the 7 days from a day on.
func weekOf(t *testing.T, rows []map[string]string, uid string, from time.Time) money.Amount {
	t.Helper()
	var week []map[string]string
	for _, r := range rows {
		at := apitest.Value(time.Parse(time.RFC3339, r["ChargePeriodStart"]))(t)
		if r["ResourceId"] == uid && !at.Before(from) && at.Before(from.AddDate(0, 0, 7)) {
			week = append(week, r)
		}
	}
	return sumOf(t, week, "EffectiveCost")
}

func TestPastChanges_TheBillFallsOnTheDayOfTheChange(t *testing.T) {
	settings := map[string]string{
		"facts": "planted", "regions": "eu-west-1", "bills": "focus", "changedOn": "2026-11-09",
	}
	b := biller(t, billedAt, settings)
	var rows []map[string]string
	for _, d := range apitest.Value(b.Deliveries(t.Context(), billedAt.AddDate(0, -1, 0)))(t) {
		rows = append(rows, rowsIn(t, b, d)...)
	}
	past := apitest.Value(PastChanges(account(settings)))(t)
	if len(past) == 0 {
		t.Fatal("planted.csv has no change of the past")
	}
	for _, p := range past {
		before, after := weekOf(t, rows, p.UID, p.Day.AddDate(0, 0, -7)), weekOf(t, rows, p.UID, p.Day)
		predicted := before.MulDiv(p.Saving, p.Cost) // of the week
		off := before.Sub(after).Sub(predicted).Abs()
		if predicted.Sign() <= 0 || off.MulInt(10).Cmp(predicted) > 0 {
			t.Errorf("%s of %s: the week cost %s before and %s after; %s is predicted", p.Rule, p.UID, before, after,
				predicted)
		}
	}
}

func TestPastChanges_ThereAreNoneWithoutTheirDay(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"planted without a day": {"facts": "planted"},
		"a day without planted": {"facts": "complete", "changedOn": "2026-11-09"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := apitest.Value(PastChanges(account(settings)))(t); len(got) > 0 {
				t.Error(got)
			}
		})
	}
	_, err := PastChanges(account(map[string]string{"facts": "planted", "changedOn": "yesterday"}))
	if cloud.ClassOf(err) != cloud.Invalid {
		t.Errorf("a day that is none: %v", err)
	}
}
