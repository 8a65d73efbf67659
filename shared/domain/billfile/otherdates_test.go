package billfile_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// Columns of the dates and of the kind of a row, in the spellings of all vendors.
var (
	periodColumns = []string{
		"bill/BillingPeriodStartDate", "BillingPeriodStartDate", "BillingPeriodStart",
		"invoice.month", "invoice_month",
	}
	startColumns = []string{
		"lineItem/UsageStartDate", "ChargePeriodStart", "UsageDateTime", "Date",
		"usage_start_time",
	}
	// refunds holds the value of a refund by column, and the value that it replaces; "" is any.
	refunds = map[string][2]string{
		"lineItem/LineItemType": {"Refund", "Usage"}, "ChargeClass": {"Correction", ""},
		"ChargeType": {"Refund", "Usage"},
		"cost_type":  {"adjustment", "regular"},
	}
)

// dates are the dates of a row.
type dates struct {
	period, start time.Time
	refund        bool
}

// otherDates are ten ways to move the dates of a bill's rows. n is the number of the row.
var otherDates = []struct {
	name   string
	change func(n int, d *dates)
}{
	{"usage of the month before", func(_ int, d *dates) { d.start = d.start.AddDate(0, -1, 0) }},
	{"usage of the month after", func(_ int, d *dates) { d.start = d.start.AddDate(0, 1, 0) }},
	{"each third row 40 days early", func(n int, d *dates) {
		if n%3 == 0 {
			d.start = d.start.AddDate(0, 0, -40)
		}
	}},
	{"each other row 12 days after the month", func(n int, d *dates) {
		if n%2 == 0 {
			d.start = firstOf(d.period).AddDate(0, 1, 12)
		}
	}},
	{"billing periods from the 15th to the 14th", func(n int, d *dates) {
		d.period = firstOf(d.period).AddDate(0, 0, 14)
		d.start = d.period.AddDate(0, 0, n%30)
	}},
	{"billing periods from the 28th on", func(_ int, d *dates) {
		d.period, d.start = firstOf(d.period).AddDate(0, 0, 27), d.start.AddDate(0, 0, 27)
	}},
	{"refunds of two months ago", func(n int, d *dates) {
		if d.refund = n%3 == 0; d.refund {
			d.start = d.start.AddDate(0, -2, 0)
		}
	}},
	{"refunds of a year ago", func(_ int, d *dates) { d.refund, d.start = true, d.start.AddDate(-1, 0, 0) }},
	{"the last second of the month", func(_ int, d *dates) {
		d.start = firstOf(d.period).AddDate(0, 1, 0).Add(-time.Second)
	}},
	{"the second before the month", func(_ int, d *dates) { d.start = firstOf(d.period).Add(-time.Second) }},
}

func firstOf(t time.Time) time.Time { return cost.MonthOf(t).Start() }

// moved returns the rows of a file with other dates.
func moved(rows [][]string, change func(n int, d *dates)) [][]string {
	out := [][]string{rows[0]}
	period, start := columnNamed(rows[0], periodColumns), columnNamed(rows[0], startColumns)
	for n, row := range rows[1:] {
		row = slices.Clone(row)
		d := dates{start: dateOf(row[start])}
		d.period = firstOf(d.start)
		if period >= 0 {
			d.period = dateOf(row[period])
		}
		change(n, &d)
		row[start] = d.start.Format("2006-01-02T15:04:05Z")
		if period >= 0 {
			row[period] = formatLike(row[period], d.period)
		}
		if d.refund {
			refund(rows[0], row)
		}
		out = append(out, row)
	}
	return out
}

func columnNamed(header, names []string) int {
	return slices.IndexFunc(header, func(column string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, column) })
	})
}

