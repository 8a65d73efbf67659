package exporter_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/reports"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/seed"
)

// importLines imports a month of an account with its line items. The rates of currencies that no charge states are
// those of rates.
func (a *fixture) importLines(in cost.Import, lines []bill.Charge, rates map[string]string) {
	a.Helper()
	in.Provider, in.DeliveredAt = "aws", a.Clock.Now()
	in.Fingerprint = fmt.Sprint(in.Month, len(lines), in.DeliveredAt)
	in.Rates = map[string]cost.Rate{}
	for currency, usd := range rates {
		in.Rates[currency] = cost.Rate{USD: money.MustParse(usd), Source: "ecb", Date: "2026-03-01"}
	}
	b := apitest.Value(cost.New(a.Platform).Begin(a.In(in.Org), in))(a)
	w := billfile.NewLineItemWriter(a.Lines, b)
	for i := range lines {
		a.Must(b.Add(&lines[i]))
		a.Must(w.Add(a.In(in.Org), &lines[i]))
	}
	a.Must(w.Close(a.In(in.Org)))
	apitest.Value(b.Commit(a.In(in.Org)))(a)
}

// awkward are texts that a format could change.
var awkward = []string{
	"Amazon EC2", "=HYPERLINK(\"http://evil\")", "'quoted", "'", "-5", "@home", "a,b;c", "line\nbreak", "\ttab",
	"データ", "",
	`"`, "<b>&amp;", "NULLABLE",
}

// randomLine returns a charge of a bill of the month: also a refund, late usage, and one of a billing period from the
// 15th, with amounts of up to 30 places.
func randomLine(r *rand.Rand, m cost.Month) bill.Charge {
	text := func() string { return awkward[r.IntN(len(awkward))] }
	amount := func() money.Amount {
		return money.FromScaled(r.Int64N(1_000_000_000_000)-r.Int64N(3)*200_000_000_000,
			[]int{2, 6, 10, 18, 30}[r.IntN(5)])
	}
	start := m.Start().Add(time.Duration(r.IntN(28*24)) * time.Hour)
	c := bill.Charge{
		BillingPeriodStart: m.Start(), ChargePeriodStart: start, ChargePeriodEnd: start.Add(time.Hour),
		BillingAccountID: "payer", SubAccountID: fmt.Sprint("12345678901", r.IntN(3)), SubAccountName: text(),
		ProviderName: "AWS", PublisherName: text(), InvoiceIssuerName: text(), InvoiceID: text(),
		ChargeCategory:  []string{bill.Usage, bill.Usage, bill.Purchase, bill.Tax, bill.Credit}[r.IntN(5)],
		ChargeFrequency: "Usage-Based", ChargeText: text(), ServiceCategory: "Compute", ServiceName: text(),
		RegionID: "eu-west-1", ResourceID: fmt.Sprint("i-", r.IntN(50)), ResourceName: text(), ResourceType: text(),
		SkuID: text(), PricingCategory: bill.Standard, Unit: "Hours",
		BillingCurrency: []string{cost.USD, "EUR", "JPY", "INR"}[r.IntN(4)],
		BilledCost:      amount(), EffectiveCost: amount(), ListCost: amount(), ContractedCost: amount(),
		Quantity: amount(),
	}
	if c.BillingCurrency == "EUR" {
		c.USDRate = money.MustParse("1.081081081081081")
	}
	switch r.IntN(8) {
	case 0:
		c.ChargePeriodStart = m.Start().AddDate(0, 0, -r.IntN(90))
	case 1:
		c.ChargeClass = bill.Correction
	case 2:
		c.BillingPeriodStart = m.Start().AddDate(0, 0, 14)
	case 3:
		c.Tags = []bill.Tag{{Key: "=a\"b", Value: "=1+1"}, {Key: "aws:env", Value: text()}}
	case 4:
		c.CommitmentID, c.CommitmentStatus = "sp-1", "Used"
	}
	return c
}

