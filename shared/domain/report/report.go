// Package report answers users' questions about costs. Reader turns a request into a question to package cost, with
// the caller's rights and with accepted smart tags, and refuses an answer whose parts do not add up to its total.
// SavingReader computes the savings of stops. The showback rules split unowned costs over the teams that share them.
// Exports contain the same rows as files; jobs write those that are too large for one answer.
package report

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
)

// Policy is the permission to see costs.
const Policy = "reports:read"

// Reading is the store access of a function that uses a Reader.
var Reading = cost.Reading.With(table.Access{Reads: []table.Partition{
	inventory.IndexPartition,
	inventory.ChunkPartition, smarttag.Partition,
}})

// Reader answers questions within the rights of the context's caller. It is safe for use by several goroutines.
type Reader struct {
	Books     Books
	Inventory *inventory.Store

	p        *platform.Platform
	smart    smarttag.Store
	imported *importedOrgs
}

// NewReader returns a Reader of books: the cost store, or a replacement in tests.
func NewReader(p *platform.Platform, b Books) *Reader {
	return &Reader{b, inventory.New(p), p, smarttag.NewStore(p.Table), &importedOrgs{}}
}

// Books is the part of the cost store that reports use.
type Books interface {
	Ask(ctx context.Context, org string, q cost.Question) (cost.Answer, error)
	Summaries(ctx context.Context, org string, from, to cost.Month) ([]cost.Summary, error)
	Periods(ctx context.Context, org string) ([]cost.Period, error)
}

// Ask answers a question. It returns an error if the parts of the answer do not add up to its total. Accepted smart
// tags count like tags of the cloud.
func (r *Reader) Ask(ctx context.Context, q cost.Question) (cost.Answer, error) {
	if !tagged(&q) {
		return r.askBooks(ctx, q)
	}
	smart, err := r.smartTags(ctx)
	if err != nil {
		return cost.Answer{}, err
	}
	if len(smart) == 0 {
		return r.askBooks(ctx, q)
	}
	a, err := r.askBooks(ctx, byResource(q))
	if err != nil {
		return a, err
	}
	out := smart.retag(&q, &a)
	return out, r.Balanced(ctx, checkAnswer(&out, q.Daily))
}

func (r *Reader) askBooks(ctx context.Context, q cost.Question) (cost.Answer, error) {
	a, err := r.Books.Ask(ctx, identity.CallerOrg(ctx), q)
	if err != nil {
		return a, err
	}
	return a, r.Balanced(ctx, checkAnswer(&a, q.Daily))
}

// Balanced returns err and logs it. The caller answers 500 instead of a wrong number, and an alarm on the log informs
// the operators.
func (r *Reader) Balanced(ctx context.Context, err error) error {
	if err != nil {
		r.p.Log.WarnContext(ctx, "a report does not add up", unbalanced, 1, "org", identity.CallerOrg(ctx),
			"error", err.Error())
	}
	return err
}

// unbalanced is the log key of reports that do not add up. template.yaml counts it for an alarm.
const unbalanced = "unbalancedReports"

func checkAnswer(a *cost.Answer, daily bool) error {
	var sum money.Amount
	days := make([]money.Amount, len(a.Days))
	for i := range a.Rows {
		r := &a.Rows[i]
		sum.Increase(&r.Amount)
		if daily && r.Days.Sum() != r.Amount {
			return fmt.Errorf("the days of %q add up to %s, not to %s", r.Keys, r.Days.Sum(), r.Amount)
		}
		r.Days.AddTo(days)
	}
	if sum != a.Total || !slices.Equal(days, a.Days) {
		return fmt.Errorf("the rows add up to %s, not to %s, or do not on each day", sum, a.Total)
	}
	return nil
}

// AddDays adds amounts day by day, and returns the sums.
func AddDays(to, more []money.Amount) []money.Amount {
	if to == nil {
		return slices.Clone(more)
	}
	for d := range more {
		to[d].Increase(&more[d])
	}
	return to
}