func dateOf(text string) time.Time {
	for _, layout := range []string{
		time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05 MST", time.DateOnly,
		"01/02/2006", "1/2/2006", "200601", "2006-01-02T15:04:05",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	panic(text + " is not a date")
}

// formatLike formats the month of an invoice as Google does, and other dates with their time.
func formatLike(text string, t time.Time) string {
	if len(text) == len("200601") {
		return t.Format("200601")
	}
	return t.Format("2006-01-02T15:04:05Z")
}

func refund(header, row []string) {
	for column, value := range refunds {
		if i := slices.Index(header, column); i >= 0 && (value[1] == "" || row[i] == value[1]) {
			row[i] = value[0]
		}
	}
}

// TestBills_WithOtherDatesAreImportedExactly imports the bills of all vendors as they are, and with their dates moved
// in ten ways. No row is refused, and each report adds up to the sums of the rows.
func TestBills_WithOtherDatesAreImportedExactly(t *testing.T) {
	race.SkipSequential(t)
	for file := range controls(t) {
		t.Run(file, func(t *testing.T) {
			rows := oracle(t, readData(t, file))
			if mend, found := mended[file]; found {
				rows = mend(rows)
			}
			k := newKept(t)
			want := k.importFile("as it is", encode(rows...))
			var late, corrections int64
			for _, c := range otherDates {
				got := k.importFile(c.name, encode(moved(rows, c.change)...))
				k.Equal(c.name, got.sums, want.sums)
				k.Equal(c.name+": rows", got.rows, want.rows)
				late, corrections = late+got.late, corrections+got.corrections
			}
			few, periods := len(rows) < 5, columnNamed(rows[0], periodColumns) >= 0
			if periods && (late == 0 || corrections == 0 && !few) {
				t.Errorf("%d late rows and %d corrections in all", late, corrections)
			}
		})
	}
}

// importedFile is the result of an import: sums by currency, and numbers of rows.
type importedFile struct {
	sums                    map[string]money.Amount
	rows, late, corrections int64
}

// importFile imports the months of a file, and compares their reports with the sums of the charges.
func (k *kept) importFile(name string, b []byte) importedFile {
	k.Helper()
	charges, _, err := readAll("", "f", b)
	if err != nil {
		k.Fatalf("%s: %v", name, err)
	}
	out := importedFile{sums: map[string]money.Amount{}}
	months := map[cost.Month][]bill.Charge{}
	for _, c := range charges {
		m := cost.MonthOf(c.BillingPeriodStart)
		months[m] = append(months[m], c)
		out.sums[c.BillingCurrency] = out.sums[c.BillingCurrency].Add(c.BilledCost)
	}
	account, got := "ca_"+strconv.Itoa(len(name)), map[string]money.Amount{}
	late, corrections := countUnusual(charges)
	for m, charges := range months {
		p := k.commit(cost.Import{AccountID: account, Month: m, Fingerprint: name}, charges)
		out.rows, out.late, out.corrections = out.rows+p.Rows, out.late+p.Late, out.corrections+p.Corrections
		k.addMonth(got, m, account)
	}
	k.Equal(name+": reports", got, out.sums)
	k.Equal(name+": late rows and corrections", []int64{out.late, out.corrections}, []int64{late, corrections})
	return out
}

// countUnusual counts the usage that is dated more than a day outside of its month, and the corrections.
func countUnusual(charges []bill.Charge) (late, corrections int64) {
	for i := range charges {
		c := &charges[i]
		month := firstOf(c.BillingPeriodStart)
		switch at := c.ChargePeriodStart; {
		case c.ChargeClass == bill.Correction:
			corrections++
		case c.ChargeCategory == bill.Usage &&
			(at.AddDate(0, 0, 1).Before(month) || at.AddDate(0, 0, -1).After(month.AddDate(0,
				1, 0))):
			late++
		}
	}
	return late, corrections
}

// commit replaces a month of an account. Each currency is worth one dollar.
func (k *kept) commit(in cost.Import, charges []bill.Charge) cost.Period {
	k.Helper()
	k.Clock.Advance(time.Second)
	in.Org, in.Provider, in.DeliveredAt, in.Rates = apitest.Org, "aws", k.Clock.Now(), map[string]cost.Rate{}
	for i := range charges {
		in.Rates[charges[i].BillingCurrency] = cost.Rate{USD: money.FromInt(1)}
		charges[i].USDRate = money.Amount{}
	}
	b := apitest.Value(cost.New(k.Platform).Begin(k.In(apitest.Org), in))(k)
	for i := range charges {
		k.Must(b.Add(&charges[i]))
	}
	return apitest.Value(b.Commit(k.In(apitest.Org)))(k)
}

// addMonth adds the costs of a month by currency, and checks that those by day, service and resource add up to them.
func (k *kept) addMonth(to map[string]money.Amount, m cost.Month, account string) {
	k.Helper()
	ask := func(daily bool, dims ...string) cost.Answer {
		return apitest.Value(cost.New(k.Platform).Ask(k.In(apitest.Org), apitest.Org, cost.Question{
			From: m.Start(), To: m.End(), Metric: cost.Billed, Dims: dims, Daily: daily,
			Filter: map[string][]string{cost.AccountDim: {account}},
		}))(k)
	}
	a := ask(false, cost.CurrencyDim)
	for _, r := range a.Rows {
		to[r.Keys[0]] = to[r.Keys[0]].Add(r.Amount)
	}
	k.Equal("days", money.Sum(ask(true).Days...), a.Total)
	for _, dims := range [][]string{
		{cost.ServiceDim, cost.RegionDim},
		{cost.ResourceDim},
		{cost.ClassDim, cost.CategoryDim},
	} {
		k.Equal(strings.Join(dims, " "), ask(false, dims...).Total, a.Total)
	}
}
