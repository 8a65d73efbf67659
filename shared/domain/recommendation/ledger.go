package recommendation

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// LedgerPartition holds the lines of the savings ledger that applied recommendations have: one for each measured
// application, in the transaction that stores the measurement at the recommendation.
const LedgerPartition table.Partition = "ORG#*#SAVING"

// The days of a line of the ledger.
const (
	ComparedDays = 7  // compared before and after the application, whose own day is left out
	LedgerDays   = 30 // that a line counts, from the day after the application
)

const (
	oneDay          = 24 * time.Hour
	comparedSeconds = ComparedDays * int64(oneDay/time.Second)
)

// LedgerLine is the measured saving of an applied recommendation, with its proof.
type LedgerLine struct {
	RecommendationID string `json:"recommendationID"`
	RuleID           string `json:"ruleID"`
	RuleVersion      int    `json:"ruleVersion"`
	Resource
	From       time.Time    `json:"from"`   // the first day after the application, 00:00 UTC
	Before     money.Amount `json:"before"` // effective cost of the 7 days before the application
	After      money.Amount `json:"after"`  // effective cost of the 7 days from From
	Month      money.Amount `json:"month"`  // Before less After, as 30 days, at most the resource's cost, less Copy
	MeasuredAt time.Time    `json:"measuredAt"`

	// StopsBefore and StopsAfter are the savings of our stops in the two weeks, at public prices. The ledger has lines
	// for them, so they are no saving of the recommendation.
	StopsBefore money.Amount `json:"stopsBefore"`
	StopsAfter  money.Amount `json:"stopsAfter"`
	// Copy is the cost of the snapshot that the deletion keeps for the 30 days of the line; nil if it keeps none.
	Copy *CopyCost `json:"copy,omitempty"`
	// RunSeconds is the time of the 7 days after the application in which we did not keep the resource stopped.
	RunSeconds int64 `json:"runSeconds"`
}

// Applied returns the day of the application.
func (l *LedgerLine) Applied() time.Time { return l.From.Add(-oneDay) }

// BeforeFrom returns the first of the 7 days before the application.
func (l *LedgerLine) BeforeFrom() time.Time { return l.Applied().AddDate(0, 0, -ComparedDays) }

// AfterTo returns the end of the 7 days after the application.
func (l *LedgerLine) AfterTo() time.Time { return l.From.AddDate(0, 0, ComparedDays) }

// Proof names the days that were compared.
func (l *LedgerLine) Proof() string {
	last := func(at time.Time) string { return at.Add(-oneDay).Format(time.DateOnly) }
	return fmt.Sprintf("bill of %s to %s and %s to %s", l.BeforeFrom().Format(time.DateOnly), last(l.Applied()),
		l.From.Format(time.DateOnly), last(l.AfterTo())) + l.Copy.proof()
}

// proof says what was done about the cost of a kept snapshot.
func (c *CopyCost) proof() string {
	switch {
	case c == nil:
		return ""
	case c.Unknown != "":
		return "; the snapshot that is kept for 30 days is not subtracted, because its price is unknown (" +
			c.Unknown + ")"
	}
	return "; less " + c.USD.Fixed(2) + " USD for the snapshot that is kept for 30 days"
}

// Realized returns what the recommendation stores of the line.
func (l *LedgerLine) Realized() Realized {
	return Realized{USD: l.Month, At: l.MeasuredAt, Proof: l.Proof()}
}

// Unexplained returns the part of the saving of 7 days that our stops do not explain: 0 or more.
func (l *LedgerLine) Unexplained() money.Amount {
	week := l.Before.Sub(l.After)
	if l.Month.Cmp(week.MulInt(LedgerDays).DivInt(ComparedDays)) < 0 { // capped by the cost of the resource
		week = l.Month.MulInt(ComparedDays).DivInt(LedgerDays)
	}
	if week = week.Sub(l.Explained()); week.Sign() < 0 || l.RunSeconds <= 0 {
		return money.Amount{}
	}
	return week
}

// Explained returns the fall of the cost of 7 days that our stops explain: 0 or more.
func (l *LedgerLine) Explained() money.Amount {
	if more := l.StopsAfter.Sub(l.StopsBefore); more.Sign() > 0 {
		return more
	}
	return money.Amount{}
}

// Most returns the cost of a time before the application, without our stops: no saving of the time is larger.
func (l *LedgerLine) Most(d time.Duration) money.Amount {
	return l.Before.Add(l.StopsBefore).MulDiv(seconds(d), money.FromInt(comparedSeconds))
}

// Share returns the saving of a time in which we do not keep the resource stopped: its part of the saving of 7 days.
func (l *LedgerLine) Share(d time.Duration) money.Amount {
	week := l.Unexplained()
	if week.IsZero() {
		return week
	}
	share := week.MulDiv(seconds(d), money.FromInt(l.RunSeconds))
	if most := l.Most(d); share.Cmp(most) > 0 {
		return most
	}
	return share
}

func seconds(d time.Duration) money.Amount { return money.FromInt(int64(d / time.Second)) }

func ledgerPK(org string) string { return table.OrgPK(org) + "SAVING" }

// item returns the line as it is stored. The same measurement has the same key.
func (l *LedgerLine) item(org string) (table.Item, error) {
	it, err := table.NewItem(table.Key{
		PK: ledgerPK(org), SK: l.From.Format(time.DateOnly) + "#" + l.RecommendationID,
	}, l)
	it.Expires = l.From.Add(Keep)
	return it, err
}

// maxLedgerLines limits a read of the ledger.
const maxLedgerLines = 20_000

// ReadLedger returns the lines that begin on the days from one day to the day before another, oldest first. It takes
// one round trip for 10,000 lines. It returns fault.Invalid if there are more than 20,000.
func ReadLedger(ctx context.Context, s table.Store, org string, from, to time.Time) ([]LedgerLine, error) {
	q := table.Query{
		PK: ledgerPK(org), From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Limit: table.MaxPage,
	}
	var out []LedgerLine
	for {
		some, next, err := table.ReadPage[LedgerLine](ctx, s, q)
		if err != nil {
			return nil, fault.Wrap("read the savings of applied recommendations of "+org, err)
		}
		if out = append(out, some...); len(out) > maxLedgerLines {
			return nil, fault.New(fault.Invalid, "from, to: more than %d recommendations were applied in these days; "+
				"ask for fewer days", maxLedgerLines)
		}
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}