// dailySums returns the sums of an organization by day, service, account, class, category and currency.
func (a *fixture) dailySums(org string, from, to cost.Month) map[string]money.Amount {
	a.Helper()
	out := map[string]money.Amount{}
	for _, metric := range cost.Metrics {
		answer := apitest.Value(cost.New(a.Platform).Ask(a.In(org), org, cost.Question{
			From: from.Start(), To: to.End(), Metric: metric, Daily: true, Dims: []string{
				cost.ServiceDim, cost.SubAccountDim, cost.ClassDim, cost.CategoryDim, cost.CurrencyDim,
				cost.ResourceDim,
			},
		}))(a)
		for _, row := range answer.Rows {
			for d, sum := range row.Days.Amounts() {
				if !sum.IsZero() {
					out[fmt.Sprintf("%s %d %q", metric, d, row.Keys)] = sum
				}
			}
		}
		for _, u := range answer.Unconverted {
			out[string(metric)+" unconverted "+u.Currency] = u.Amount
		}
	}
	return out
}

// readLineFile returns the charges of an exported file by month.
func (a *fixture) readLineFile(name string, content []byte) map[cost.Month][]bill.Charge {
	a.Helper()
	out := map[cost.Month][]bill.Charge{}
	_, err := billfile.Read(a.Context(), cloud.FOCUSForm, name, opened{bytes.NewReader(content)},
		func(c *bill.Charge) error {
			m := cost.MonthOf(c.BillingPeriodStart)
			line := *c
			line.Tags = slices.Clone(c.Tags)
			out[m] = append(out[m], line)
			return nil
		})
	a.Must(err)
	return out
}

// TestExport_OfLinesIsEqualAfterItsImport exports random lines of two accounts and two months in each format, imports
// the file into a new organization and compares the sums of each day and every field of the lines.
func TestExport_OfLinesIsEqualAfterItsImport(t *testing.T) {
	r := seed.Random(t)
	february, march := cost.MonthOf(apitest.Start).Add(-1), cost.MonthOf(apitest.Start)
	for _, format := range []string{"csv", "ndjson", "parquet"} {
		t.Run(format, func(t *testing.T) {
			a := newFixture(t)
			rates := map[string]string{"JPY": "0.006711409395973"}
			written := map[cost.Month][]bill.Charge{}
			for _, m := range []cost.Month{february, march} {
				for _, account := range []string{"ca_1", "ca_2"} {
					var lines []bill.Charge
					for range 400 {
						lines = append(lines, randomLine(r, m))
					}
					a.importLines(cost.Import{Org: ours, AccountID: account, Month: m}, lines, rates)
					written[m] = append(written[m], lines...)
				}
			}
			j := a.begin(ada, "detail=lines&from=2026-02-01&to=2026-04-01&format="+format)
			a.Must(a.turn("export", j.JobID))
			got := a.job(j)
			if got.Status != "succeeded" || got.Rows != 1600 || got.Detail != "lines" || len(got.SummedMonths) != 0 {
				t.Fatalf("%+v", got)
			}
			read := a.readLineFile(got.FileName, a.fetch(*got.DownloadURL).Body.Bytes())
			for m, lines := range read {
				compareLines(t, lines, written[m])
				a.importLines(cost.Import{Org: theirs, AccountID: "ca_3", Month: m}, lines, nil)
			}
			want, imported := a.dailySums(ours, february, march), a.dailySums(theirs, february, march)
			if len(want) < 1000 || len(imported) != len(want) {
				t.Errorf("%d sums after the import; want %d", len(imported), len(want))
			}
			for key, sum := range want {
				if imported[key] != sum {
					t.Fatalf("%s is %s after the import; want %s", key, imported[key], sum)
				}
			}
		})
	}
}

