package billfile_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/chargeblocks"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// plainRow has the types of files by other programs, without dictionaries.
type plainRow struct {
	BilledCost         float64   `parquet:"BilledCost,optional"`
	EffectiveCost      string    `parquet:"EffectiveCost"`
	ListCost           *float64  `parquet:"ListCost,optional"`
	PricingQuantity    int64     `parquet:"PricingQuantity,decimal(3:18)"`
	BillingCurrency    string    `parquet:"BillingCurrency"`
	ChargeCategory     string    `parquet:"ChargeCategory,optional"`
	BillingPeriodStart time.Time `parquet:"BillingPeriodStart,timestamp(millisecond)"`
	ChargePeriodStart  string    `parquet:"ChargePeriodStart"`
	ServiceName        *string   `parquet:"ServiceName,optional"`
	SubAccountID       int64     `parquet:"SubAccountId,optional"`
	ResourceID         *string   `parquet:"ResourceId,optional"`
	Tags               *string   `parquet:"Tags,optional"`
}

// wordRow has the same columns with dictionaries.
type wordRow struct {
	BilledCost         float64           `parquet:"BilledCost,dict"`
	EffectiveCost      [16]byte          `parquet:"EffectiveCost,decimal(10:38),dict"`
	ListCost           *float64          `parquet:"ListCost,optional,dict"`
	PricingQuantity    *int32            `parquet:"PricingQuantity,optional,dict"`
	BillingCurrency    string            `parquet:"BillingCurrency,dict"`
	ChargeCategory     string            `parquet:"ChargeCategory,dict"`
	BillingPeriodStart time.Time         `parquet:"BillingPeriodStart,timestamp(nanosecond),dict"`
	ChargePeriodStart  time.Time         `parquet:"ChargePeriodStart,timestamp(microsecond),dict"`
	ServiceName        *string           `parquet:"ServiceName,optional,dict"`
	SubAccountID       string            `parquet:"SubAccountId,optional,dict"`
	ResourceID         *string           `parquet:"ResourceId,optional,dict"`
	Tags               map[string]string `parquet:"Tags,optional"`
}

// oddTexts are texts that readers convert specially.
var oddTexts = []string{"", "NULL", "null", "nulls", "ä", "\xff\xfe", "\xc3", "\xa4", "EC2", strings.Repeat("long", 90)}

func randomText(r *rand.Rand) *string {
	if r.IntN(4) == 0 {
		return nil
	}
	text := oddTexts[r.IntN(len(oddTexts))]
	if r.IntN(2) == 0 {
		text += strconv.Itoa(r.IntN(3000))
	}
	return &text
}

func randomFloat(r *rand.Rand) *float64 {
	if r.IntN(4) == 0 {
		return nil
	}
	v := float64(r.IntN(2000)-1000) / float64(1+r.IntN(7))
	return &v
}

func randomPlainRow(r *rand.Rand) plainRow {
	at := time.Date(2026, 3, 1+r.IntN(31), r.IntN(24), 0, 0, 0, time.UTC)
	row := plainRow{
		BilledCost: 1 + r.Float64(), EffectiveCost: strconv.Itoa(r.IntN(9)) + "." + strconv.Itoa(r.IntN(1_000_000)),
		ListCost: randomFloat(r), PricingQuantity: r.Int64N(1e9), BillingCurrency: "USD", ChargeCategory: "Usage",
		BillingPeriodStart: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), ChargePeriodStart: at.Format(time.RFC3339),
		ServiceName: randomText(r), SubAccountID: r.Int64N(5), ResourceID: randomText(r),
	}
	if r.IntN(2) == 0 {
		tags := fmt.Sprintf(`{"team": "t%d"}`, r.IntN(50))
		row.Tags = &tags
	}
	return row
}

func randomWordRow(r *rand.Rand) wordRow {
	row := wordRow{
		BilledCost: float64(r.IntN(100)) / 8, ListCost: randomFloat(r),
		BillingCurrency: []string{"USD", "EUR"}[r.IntN(2)], ChargeCategory: "Tax",
		BillingPeriodStart: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		ChargePeriodStart:  time.Date(2026, 3, 1+r.IntN(31), 0, 0, 0, 0, time.UTC),
		ServiceName:        randomText(r), SubAccountID: strconv.Itoa(r.IntN(5)), ResourceID: randomText(r),
	}
	row.EffectiveCost[15-r.IntN(8)] = byte(r.IntN(256))
	if r.IntN(3) == 0 {
		n := int32(r.IntN(9))
		row.PricingQuantity = &n
	}
	for range r.IntN(3) {
		row.Tags = map[string]string{"team": "t" + strconv.Itoa(r.IntN(50)), "env": oddTexts[r.IntN(len(oddTexts))]}
	}
	return row
}

// manyRows are several blocks.
const manyRows = 9000

