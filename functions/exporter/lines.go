package exporter

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// lineExport writes the lines of bills into a file, in their own currencies.
type lineExport struct {
	*worker
	ctx  context.Context //nolint:containedctx // of one call
	q    *cost.Question  // bills only
	file lineFile
	made made
	// billed amounts in currencies without a rate, by currency
	unconverted map[string]money.Amount
}

// writeLines writes the lines of the bills that count, month by month. For a month with a bill without line items it
// writes the sums by day, in USD.
func (w *worker) writeLines(ctx context.Context, q *cost.Question, format string, to io.Writer) (made, error) {
	q.BillsOnly = true
	x := lineExport{
		worker: w, ctx: ctx, q: q, file: newLineFile(format, to), unconverted: map[string]money.Amount{},
	}
	bills, err := w.costs.BilledMonths(ctx, identity.CallerOrg(ctx), cost.MonthOf(q.From), cost.MonthOf(q.To.Add(-1)))
	if err != nil {
		return made{}, err
	}
	for len(bills) > 0 && err == nil {
		n := slices.IndexFunc(bills, func(b cost.BilledMonth) bool { return b.Month != bills[0].Month })
		if n < 0 {
			n = len(bills)
		}
		err = x.writeMonth(bills[:n])
		bills = bills[n:]
	}
	if err != nil {
		return x.made, err
	}
	for _, currency := range slices.Sorted(maps.Keys(x.unconverted)) {
		x.made.unconverted = append(x.made.unconverted,
			cost.CurrencyTotal{Currency: currency, Amount: x.unconverted[currency]})
	}
	return x.made, x.file.close()
}

// writeMonth writes the bills of one month.
func (x *lineExport) writeMonth(bills []cost.BilledMonth) error {
	month := bills[0].Month
	part := *x.q
	part.From, part.To = clock.Latest(part.From, month.Start()), clock.Earliest(part.To, month.End())
	if slices.ContainsFunc(bills, func(b cost.BilledMonth) bool { return !b.HasLines && b.Rows > 0 }) {
		x.made.summedMonths = append(x.made.summedMonths, month.String())
		return x.writeSums(&part)
	}
	whole, err := x.ask(part)
	if err != nil {
		return err
	}
	sums := monthSums{unconverted: map[string]money.Amount{}}
	for i := range bills {
		if err = x.writeBill(&bills[i], &part, &sums); err != nil {
			return err
		}
	}
	x.made.totals.Add(&sums.converted)
	for currency, a := range sums.unconverted {
		x.unconverted[currency] = x.unconverted[currency].Add(a)
	}
	return sums.check(&whole)
}

// monthSums are the sums of the lines of a month.
type monthSums struct {
	converted   cost.Amounts
	unconverted map[string]money.Amount // billed amounts by currency
	rounded     int64                   // lines that the store of costs rounds: those in currencies other than USD
}

// ask returns the sums of the month in the store of costs.
func (x *lineExport) ask(q cost.Question) (monthSums, error) {
	out := monthSums{unconverted: map[string]money.Amount{}}
	for _, q.Metric = range cost.Metrics {
		a, err := x.reader.Ask(x.ctx, q)
		if err != nil {
			return out, err
		}
		out.converted.Add(cost.AmountsOf(q.Metric, a.Total))
		for _, u := range a.Unconverted {
			if q.Metric == cost.Billed {
				out.unconverted[u.Currency] = u.Amount
			}
		}
	}
	return out, nil
}

// leastAmount is more than the store of costs rounds a line in another currency by: to 15 places before conversion.
var leastAmount = money.MustParse("0.00000000000001")

// check returns fault.Unavailable if the lines do not add up to the sums in the store of costs.
func (s *monthSums) check(whole *monthSums) error {
	most := leastAmount.MulInt(s.rounded)
	for _, m := range cost.Metrics {
		if d := s.converted.Of(m).Sub(whole.converted.Of(m)); d.Abs().Cmp(most) > 0 {
			return changed(string(m), s.converted.Of(m), whole.converted.Of(m))
		}
	}
	for currency, a := range whole.unconverted {
		if d := s.unconverted[currency].Sub(a); d.Abs().Cmp(most) > 0 {
			return changed(currency, s.unconverted[currency], a)
		}
	}
	return nil
}

