package billingsync_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// chargeOf returns a row with these dates and this class.
func chargeOf(amount, period, start, class string) string {
	return amount + "," + amount + "," + amount + ",USD,acme," + period + "T00:00:00Z,," + start +
		"T00:00:00Z,,Usage," +
		"Warehouse,Snowflake," + class + "\n"
}

const classHeader = "BilledCost,EffectiveCost,ListCost,BillingCurrency,BillingAccountId,BillingPeriodStart," +
	"BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ServiceName,ProviderName,ChargeClass\n"

// TestUpload_KeepsChargesOfOtherTimesInTheirBillingPeriod: each row counts in the month of its billing period, is
// counted by its class, and keeps its own date as a line item.
func TestUpload_KeepsChargesOfOtherTimesInTheirBillingPeriod(t *testing.T) {
	s := newFixture(t)
	got := s.upload(fields{"vendor": "acme"}, classHeader+
		chargeOf("1", "2026-09-15", "2026-09-20", "")+
		chargeOf("2", "2026-09-15", "2026-10-14", "")+ // the second half of a period from the 15th
		chargeOf("4", "2026-10-01", "2026-09-03", "")+ // learned of late
		chargeOf("-8", "2026-10-01", "2026-01-05", "correction")+
		chargeOf("16", "2026-10-01", "2026-10-31", ""))
	if got.Status != "succeeded" || got.Rows != 5 || got.LateRows != 2 || got.CorrectionRows != 1 {
		t.Fatalf("%+v", got)
	}
	in := s.periods()
	s.Equal("late rows", []int64{in["2026-09"].LateRows, in["2026-10"].LateRows}, []int64{1, 1})
	s.Equal("corrections", []int64{in["2026-09"].CorrectionRows, in["2026-10"].CorrectionRows}, []int64{0, 1})
	s.Equal("September", in["2026-09"].Totals[0].Billed.String(), "3")
	s.Equal("October", in["2026-10"].Totals[0].Billed.String(), "12")
	classes := map[string]string{}
	for _, r := range s.ask(cost.ClassDim).Rows {
		classes[r.Keys[0]] = r.Amount.String()
	}
	s.Equal("classes", classes, map[string]string{"": "17", cost.Late: "6", cost.Correction: "-8"})

	items := apitest.Value(cost.New(s.Platform).LineItems(s.In("org_a"), "org_a", november.Add(-2), november))(s)
	q := costquery.Query{
		From: november.Add(-2).Start(), To: november.Start(), GroupBy: []string{"ChargePeriodStart"},
		Measures: []string{"BilledCost"},
	}
	answer := apitest.Value(billfile.NewLineItemEngine(s.Lines, s.clk).Advance(s.Context(),
		&costquery.Job{Org: "org_a", Query: q, Items: items}))(s).Answer
	days := map[string]string{}
	for _, r := range answer.Rows {
		days[r.Keys[0]] = r.Amounts[0].String()
	}
	s.Equal("own dates", days, map[string]string{
		"2026-09-20": "1", "2026-10-14": "2", "2026-09-03": "4", "2026-01-05": "-8", "2026-10-31": "16",
	})
}

func TestUpload_OfAMonthInTheFutureIsRefused(t *testing.T) {
	s := newFixture(t)
	got := s.upload(fields{"vendor": "acme"}, header+charge("1", "2026-12", "01"))
	s.Equal("the next month", got.Status, "succeeded")
	got = s.upload(fields{"vendor": "acme"}, header+charge("1", "2099-01", "01"))
	if got.Status != "failed" ||
		!strings.Contains(got.Errors[0].Message, "the billing period 2099-01 is in the future; "+
			"the latest that can be imported is 2026-12") {
		t.Errorf("%+v", got)
	}
}

// retold is a simulated cloud whose deliveries a test changes.
type retold struct {
	cloud.Provider
	change func(*cloud.Delivery)
	broken error // of the list of deliveries
}

func (r *retold) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	inner, err := r.Provider.Connect(ctx, a)
	if err != nil {
		return nil, err
	}
	return &retoldConn{inner, inner.(cloud.Biller), r}, nil //nolint:forcetypeassert // the simulated cloud is one
}

type retoldConn struct {
	cloud.Conn
	bills cloud.Biller
	*retold
}

// Deliveries returns the changed deliveries.
func (c *retoldConn) Deliveries(ctx context.Context, from time.Time) ([]cloud.Delivery, error) {
	all, err := c.bills.Deliveries(ctx, from)
	if c.broken != nil {
		return nil, c.broken
	}
	for i := range all {
		if c.change != nil {
			c.change(&all[i])
		}
	}
	return all, err
}

// OpenBill opens a file. The name of a file of the test is its content.
func (c *retoldConn) OpenBill(ctx context.Context, d cloud.Delivery, f cloud.BillFile) (cloud.BillReader, error) {
	if strings.Contains(f.Name, "\n") {
		return content{bytes.NewReader([]byte(f.Name))}, nil
	}
	return c.bills.OpenBill(ctx, d, f)
}

func (*retoldConn) ControlTotal(context.Context, time.Time) (total, currency string, ok bool, err error) {
	return "", "", false, nil
}

