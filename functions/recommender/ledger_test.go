package recommender

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/costtest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// applied lets a recommendation for a volume be applied 14 days ago. The volume cost 5 USD a day before it, and costs 2
// after it.
func (f *fixture) applied() {
	f.Helper()
	f.discover("aws-ebs", f.volume("vol-waste", 60))
	f.bill(map[string]string{"vol-waste": "5"})
	f.evaluate()
	at := f.Clock.Now()
	_, _, err := recommendation.New(f.Platform).Decide(f.In(org), org, f.row().ID,
		recommendation.Decision{Status: recommendation.Applied, By: "ada@example.com", At: at})
	f.Must(err)
	f.Clock.Advance(14 * day)
	f.discover("aws-ebs", f.volume("vol-waste", 0))
	today := f.Clock.Now().Truncate(day)
	costtest.Import(f.Fixture, costtest.Bill{
		Org: org, Account: inventorytest.Account, From: today.AddDate(0, 0, -80), To: today, Delivered: f.Clock.Now(),
	}, costtest.Line{Resource: "vol-waste", Service: "EC2", USD: func(day time.Time) string {
		if day.After(at) {
			return "2"
		}
		return "5"
	}})
}

// ledger formats the stored lines.
func (f *fixture) ledger() string {
	f.Helper()
	now := f.Clock.Now()
	var out []string
	lines := apitest.Value(recommendation.ReadLedger(f.In(org), f.Table, org, now.AddDate(0, 0, -60), now))(f)
	for i := range lines {
		l := &lines[i]
		out = append(out, fmt.Sprint(l.RuleID, " ", l.RuleVersion, " ", l.ResourceUID, " ", l.Before, " to ", l.After,
			" is ", l.Month, " a month, ", l.Unexplained(), " a week in ", l.RunSeconds/3600, " hours"))
	}
	return strings.Join(out, "; ")
}

func TestMeasure_AnAppliedRecommendationIsALineOfTheLedger(t *testing.T) {
	f := newFixture(t)
	f.applied()
	begin := f.Clock.Now().Truncate(day).AddDate(0, 0, -11)
	for at, state := range map[time.Time]string{begin: "stopped", begin.Add(10 * time.Hour): "running"} {
		f.Must(execution.RecordChanges(f.In(org), f.Table, org, execution.StateChange{
			ID: id.New("sh", at), ResourceUID: "vol-waste", State: state, ChangedAt: at,
		}))
	}
	rate := pricing.HourlyRate{Running: money.MustParse("0.1"), Version: "1"}
	f.Must(pricing.WriteCosts(f.In(org), f.Platform, org, []pricing.KnownCost{{UID: "vol-waste", Rate: rate}}))
	f.evaluate()
	f.Equal("ledger", f.ledger(),
		"aws-ebs-unattached 1 vol-waste 35 to 14 is 90 a month, 20 a week in 158 hours")
	r := f.row()
	f.Equal("status", r.Status, recommendation.Optimised)
	f.Equal("at the recommendation", r.Realized.USD.String(), "90")
	f.Clock.Advance(day)
	f.evaluate()
	f.Equal("ledger of the next day", strings.Count(f.ledger(), ";"), 0)
	other := apitest.Value(recommendation.ReadLedger(f.In(apitest.OtherOrg), f.Table, apitest.OtherOrg,
		begin.AddDate(0, 0, -60), begin.AddDate(0, 0, 60)))(f)
	f.Equal("lines of another organization", len(other), 0)
}

// A process that measures is killed at some step, and the next one repeats the work.
func TestKilledAtAnyStep_MeasuringWritesOneLine(t *testing.T) {
	killpoint.LosesNothing(t, 20, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		f := newFixture(t)
		f.applied()
		lives.Run(f.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
			_, err := Evaluate(ctx, p.Platform(f.Platform), nil)
			return err
		})
		return f.rows() + f.ledger()
	})
}

// The line and the measurement at the recommendation are written together, or neither is.
func TestMeasure_AnotherProcessThatWasFasterLeavesOneLine(t *testing.T) {
	f := newFixture(t)
	f.applied()
	f.evaluate()
	lines := apitest.Value(recommendation.ReadLedger(f.In(org), f.Table, org, time.Time{}, f.Clock.Now()))(f)
	again := lines[0]
	apitest.Value(recommendation.New(f.Platform).Confirm(f.In(org), org, &again))(f)
	q := table.Query{PK: table.OrgPK(org) + "SAVING", Limit: 10}
	f.Equal("stored lines", len(apitest.Value(f.Table.Query(f.In(org), q))(f).Items), 1)
	f.Equal("writes of the row", f.row().Version, 3) // opened, applied, measured
}
