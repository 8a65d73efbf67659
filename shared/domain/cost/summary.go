package cost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Summary is the costs of a whole organization in a month. It must not be shown to callers with a limited scope.
// Amounts are by metric, exact, in USD.
type Summary struct {
	Month Month
	Total Amounts
	Days  []Amounts // by day of the month
	// by day, of the charges of a question with UsageOnly; empty if an earlier version made the summary
	Usage       []Amounts
	Estimated   []bool               // by day: part of the cost is estimated
	By          map[string][]ByValue // by dimension: SummaryDims
	Unconverted []CurrencyTotal      // of the billed amounts
	// the last day with complete bills of each account with a bill of the month; nil if an earlier version made the
	// summary
	Settled map[string]time.Time
	// the moment whose teams and groups own the costs: the earliest of all bills
	AttributedAt time.Time `json:"-"`
}

// Amounts are amounts by metric.
type Amounts struct {
	Billed    money.Amount `json:"b"`
	Effective money.Amount `json:"e"`
	List      money.Amount `json:"l"`
}

// Of returns the amount of a metric.
func (a *Amounts) Of(m Metric) money.Amount { return *a.at(metricNumber[m]) }

func (a *Amounts) at(metric int) *money.Amount {
	return [...]*money.Amount{&a.Billed, &a.Effective, &a.List}[metric]
}

// AmountsOf returns the amount of a metric as Amounts.
func AmountsOf(m Metric, a money.Amount) *Amounts {
	out := &Amounts{}
	*out.at(metricNumber[m]) = a
	return out
}

// Add adds b to a.
func (a *Amounts) Add(b *Amounts) {
	a.Billed.Increase(&b.Billed)
	a.Effective.Increase(&b.Effective)
	a.List.Increase(&b.List)
}

// ByValue is the cost of one value of a dimension. With Rest, it is the cost of all unlisted values, which are the
// smallest.
type ByValue struct {
	Value string `json:"v,omitempty"`
	Amounts
	Rest bool `json:"rest,omitempty"`
}

// SummaryDims are the dimensions of a summary. The values of each add up to the total.
var SummaryDims = []string{
	ProviderDim, AccountDim, SubAccountDim, RegionDim, TypeDim, ServiceDim, PurchaseDim, TeamDim,
	GroupDim, CategoryDim,
}

// maxValues is the most values of a dimension that a summary lists individually.
const maxValues = 200

// summaryItem is a summary as it is stored. It is up to date if Of equals Seq, which grows with each change of a
// period in the month.
type summaryItem struct {
	Seq int64  `json:"seq"`
	Of  int64  `json:"of"`
	Z   []byte `json:"z"`
	// AttributedAt is Summary.AttributedAt, or an earlier time if Rebuild died; zero if an earlier version wrote it
	AttributedAt time.Time `json:"attributedAt,omitzero"`
}

func summaryKey(org string, m Month) table.Key { return key(org, summaryPrefix+m.String()) }

// Summaries returns the summaries of the months from … to that have costs, oldest first: one round trip, and one more
// until Rebuild has seen the summaries of an earlier version. A summary that is stale because its writer died is
// computed from the periods, and so is one that does not add up.
func (s *Store) Summaries(ctx context.Context, org string, from, to Month) ([]Summary, error) {
	var out []Summary
	q := table.Query{PK: PK(org), From: summaryKey(org, from).SK, To: summaryKey(org, to).SK, Limit: table.MaxPage}
	for {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read summaries of %s: %w", org, err)
		}
		for _, it := range page.Items {
			one, err := s.readSummary(ctx, org, it)
			if err != nil {
				return nil, fmt.Errorf("read %s of %s: %w", it.SK, org, err)
			}
			out = append(out, one)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, s.fillAttribution(ctx, org, out)
		}
	}
}

func (s *Store) readSummary(ctx context.Context, org string, it table.Item) (Summary, error) {
	row, err := table.Decode[summaryItem](it)
	if err != nil {
		return Summary{}, err
	}
	if row.Of == row.Seq {
		stored, err := decodeSummary(row.Z)
		stored.AttributedAt = row.AttributedAt
		if err != nil || stored.Check() == nil {
			return stored, err
		} // an earlier version rounded conversions, so the parts differ from the total in the last places
	}
	m, err := ParseMonth(it.SK[len(summaryPrefix):])
	if err != nil {
		return Summary{}, err
	}
	return s.makeSummary(ctx, org, m)
}