// newRetold returns a fixture with an account whose bills were imported, and its cloud, whose next deliveries are new
// for all months.
func newRetold(t *testing.T) (*fixture, *retold) {
	t.Helper()
	how := &retold{}
	s := newFixtureWith(t, cloud.Providers{simulated.Name: how})
	how.Provider = simulated.New(s.Table, s.clk)
	s.connect(settings{"bills": "focus"})
	s.clk.Advance(time.Minute)
	return s, how
}

// replaceFile replaces the files of the delivery of a month.
func replaceFile(month, text string) func(*cloud.Delivery) {
	return func(d *cloud.Delivery) {
		if d.Period.Format("2006-01") == month {
			d.Files, d.Rows, d.Fingerprint = []cloud.BillFile{{Name: text, Size: -1, Rows: -1}}, -1,
				strconv.Itoa(len(text))
			d.DeliveredAt = d.DeliveredAt.Add(time.Hour)
		}
	}
}

func TestDelivery_OfAHeaderAloneLeavesTheMonthAsItWas(t *testing.T) {
	s, how := newRetold(t)
	before := s.periods()["2026-10"]
	how.change = replaceFile("2026-10", header)
	s.verify()
	got := s.status()
	if got.Status != "failed" ||
		!strings.Contains(got.Message, "totals: simulated of 2026-10: its files have no rows, "+
			"only headers, and the month has") {
		t.Errorf("%+v", got)
	}
	s.Equal("October", s.periods()["2026-10"].Fingerprint, before.Fingerprint)
}

func TestDelivery_OfSeveralMonthsThatFailTellsEachOfThem(t *testing.T) {
	s, how := newRetold(t)
	how.change = func(d *cloud.Delivery) {
		replaceFile("2026-10", header+charge("x", "2026-10", "01"))(d)
		replaceFile("2026-08", header)(d)
	}
	s.verify()
	got := s.status()
	if got.Status != "failed" || !strings.Contains(got.Message, `"x"`) ||
		!strings.Contains(got.Message, "; 2026-08 totals: simulated of 2026-08: its files have no rows") {
		t.Errorf("%+v", got)
	}
}

// The messages of thirteen months have no room, so the last months are only named.
func TestDelivery_OfAllMonthsThatFailNamesEachOfThem(t *testing.T) {
	s, how := newRetold(t)
	how.change = func(d *cloud.Delivery) {
		month := d.Period.Format("2006-01")
		replaceFile(month, header+charge("x", month, "01"))(d)
	}
	s.verify()
	got := s.status()
	for n := range 13 {
		if month := november.Add(-n).String(); !strings.Contains(got.Message, month) {
			t.Errorf("%s is missing: %s", month, got.Message)
		}
	}
	if strings.Count(got.Message, "; and 202") < 5 || len(got.Message) > 1300 {
		t.Errorf("%d bytes: %s", len(got.Message), got.Message)
	}
}

func TestDelivery_WithABrokenManifestFails(t *testing.T) {
	s, how := newRetold(t)
	before := s.periods()["2026-10"]
	how.change = func(d *cloud.Delivery) {
		if d.Period.Format("2006-01") == "2026-10" {
			d.Files, d.Broken, d.Notice = nil, true, "s3://bills/daily-Manifest.json: it is not a manifest"
		}
	}
	s.verify()
	got := s.status()
	if got.Status != "failed" ||
		got.Message != "schema: 2026-10: s3://bills/daily-Manifest.json: it is not a manifest" {
		t.Errorf("%+v", got)
	}
	s.Equal("October", s.periods()["2026-10"].Fingerprint, before.Fingerprint)
}

// A new account whose manifests cannot be read does not wait for its first export.
func TestDelivery_WithBrokenManifestsAloneFails(t *testing.T) {
	how := &retold{broken: cloud.ErrInvalid("s3://bills/daily-Manifest.json: it is not a manifest")}
	s := newFixtureWith(t, cloud.Providers{simulated.Name: how})
	how.Provider = simulated.New(s.Table, s.clk)
	s.connect()
	if got := s.status(); got.Status != "failed" || !strings.HasPrefix(got.Message, "schema: ") ||
		!strings.Contains(got.Message, "it is not a manifest") {
		t.Errorf("%+v", got)
	}
}

// TestDelivery_OfOverlappingBillingPeriods: an export of October that also holds the period from September 15 on.
func TestDelivery_OfOverlappingBillingPeriods(t *testing.T) {
	s, how := newRetold(t)
	how.change = replaceFile("2026-10", classHeader+
		chargeOf("1", "2026-09-15", "2026-10-03", "")+chargeOf("2", "2026-10-15", "2026-10-20", "")+
		chargeOf("4", "2026-09-15", "2026-09-27", ""))
	s.verify()
	s.Equal("status", s.status().Message, "")
	p := s.periods()["2026-10"]
	s.Equal("October", p.Totals[0].Billed, money.FromInt(7))
	s.Equal("late rows", p.LateRows, int64(1))
	how.change = replaceFile("2026-10", classHeader+chargeOf("1", "2026-09-01", "2026-09-03", ""))
	s.clk.Advance(time.Hour)
	s.verify()
	if got := s.status(); !strings.Contains(got.Message,
		"the billing period of a charge begins on 2026-09-01, but the "+
			"delivery is of 2026-10") {
		t.Errorf("the bill of another month: %+v", got)
	}
}
