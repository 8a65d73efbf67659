package billfile_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// lacking is a file without some required columns of a bill.
type lacking struct {
	BilledCost, EffectiveCost float64
	BillingCurrency           string
	BillingPeriodStart        int64 `parquet:"BillingPeriodStart,timestamp"`
}

func parquetOf[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// curRow is a row of CUR 2.0 as AWS delivers it in Parquet.
type curRow struct {
	Start    time.Time         `parquet:"bill_billing_period_start_date,timestamp(millisecond)"`
	Payer    string            `parquet:"bill_payer_account_id,optional"`
	Type     string            `parquet:"line_item_line_item_type,optional,dict"`
	Currency string            `parquet:"line_item_currency_code,optional,dict"`
	Account  int64             `parquet:"line_item_usage_account_id"`
	Usage    time.Time         `parquet:"line_item_usage_start_date,timestamp(nanosecond)"`
	Cost     *float64          `parquet:"line_item_unblended_cost,optional"`
	Net      *float64          `parquet:"line_item_net_unblended_cost,optional"`
	List     float32           `parquet:"pricing_public_on_demand_cost"`
	Amount   int32             `parquet:"line_item_usage_amount"`
	Product  map[string]string `parquet:"product,optional"`
	Tags     map[string]string `parquet:"resource_tags,optional"`
}

func TestRead_ParquetOfAWS(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	cost, net := 0.1, 0.09
	rows := []curRow{
		{
			Start: start, Payer: "1", Type: "Usage", Currency: "USD", Account: 200000000002,
			Usage: start.Add(26 * time.Hour), Cost: &cost,
			Net: &net, List: 0.2, Amount: 3, Product: map[string]string{"product_name": "EC2", "region": "us-east-1"},
			Tags: map[string]string{"user_team": "web", "aws_created_by": "Root"},
		},
		{Start: start, Type: "Tax", Currency: "USD", Account: 200000000002, Usage: start, Cost: &cost},
	}
	charges, totals, err := readAll(cloud.CUR2Form, "cur", parquetOf(t, rows...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(totals), "2 rows; 2026-03 USD 2: 0.19 0.19 0.2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := `{"BilledCost":"0.09","BillingAccountID":"1","BillingCurrency":"USD",` +
		`"BillingPeriodStart":"2026-03-01T00:00:00Z",` +
		`"ChargeCategory":"Usage","ChargeFrequency":"Usage-Based","ChargePeriodStart":"2026-03-02T02:00:00Z",` +
		`"EffectiveCost":"0.09",` +
		`"ListCost":"0.2","PricingCategory":"Standard","ProviderName":"AWS","Quantity":"3","RegionID":"us-east-1",` +
		`"ServiceName":"EC2",` +
		`"SubAccountID":"200000000002","Tags":[{"Key":"aws:created_by","Value":"Root"},{"Key":"team","Value":"web"}]}` +
		"\n"
	if got := lines(t, charges[:1]); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	rows[0].Cost = nil
	_, _, err = readAll(cloud.CUR2Form, "cur", parquetOf(t, rows...))
	if got := fault.Message(
		err); got != `cur, row 1: row group 1: column "line_item_unblended_cost": it is empty, and must not be` {
		t.Errorf("a row without a cost: %s", got)
	}
}

// otherTypes has types that other programs write: Spark's times, dates, and decimals in integers.
type otherTypes struct {
	BilledCost         int64            `parquet:"BilledCost,decimal(4:18)"`
	EffectiveCost      int32            `parquet:"EffectiveCost,decimal(2:9)"`
	ListCost           string           `parquet:"ListCost"`
	BillingCurrency    string           `parquet:"BillingCurrency"`
	ChargeCategory     string           `parquet:"ChargeCategory"`
	BillingPeriodStart int32            `parquet:"BillingPeriodStart,date"`
	ChargePeriodStart  deprecated.Int96 `parquet:"ChargePeriodStart"`
	ChargePeriodEnd    string           `parquet:"ChargePeriodEnd"`
}

func TestRead_ParquetOfOthers(t *testing.T) {
	row := otherTypes{
		-12345, 7, "1E-3", "USD", "Usage", int32(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400),
		deprecated.Int96{0, 3_600_000_000_000 >> 32 & 0xffffffff, 2461102},
		"2026-03-03",
	}
	row.ChargePeriodStart[0] = uint32(3_600_000_000_000 & 0xffffffff)
	charges, _, err := readAll("", "others", parquetOf(t, row))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"BilledCost":"-1.2345","BillingCurrency":"USD","BillingPeriodStart":"2026-03-01T00:00:00Z",` +
		`"ChargeCategory":"Usage",` +
		`"ChargePeriodEnd":"2026-03-03T00:00:00Z","ChargePeriodStart":"2026-03-02T01:00:00Z","EffectiveCost":"0.07",` +
		`"ListCost":"0.001"}` + "\n"
	if got := lines(t, charges); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