// compareLines compares lines in any order, with the rates that bills state.
func compareLines(t *testing.T, got, want []bill.Charge) {
	t.Helper()
	texts := func(lines []bill.Charge) (out []string) {
		for _, c := range lines {
			if c.BillingCurrency == "JPY" {
				c.USDRate = money.Amount{} // it is not on the bill
			}
			out = append(out, fmt.Sprintf("%+v", c))
		}
		slices.Sort(out)
		return out
	}
	g, w := texts(got), texts(want)
	if len(g) != len(w) {
		t.Fatalf("%d lines; want %d", len(g), len(w))
	}
	for i := range w {
		if g[i] != w[i] {
			t.Fatalf("line %s\nwant %s", g[i], w[i])
		}
	}
}

// TestExport_OfLinesSelects compares the sums of filtered exports with the report that the same filter has.
func TestExport_OfLinesSelects(t *testing.T) {
	a := newFixture(t)
	march := cost.MonthOf(apitest.Start)
	var lines []bill.Charge
	r := seed.Random(t)
	for range 500 {
		lines = append(lines, randomLine(r, march))
	}
	a.importLines(cost.Import{Org: ours, AccountID: "ca_1", Month: march}, lines, map[string]string{"JPY": "0.0067"})
	a.bill(theirs, "2026-03", 50)
	for _, query := range []string{
		"period=2026-03", "from=2026-03-05&to=2026-03-06", "from=2026-03-01&to=2026-03-02",
		"from=2026-03-31&to=2026-04-01",
		"period=2026-03&filter[charge_category]=Tax", "period=2026-03&filter[sub_account_id]=123456789011",
		"period=2026-03&filter[currency]=EUR", "period=2026-03&filter[service_name]=data",
		"period=2026-03&filter[service_name]=@home&filter[region]=eu-west-1", "period=2026-03&filter[provider]=gcp",
		"period=2026-03&filter[cloud_account_id]=ca_1", "period=2026-03&filter[cloud_account_id]=ca_2",
	} {
		j := a.begin(ada, "detail=lines&"+query)
		a.Must(a.turn("export", j.JobID))
		got := a.job(j)
		want := apitest.Data[reports.Breakdown](a.Call(ada, "GET /reports/costs/breakdown?"+query))
		if got.BilledUSD == nil || money.MustParse(*got.BilledUSD).Fixed(2) != want.TotalUSD {
			t.Errorf("%s: %+v; want %s", query, got, want.TotalUSD)
		}
		rows := apitest.Value(
			csv.NewReader(bytes.NewReader(a.unzip(a.fetch(*got.DownloadURL).Body.Bytes()))).ReadAll())(a)
		if int64(len(rows)) != got.Rows+1 || len(rows[0]) != 35 {
			t.Errorf("%s: %d rows of %d columns; want %d", query, len(rows)-1, len(rows[0]), got.Rows)
		}
	}
	for query, says := range map[string]string{
		"detail=lines&filter[team_id]=x": "team_id", "detail=lines&filter[tag:env]=x": "provider, cloud_account_id",
		"detail=all": "days",
	} {
		a.Call(ada, "GET /reports/export?"+query).Want(http.StatusBadRequest, says)
	}
	inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(1)...)
	team := inventorytest.Team(a.Fixture, ours, "Shop")
	a.Call(apitest.Caller(ours, "tom", "viewer team:"+team), "GET /reports/export?detail=lines").
		Want(http.StatusForbidden, "whole organization")
}