func changed(what string, got, want money.Amount) error {
	return fault.New(fault.Unavailable, "costs have changed while they were exported: %s %s instead of %s; ask again",
		what, got, want)
}

// writeBill writes the lines of a bill that the question selects.
func (x *lineExport) writeBill(b *cost.BilledMonth, q *cost.Question, sums *monthSums) error {
	var row exportedLine
	return billfile.ReadLineItems(x.ctx, x.p.Lines, identity.CallerOrg(x.ctx), &b.Items, func(c *bill.Charge) error {
		if !selects(q, b, c) {
			return nil
		}
		if err := x.made.addRow(x.maxRows); err != nil {
			return err
		}
		rate, known := b.RateOf(c.BillingCurrency)
		sums.add(c, rate, known)
		row.Charge, row.rate = c, money.Amount{}
		if known && c.BillingCurrency != cost.USD {
			row.rate = rate
		}
		return x.file.add(&row)
	})
}

// add adds the costs of a line.
func (s *monthSums) add(c *bill.Charge, rate money.Amount, known bool) {
	if c.BillingCurrency == cost.USD {
		s.converted.Add(&cost.Amounts{Billed: c.BilledCost, Effective: c.EffectiveCost, List: c.ListCost})
		return
	}
	s.rounded++
	if !known {
		s.unconverted[c.BillingCurrency] = s.unconverted[c.BillingCurrency].Add(c.BilledCost)
		return
	}
	s.converted.Add(&cost.Amounts{
		Billed: c.BilledCost.Mul(rate), Effective: c.EffectiveCost.Mul(rate), List: c.ListCost.Mul(rate),
	})
}

// selects reports whether a line counts on a day of the question and matches its filter.
func selects(q *cost.Question, b *cost.BilledMonth, c *bill.Charge) bool {
	if day := b.Month.DayOf(c.ChargePeriodStart); day.Before(q.From) || !day.Before(q.To) {
		return false
	}
	for dim, values := range q.Filter {
		if !slices.Contains(values, valueOf(dim, b, c)) {
			return false
		}
	}
	return true
}

// valueOf returns the value of a line in a dimension that report.CheckLines accepts.
func valueOf(dim string, b *cost.BilledMonth, c *bill.Charge) string {
	switch dim {
	case cost.ProviderDim:
		return b.Provider
	case cost.AccountDim:
		return b.AccountOf(c.SubAccountID)
	case cost.SubAccountDim:
		return c.SubAccountID
	case cost.RegionDim:
		return c.RegionID
	case cost.ServiceDim:
		return c.ServiceName
	case cost.CategoryDim:
		return c.ChargeCategory
	default:
		return c.BillingCurrency
	}
}

// writeSums writes the costs of days of one month.
func (x *lineExport) writeSums(q *cost.Question) error {
	none, err := report.EachExportRow(x.ctx, x.reader.Ask, *q, func(r *report.ExportRow) (bool, error) {
		if err := x.made.addRow(x.maxRows); err != nil {
			return false, err
		}
		x.made.totals.Add(&r.Costs)
		return true, x.file.add(&exportedLine{Charge: r.Charge()})
	})
	for _, u := range none {
		x.unconverted[u.Currency] = x.unconverted[u.Currency].Add(u.Amount)
	}
	return err
}

// exportedLine is a line with the rate of its currency, which is 0 for USD and if unknown.
type exportedLine struct {
	*bill.Charge
	rate money.Amount
}

// periodEnd returns the end of the billing period: a month after its start.
func (l *exportedLine) periodEnd() time.Time { return l.BillingPeriodStart.AddDate(0, 1, 0) }
