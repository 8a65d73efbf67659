package recommendations

import (
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/commitment"
)

// RecommendationCommitment is what to commit to in a scope, with all offers whose rates are known.
type RecommendationCommitment struct {
	Provider string            `json:"provider"`
	Product  string            `json:"product" doc:"The use that it covers" example:"compute"`
	Region   *string           `json:"region" doc:"null: all regions"`
	Family   *string           `json:"family" doc:"The family of machines of a reservation; null: all" example:"db.r5"`
	Basis    commitment.Basis  `json:"basis" enum:"hourly,daily" doc:"daily: bills have only days, so peaks within a day are not seen"`
	Days     int               `json:"days" doc:"The days that the figures of the levels are of, at most 91"`
	AllDays  int               `json:"allDays" doc:"The days that the bills have, at most 395"`
	Trend    commitment.Trend  `json:"trend" enum:"flat,rising,falling" doc:"The last 4 weeks against the 9 before"`
	WasteUSD string            `json:"wasteUSD" doc:"A month that open recommendations will save; it is deducted from the use"`
	Offers   []CommitmentOffer `json:"offers" nullable:"false" doc:"By their terms; savingsUSD is the gain of the default level of the first"`
}

// CommitmentOffer is a commitment that can be bought, in three sizes.
type CommitmentOffer struct {
	Kind      commitment.Kind     `json:"kind" enum:"plan,reservation,cud"`
	TermYears *int                `json:"termYears" doc:"null: the source of the rate does not say"`
	Payment   *commitment.Payment `json:"payment" enum:"none,partial,all" doc:"What is paid at once; null: the source of the rate does not say"`
	Rate      string              `json:"rate" doc:"What the committed use of 1 USD on demand costs" example:"0.720000"`
	Source    string              `json:"source" doc:"bill: what present commitments cost; or a price list"`
	Levels    []CommitmentLevel   `json:"levels" nullable:"false"`
	Backtest  CommitmentBacktest  `json:"backtest"`
}

// CommitmentLevel is a size of a commitment.
type CommitmentLevel struct {
	Level           commitment.LevelName `json:"level" enum:"safe,default,best" doc:"safe: the minimum of 30 days; default: the 10th percentile of 91 days; best: the quantile of the discount of 91 days, missing while the use falls"`
	HourlyUSD       string               `json:"hourlyUSD" doc:"The use on demand that an hour covers"`
	CommitmentUSD   string               `json:"commitmentUSD" doc:"What an hour of it costs"`
	UpfrontUSD      *string              `json:"upfrontUSD" doc:"What is paid at once; null unless payment is all"`
	MonthlyGainUSD  string               `json:"monthlyGainUSD" doc:"The net gain of 730 hours; negative for a loss"`
	CoveragePct     float64              `json:"coveragePct" doc:"The covered part of the use"`
	UtilizationPct  float64              `json:"utilizationPct" doc:"The used part of the commitment"`
	BreakEvenPct    float64              `json:"breakEvenPct" doc:"The smallest utilization without a loss"`
	BreakEvenMonths *float64             `json:"breakEvenMonths" doc:"After how many months of such use the whole term is paid for; null if the term is unknown, or it never is"`
}

// CommitmentBacktest is how the levels did in the past: chosen at the beginning of each month from the days before, and
// applied to the month.
type CommitmentBacktest struct {
	Months  int                 `json:"months" doc:"Of 4 weeks, after the first 13 weeks; 0 if there are too few days"`
	Results []CommitmentOutcome `json:"results" nullable:"false"`
}

// CommitmentOutcome is what a level gained in the months of a back-test.
type CommitmentOutcome struct {
	Level     commitment.LevelName `json:"level" enum:"none,safe,default,best"`
	GainUSD   string               `json:"gainUSD"`
	RegretUSD string               `json:"regretUSD" doc:"How much more the best commitment of each month would have gained"`
	Losses    int                  `json:"losses" doc:"The months with a loss"`
}

// newCommitments converts the advice of a recommendation; nil of one that recommends no commitment.
func newCommitments(all []commitment.Advice) []RecommendationCommitment {
	if len(all) == 0 {
		return nil
	}
	out := make([]RecommendationCommitment, len(all))
	for i := range all {
		a := &all[i]
		out[i] = RecommendationCommitment{
			Provider: a.Provider, Product: a.Product, Region: rest.Optional(a.Region), Family: rest.Optional(a.Family),
			Basis: a.Basis, Days: a.Days, AllDays: a.AllDays, Trend: a.Trend, WasteUSD: a.Waste.Fixed(2),
			Offers: make([]CommitmentOffer, len(a.Offers)),
		}
		for j := range a.Offers {
			out[i].Offers[j] = newOffer(&a.Offers[j])
		}
	}
	return out
}

func newOffer(o *commitment.OfferAdvice) CommitmentOffer {
	out := CommitmentOffer{
		Kind: o.Kind, TermYears: rest.Optional(o.Years), Payment: rest.Optional(o.Payment), Rate: o.Rate.Fixed(6),
		Source: o.Source, Levels: make([]CommitmentLevel, len(o.Levels)),
		Backtest: CommitmentBacktest{o.Backtest.Months, make([]CommitmentOutcome, len(o.Backtest.Results))},
	}
	for i := range o.Levels {
		l := &o.Levels[i]
		out.Levels[i] = CommitmentLevel{
			Level: l.Name, HourlyUSD: l.Hourly.Fixed(4), CommitmentUSD: l.Commitment.Fixed(4),
			MonthlyGainUSD: l.Gain.Fixed(2), CoveragePct: l.Coverage.Float64(), UtilizationPct: l.Utilization.Float64(),
			BreakEvenPct: l.BreakEven.Float64(), BreakEvenMonths: rest.Optional(l.BreakEvenMonths.Float64()),
		}
		if !l.Upfront.IsZero() {
			out.Levels[i].UpfrontUSD = rest.Optional(l.Upfront.Fixed(2))
		}
	}
	for i, r := range o.Backtest.Results {
		out.Backtest.Results[i] = CommitmentOutcome{r.Level, r.Gain.Fixed(2), r.Regret.Fixed(2), r.Losses}
	}
	return out
}