// TestExport_OfLinesOfMonthsWithoutThem has a month with line items, and one in which one of two bills has none.
func TestExport_OfLinesOfMonthsWithoutThem(t *testing.T) {
	a := newFixture(t)
	february, march := cost.MonthOf(apitest.Start).Add(-1), cost.MonthOf(apitest.Start)
	r := seed.Random(t)
	usd := func(m cost.Month) (out []bill.Charge) {
		for range 50 {
			c := randomLine(r, m)
			c.BillingCurrency, c.USDRate = cost.USD, money.Amount{}
			out = append(out, c)
		}
		return out
	}
	a.bill(ours, "2026-02", 3) // of ca_1
	a.importLines(cost.Import{Org: ours, AccountID: "ca_2", Month: february}, usd(february), nil)
	a.importLines(cost.Import{Org: ours, AccountID: "ca_2", Month: march}, usd(march), nil)
	j := a.begin(ada, "detail=lines&from=2026-02-01&to=2026-04-01")
	a.Must(a.turn("export", j.JobID))
	got := a.job(j)
	a.Equal("months by day", strings.Join(got.SummedMonths, " "), "2026-02")
	want := apitest.Data[reports.Breakdown](a.Call(ada, "GET /reports/costs/breakdown?from=2026-02-01&to=2026-04-01"))
	a.Equal("total", money.MustParse(*got.BilledUSD).Fixed(2), want.TotalUSD)
	read := a.readLineFile(got.FileName, a.fetch(*got.DownloadURL).Body.Bytes())
	a.Equal("lines of March", len(read[march]), 50)
	var sum money.Amount
	for _, m := range []cost.Month{february, march} {
		for i := range read[m] {
			sum = sum.Add(read[m][i].BilledCost)
		}
	}
	a.Equal("sum of the file", sum.String(), *got.BilledUSD)
}

// TestExport_OfLinesLeavesEstimatesOut: estimates are on no bill.
func TestExport_OfLinesLeavesEstimatesOut(t *testing.T) {
	a := newFixture(t)
	march := cost.MonthOf(apitest.Start)
	line := bill.Charge{
		BillingPeriodStart: march.Start(), ChargePeriodStart: march.Start(), ChargeCategory: bill.Usage,
		BillingCurrency: cost.USD, BilledCost: money.FromInt(5),
	}
	a.importLines(cost.Import{Org: ours, AccountID: "ca_1", Month: march}, []bill.Charge{line}, nil)
	estimate := line
	estimate.ChargePeriodStart, estimate.BilledCost = march.Start().AddDate(0, 0, 3), money.FromInt(7)
	b := apitest.Value(cost.New(a.Platform).Begin(a.In(ours), cost.Import{
		Org: ours, AccountID: "ca_1", Provider: "aws", Month: march, Estimated: true, Fingerprint: "estimate",
		DeliveredAt: a.Clock.Now(),
	}))(a)
	a.Must(b.Add(&estimate))
	apitest.Value(b.Commit(a.In(ours)))(a)
	report := apitest.Data[reports.Breakdown](a.Call(ada, "GET /reports/costs/breakdown?period=2026-03"))
	a.Equal("the report with the estimate", report.TotalUSD, "12.00")
	j := a.begin(ada, "detail=lines&period=2026-03")
	a.Must(a.turn("export", j.JobID))
	a.Equal("the lines of bills", *a.job(j).BilledUSD, "5")
}

// TestExport_OfLinesThatChangeMeanwhileIsNone writes the line items of another amount than the sums.
func TestExport_OfLinesThatChangeMeanwhileIsNone(t *testing.T) {
	a := newFixture(t)
	march := cost.MonthOf(apitest.Start)
	line := bill.Charge{
		BillingPeriodStart: march.Start(), ChargePeriodStart: march.Start(), ChargeCategory: bill.Usage,
		BillingCurrency: cost.USD, BilledCost: money.FromInt(5),
	}
	b := apitest.Value(cost.New(a.Platform).Begin(a.In(ours), cost.Import{
		Org: ours, AccountID: "ca_1", Provider: "aws", Month: march, Fingerprint: "1", DeliveredAt: a.Clock.Now(),
	}))(a)
	w := billfile.NewLineItemWriter(a.Lines, b)
	a.Must(b.Add(&line))
	line.BilledCost = money.MustParse("5.000000000000000000000000000001")
	a.Must(w.Add(a.In(ours), &line))
	a.Must(w.Close(a.In(ours)))
	apitest.Value(b.Commit(a.In(ours)))(a)
	j := a.begin(ada, "detail=lines&period=2026-03")
	if err := a.turn("export", j.JobID); err == nil || !strings.Contains(err.Error(), "costs have changed") {
		t.Errorf("got %v", err)
	}
}
