package report

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// dims are the dimensions of a row, in the order of its columns after the periods.
var dims = []string{
	cost.ProviderDim, cost.SubAccountDim, cost.RegionDim, cost.ServiceDim, cost.ResourceDim,
	cost.CategoryDim,
}

// ExportColumns are the FOCUS names of the columns of a row. An upload of a bill takes them: the exported file can be
// imported.
var ExportColumns = []string{
	"ChargePeriodStart", "ChargePeriodEnd", "BillingPeriodStart", "BillingPeriodEnd", "ProviderName", "SubAccountId",
	"RegionId", "ServiceName", "ResourceId", "ChargeCategory", "BillingCurrency", "BilledCost", "EffectiveCost",
	"ListCost",
}

// ExportNumbers is the number of amounts, which are the last columns.
const ExportNumbers = 3

// ExportRow is the charge of one day for one combination of column values.
type ExportRow struct {
	Day   time.Time
	Keys  []string // by dims
	Costs cost.Amounts
}

// AskCosts answers a question like report.Reader.
type AskCosts func(context.Context, cost.Question) (cost.Answer, error)

// cellsAtOnce limits memory: it is the most cells (one row on one day) that are requested together.
const cellsAtOnce = 300_000

// EachExportRow calls take with the rows of a question, with all three costs, by day and then by key, until take
// returns false. It first asks for the total of the whole question. If the rows do not add up to it, the costs have
// changed in the meantime and it returns fault.Unavailable. It also returns the billed amounts that are in no row,
// because their currencies have no exchange rate.
func EachExportRow(ctx context.Context, ask AskCosts, q cost.Question,
	take func(*ExportRow) (more bool, err error),
) ([]cost.CurrencyTotal, error) {
	whole, err := askTotals(ctx, ask, q)
	if err == nil {
		err = eachRow(ctx, ask, q, rowsOf{&whole, take})
	}
	return whole.unconverted, err
}

// rowsOf passes on the rows that add up to whole.
type rowsOf struct {
	whole *exportTotals
	take  func(*ExportRow) (more bool, err error)
}

func eachRow(ctx context.Context, ask AskCosts, q cost.Question, of rowsOf) error {
	var sum cost.Amounts
	span := max(1, cellsAtOnce/max(of.whole.kinds, 1))
	for from := q.From; from.Before(q.To); from = from.AddDate(0, 0, span) {
		part := q
		part.From, part.To = from, from.AddDate(0, 0, span)
		if part.To.After(q.To) {
			part.To = q.To
		}
		rows, err := days(ctx, ask, part)
		if err != nil {
			return err
		}
		more, err := rows.each(part.From, func(r *ExportRow) (bool, error) {
			sum.Add(&r.Costs)
			return of.take(r)
		})
		if err != nil || !more {
			return err
		}
	}
	return same(&sum, &of.whole.sum)
}

// exportTotals are the sums of a question in all three costs, the most rows of a day, and the billed amounts without a
// rate.
type exportTotals struct {
	sum         cost.Amounts
	kinds       int
	unconverted []cost.CurrencyTotal
}

func askTotals(ctx context.Context, ask AskCosts, q cost.Question) (exportTotals, error) {
	q.Dims, q.Daily = dims, false
	var out exportTotals
	for _, q.Metric = range cost.Metrics {
		a, err := ask(ctx, q)
		if err != nil {
			return out, err
		}
		out.sum.Add(cost.AmountsOf(q.Metric, a.Total))
		out.kinds = max(out.kinds, len(a.Rows))
		if q.Metric == cost.Billed {
			out.unconverted = a.Unconverted
		}
	}
	return out, nil
}

// unshared is smaller than any charge, and larger than the rounding loss of a charge that several teams share.
var unshared = money.MustParse("0.000000000000001")

func same(sum, whole *cost.Amounts) error {
	for _, m := range cost.Metrics {
		if d := sum.Of(m).Sub(whole.Of(m)); d.Abs().Cmp(unshared) > 0 {
			return fault.New(fault.Unavailable,
				"costs have changed while they were exported: %s %s instead of %s; ask again", m, sum.Of(m),
				whole.Of(m))
		}
	}
	return nil
}

// series is the amounts of one combination of column values, by day and metric.
type series struct {
	keys []string
	days []cost.Amounts
}

type grid map[string]*series

// days asks for some days in all three costs and joins the answers.
func days(ctx context.Context, ask AskCosts, q cost.Question) (grid, error) {
	q.Dims, q.Daily = dims, true
	out := grid{}
	for _, q.Metric = range cost.Metrics {
		a, err := ask(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range a.Rows {
			id := strings.Join(a.Rows[i].Keys, "\x00")
			one := out[id]
			if one == nil {
				one = &series{a.Rows[i].Keys, make([]cost.Amounts, a.Rows[i].Days.Len())}
				out[id] = one
			}
			for d := range a.Rows[i].Days.Len() {
				one.days[d].Add(cost.AmountsOf(q.Metric, a.Rows[i].Days.At(d)))
			}
		}
	}
	return out, nil
}

// each calls take with the rows of each day.
func (t grid) each(first time.Time, take func(*ExportRow) (bool, error)) (more bool, err error) {
	all := slices.SortedFunc(maps.Values(t), func(a, b *series) int { return slices.Compare(a.keys, b.keys) })
	for d := 0; len(all) > 0 && d < len(all[0].days); d++ {
		for _, one := range all {
			if one.days[d] == (cost.Amounts{}) {
				continue
			}
			if more, err = take(&ExportRow{first.AddDate(0, 0, d), one.keys, one.days[d]}); err != nil || !more {
				return more, err
			}
		}
	}
	return true, nil
}

// providerNames are the FOCUS names of our providers.
var providerNames = map[string]string{"aws": "AWS", "azure": "Microsoft", "gcp": "Google Cloud"}

func (r *ExportRow) providerName() string {
	if name := providerNames[r.Keys[0]]; name != "" {
		return name
	}
	return r.Keys[0]
}

// Cells returns the row as the fields of a CSV line.
func (r *ExportRow) Cells() []string {
	month := cost.MonthOf(r.Day)
	out := make([]string, 0, len(ExportColumns))
	for _, at := range []time.Time{r.Day, r.Day.Add(Day), month.Start(), month.End()} {
		out = append(out, at.Format(time.RFC3339))
	}
	out = append(append(out, r.providerName()), r.Keys[1:]...)
	return append(out, cost.USD, r.Costs.Billed.String(), r.Costs.Effective.String(), r.Costs.List.String())
}

// Line returns the row as a line of NDJSON with its members in the order of the columns.
func (r *ExportRow) Line() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, cell := range r.Cells() {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(`"` + ExportColumns[i] + `":`)
		if err := enc.Encode(cell); err != nil { // a text always encodes
			panic(err)
		}
		b.Truncate(b.Len() - 1)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// Charge returns the row as a charge.
func (r *ExportRow) Charge() *bill.Charge {
	return &bill.Charge{
		ChargePeriodStart: r.Day, ChargePeriodEnd: r.Day.Add(Day),
		BillingPeriodStart: cost.MonthOf(r.Day).Start(),
		ProviderName:       r.providerName(), SubAccountID: r.Keys[1], RegionID: r.Keys[2], ServiceName: r.Keys[3],
		ResourceID: r.Keys[4], ChargeCategory: r.Keys[5],
		BillingCurrency: cost.USD, BilledCost: r.Costs.Billed, EffectiveCost: r.Costs.Effective, ListCost: r.Costs.List,
	}
}