// summarize updates the summary of a month. Of several concurrent updates, the one that read the newest periods
// remains.
func (s *Store) summarize(ctx context.Context, org string, m Month) error {
	for range swapTries {
		row, err := table.Read[summaryItem](ctx, s.table, summaryKey(org, m))
		if err != nil || row.Of == row.Seq {
			return fault.Wrap("read the summary of "+m.String(), err)
		}
		made, err := s.makeSummary(ctx, org, m)
		if err != nil {
			return fmt.Errorf("summarize %s: %w", m, err)
		}
		z, err := made.pack()
		if err != nil {
			return err
		}
		_, err = s.table.Write(ctx,
			table.Update(summaryKey(org, m), []table.Change{
				table.Set("of", row.Seq), table.Set("z", z), table.Set("attributedAt", made.AttributedAt),
			}, table.Equal("seq", row.Seq)))
		if _, moved := errors.AsType[*table.ConditionError](err); !moved {
			return fault.Wrap("write the summary of "+m.String(), err)
		}
	}
	return nil // other writers keep changing it, and update the summary too
}

// makeSummary computes a summary from the periods.
func (s *Store) makeSummary(ctx context.Context, org string, m Month) (Summary, error) {
	pointers, err := s.readPointers(ctx, org, m, m)
	if err != nil {
		return Summary{}, err
	}
	out := Summary{
		Month: m, Days: make([]Amounts, m.Days()), Usage: make([]Amounts, m.Days()),
		By: map[string][]ByValue{},
	}
	periods, err := periodsOf(pointers)
	if err != nil {
		return out, err
	}
	out.Settled = SettledByAccount(periods)
	for n, metric := range Metrics {
		a, err := s.ask(ctx, org, pointers, Question{From: m.Start(), To: m.End(), Metric: metric, Daily: true})
		if err != nil {
			return out, err
		}
		*out.Total.at(n), out.Estimated, out.AttributedAt = a.Total, a.Estimated, a.Attribution[m]
		for i := range a.Days {
			*out.Days[i].at(n) = a.Days[i]
		}
		usage, err := s.ask(ctx, org, pointers,
			Question{From: m.Start(), To: m.End(), Metric: metric, Daily: true, UsageOnly: true})
		if err != nil {
			return out, err
		}
		for i := range usage.Days {
			*out.Usage[i].at(n) = usage.Days[i]
		}
		if metric == Billed {
			out.Unconverted = a.Unconverted
		}
	}
	for _, dim := range SummaryDims {
		if out.By[dim], err = s.summarizeBy(ctx, org, pointers,
			Question{From: m.Start(), To: m.End(), Dims: []string{dim}}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// summarizeBy returns the costs of the values of a dimension, the largest effective amounts first.
func (s *Store) summarizeBy(ctx context.Context, org string, pointers []pointer, q Question) ([]ByValue, error) {
	at := map[string]int{}
	var out []ByValue
	for _, metric := range []Metric{Effective, Billed, List} {
		q.Metric = metric
		a, err := s.ask(ctx, org, pointers, q)
		if err != nil {
			return nil, err
		}
		for _, row := range a.Rows {
			n, had := at[row.Keys[0]]
			if !had {
				n = len(out)
				at[row.Keys[0]] = n
				out = append(out, ByValue{Value: row.Keys[0]})
			}
			*out[n].at(metricNumber[metric]) = row.Amount
		}
	}
	return fold(out, maxValues), nil
}

// fold adds up the values after the n-th.
func fold(values []ByValue, n int) []ByValue {
	if len(values) <= n {
		return values
	}
	rest := ByValue{Rest: true}
	for i := n; i < len(values); i++ {
		rest.Add(&values[i].Amounts)
	}
	return append(slices.Clip(values[:n]), rest)
}

// pack encodes a summary so that it fits into an item. If names are too long for that, it lists fewer values.
func (s *Summary) pack() ([]byte, error) {
	for n := maxValues; ; n /= 2 {
		z, err := encodeSummary(s)
		if err != nil || len(z) <= maxPart || n == 0 {
			return z, err
		}
		for dim, values := range s.By {
			s.By[dim] = fold(values, n/2)
		}
	}
}

func encodeSummary(s *Summary) ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the summary of %s: %w", s.Month, err)
	}
	return compressor.Append(nil, b), nil
}

func decodeSummary(z []byte) (Summary, error) {
	var s Summary
	b, err := decompressor.Unpack(z)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return s, fmt.Errorf("%w: summary: %w", errColumn, err)
	}
	return s, nil
}