// randomParquet writes up to most rows with pages, row groups, dictionaries and page headers of any kind.
func randomParquet[T any](t testing.TB, r *rand.Rand, most int, row func(*rand.Rand) T) []byte {
	t.Helper()
	rows := make([]T, 1+r.IntN(most))
	for i := range rows {
		rows[i] = row(r)
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.PageBufferSize(32<<r.IntN(12)), parquet.DataPageVersion(1+r.IntN(2)),
		parquet.MaxRowsPerRowGroup(int64(1+r.IntN(9000))), parquet.Compression(&parquet.Snappy),
		parquet.DictionaryMaxBytes(int64(128<<r.IntN(12))))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// randomLineItems writes up to most charges as we do, including amounts that do not fit into their columns.
func randomLineItems(t testing.TB, r *rand.Rand, most int) []byte {
	t.Helper()
	charges := make([]bill.Charge, 1+r.IntN(most))
	for i := range charges {
		charges[i] = randomCharge(r)
	}
	return writeParquet(t, charges)
}

// TestReadBlocks_AgreesWithRead compares each value of each column with that of the charge that Read returns.
func TestReadBlocks_AgreesWithRead(t *testing.T) {
	race.SkipSequential(t)
	r := seed.Random(t)
	for range 12 {
		for name, file := range map[string][]byte{
			"values":       randomParquet(t, r, manyRows, randomPlainRow),
			"dictionaries": randomParquet(t, r, manyRows, randomWordRow),
			"line items":   randomLineItems(t, r, manyRows),
		} {
			if !compareBlocks(t, name, file) {
				t.Fatalf("%s: Read refuses the file", name)
			}
		}
	}
	for _, name := range []string{"focus.csv", "focus.ndjson"} {
		compareBlocks(t, name, fixture(t, name))
	}
	compareBlocks(t, "empty columns", writeParquet(t, []bill.Charge{{
		BillingCurrency: "USD", ChargeCategory: bill.Tax, BillingPeriodStart: importedMonth.Start(),
		ChargePeriodStart: importedMonth.Start(),
	}}))
}

// compareBlocks compares the blocks of a file with the charges of Read. It returns false if Read refuses the file.
func compareBlocks(t testing.TB, name string, file []byte) bool {
	t.Helper()
	charges, totals, err := readAll(cloud.FOCUSForm, name, file)
	if err != nil {
		return false
	}
	var want, got []string
	_ = chargeblocks.FromCharges(charges...)(func(b *bill.Block) error {
		want = append(want, describeRows(b)...)
		return nil
	})
	columns := append(bill.Columns(), billfile.ExactAmounts)
	blocks, err := billfile.ReadBlocks(context.Background(), columns, name, inMemory(file), func(b *bill.Block) error {
		got = append(got, describeRows(b)...)
		return nil
	})
	if err != nil || blocks.Rows != totals.Rows {
		t.Fatalf("%s: %d rows of %d: %v", name, blocks.Rows, totals.Rows, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s, row %d:\nblocks %s\nRead   %s", name, i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
	}
	return true
}

// describeRows formats all columns of each row.
func describeRows(b *bill.Block) []string {
	out := make([]string, b.Rows)
	for row := range out {
		var line strings.Builder
		for _, name := range bill.Columns() {
			switch {
			case b.Texts[name] != nil:
				fmt.Fprintf(&line, "%s=%q ", name, b.Texts[name].At(row))
			case b.Times[name] != nil:
				fmt.Fprintf(&line, "%s=%s ", name, b.Times[name].At(row).UTC().Format(time.RFC3339Nano))
			case b.Amounts[name] != nil:
				fmt.Fprintf(&line, "%s=%s ", name, b.Amounts[name].At(row))
			default:
				fmt.Fprintf(&line, "%s=%q ", name, b.Tags.At(row))
			}
		}
		out[row] = line.String()
	}
	return out
}

// TestReadBlocks_OfDamagedFiles changes some bytes of files.
func TestReadBlocks_OfDamagedFiles(t *testing.T) {
	race.SkipSequential(t)
	r := seed.Random(t)
	for range 100 {
		for _, file := range [][]byte{
			randomParquet(t, r, 20, randomPlainRow), randomParquet(t, r, 20, randomWordRow), randomLineItems(t, r, 20),
		} {
			for range 1 + r.IntN(3) {
				file[r.IntN(len(file))] = byte(r.IntN(256))
			}
			checkBlocks(t, file)
		}
	}
}

// checkBlocks checks that ReadBlocks agrees with Read where that reads the file, and otherwise reports errors as errors
// of the file.
func checkBlocks(t *testing.T, file []byte) {
	t.Helper()
	if compareBlocks(t, "f", file) {
		return
	}
	_, err := billfile.ReadBlocks(t.Context(), slices.Concat(bill.Columns(), []string{billfile.ExactAmounts}), "f",
		inMemory(file), func(*bill.Block) error { return nil })
	if err != nil && !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

// FuzzReadBlocks reads arbitrary bytes with checkBlocks.
func FuzzReadBlocks(f *testing.F) {
	r := seed.Fixed(f, 1, 2)
	f.Add(randomParquet(f, r, 20, randomPlainRow))
	f.Add(randomParquet(f, r, 20, randomWordRow))
	f.Add(randomLineItems(f, r, 20))
	f.Add(fixture(f, "focus.csv"))
	f.Fuzz(checkBlocks)
}
