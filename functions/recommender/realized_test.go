package recommender

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
)

func TestRealized_ComparesAWeekBeforeWithAWeekAfter(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	days := make([]money.Amount, billedDays) // 10 a day until the 15th, and 3 after it
	for i := range days {
		if days[i] = money.FromInt(10); i > 14 {
			days[i] = money.FromInt(3)
		}
	}
	for name, c := range map[string]struct {
		change func(r *recommendation.Row, b *bills)
		want   string // empty: not measured
	}{
		"a fall of 7 a day": {func(*recommendation.Row, *bills) {}, "210.00"},
		"no more than the resource cost": {func(r *recommendation.Row, _ *bills) {
			r.Savings.Cost = money.FromInt(90)
		}, "90.00"},
		"an account without settled days": {func(_ *recommendation.Row, b *bills) { b.from = nil }, ""},
		"a resource that no bill names":   {func(r *recommendation.Row, _ *bills) { r.ResourceUID = "i-9" }, ""},
		"too few days after it": {func(r *recommendation.Row, _ *bills) {
			r.History[1].At = first.AddDate(0, 0, 23)
		}, ""},
		"too few days before it": {func(r *recommendation.Row, _ *bills) {
			r.History[1].At = first.AddDate(0, 0, 6)
		}, ""},
		"a cost that has not fallen": {func(r *recommendation.Row, _ *bills) {
			r.History[1].At = first.AddDate(0, 0, 7) // 10 a day on both sides
		}, ""},
		"an open recommendation": {func(r *recommendation.Row, _ *bills) { r.History = r.History[:1] }, ""},
		"one that was measured": {func(r *recommendation.Row, _ *bills) {
			r.Realized = &recommendation.Realized{At: first.AddDate(0, 0, 25)}
		}, ""},
		"one that was measured before it was applied again": {func(r *recommendation.Row, _ *bills) {
			r.Realized = &recommendation.Realized{At: first}
		}, "210.00"},
		"a saving at other resources": {func(r *recommendation.Row, _ *bills) {
			r.Savings.Claims = []recommendation.Claim{{ResourceID: "res_2"}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			row := recommendation.Row{
				Resource: recommendation.Resource{ResourceUID: "i-1", CloudAccountID: "ca_1"},
				History: []recommendation.Event{
					{To: recommendation.Open, At: first},
					{To: recommendation.Applied, At: first.AddDate(0, 0, 14).Add(9 * time.Hour)},
				},
			}
			b := bills{
				from: map[string]time.Time{"ca_1": first},
				of:   map[string][]billed{"i-1": {{days: money.SeriesOf(days...)}}},
			}
			c.change(&row, &b)
			got, ok := b.realized(&row, first.AddDate(0, 0, 30))
			if ok != (c.want != "") || ok && got.Month.Fixed(2) != c.want {
				t.Errorf("%v %s, want %q", ok, got.Month.Fixed(2), c.want)
			}
			if ok && got.Proof() != "bill of 2026-03-08 to 2026-03-14 and 2026-03-16 to 2026-03-22" {
				t.Error(got.Proof())
			}
		})
	}
}
