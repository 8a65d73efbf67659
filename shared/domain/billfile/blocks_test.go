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

// randomParquet writes rows with pages, row groups, dictionaries and page headers of any kind.
func randomParquet[T any](t testing.TB, r *rand.Rand, row func(*rand.Rand) T) []byte {
	t.Helper()
	rows := make([]T, r.IntN(9000))
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

// randomLineItems writes charges as we do, including amounts that do not fit into their columns.
func randomLineItems(t testing.TB, r *rand.Rand) []byte {
	t.Helper()
	charges := make([]bill.Charge, r.IntN(9000))
	for i := range charges {
		charges[i] = randomCharge(r)
	}
	return writeParquet(t, charges)
}

// TestReadBlocks_AgreesWithRead compares each value of each column with that of the charge that Read returns.
func TestReadBlocks_AgreesWithRead(t *testing.T) {
	r := seed.Random(t)
	for range 12 {
		for name, file := range map[string][]byte{
			"values": randomParquet(t, r, randomPlainRow), "dictionaries": randomParquet(t, r, randomWordRow),
			"line items": randomLineItems(t, r),
		} {
			if !compareBlocks(t, name, file) {
				t.Fatalf("%s: Read refuses the file", name)
			}
		}
	}
	for _, name := range []string{"focus.csv", "focus.ndjson"} {
		compareBlocks(t, name, fixture(t, name))
	}
}

// compareBlocks compares the blocks of a file with the charges of Read. It returns false if Read refuses the file.
func compareBlocks(t testing.TB, name string, file []byte) bool {
	t.Helper()
	charges, totals, err := readAll(cloud.FOCUSForm, name, file)
	if err != nil {
		return false
	}
	var want, got []string
	_ = chargeblocks.Of(charges...)(func(b *bill.Block) error {
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

// TestNumbering_AgreesWithTexts checks that rows of different blocks have the same number if their texts are equal.
func TestNumbering_AgreesWithTexts(t *testing.T) {
	r := seed.Random(t)
	numbering := bill.NewNumbering(func(s string) string { return s })
	found := map[string]int32{}
	for range 4 {
		file := randomParquet(t, r, randomWordRow)
		columns := []string{"ResourceId"}
		_, err := billfile.ReadBlocks(t.Context(), columns, "f", inMemory(file), func(b *bill.Block) error {
			c := b.Texts["ResourceId"]
			numbering.Use(c)
			for row := range b.Rows {
				text, n := strings.Clone(c.At(row)), numbering.At(row)
				if was, ok := found[text]; ok && was != n || numbering.Text(n) != text {
					t.Fatalf("%q has the number %d, after %d, of %q", text, n, was, numbering.Text(n))
				}
				found[text] = n
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if numbering.Len() != len(found) || len(found) < 2 {
		t.Errorf("%d numbers of %d texts", numbering.Len(), len(found))
	}
}

// TestBlock_Keep leaves rows out of all columns, and does not change the blocks that follow.
func TestBlock_Keep(t *testing.T) {
	file := randomParquet(t, seed.Random(t), randomWordRow)
	charges, _, err := readAll(cloud.FOCUSForm, "f", file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	totals, err := billfile.ReadBlocks(t.Context(), bill.Columns(), "f", inMemory(file), func(b *bill.Block) error {
		var odd []int32
		for row := 1; row < b.Rows; row += 2 {
			odd = append(odd, int32(row))
		}
		whole := describeRows(b)
		b.Keep(odd)
		kept := describeRows(b)
		for i, row := range odd {
			if kept[i] != whole[row] {
				t.Fatalf("row %d: %s, want %s", row, kept[i], whole[row])
			}
		}
		got = append(got, whole...)
		return nil
	})
	if err != nil || len(got) != len(charges) || totals.Rows != int64(len(charges)) {
		t.Errorf("%d rows, %d counted, of %d: %v", len(got), totals.Rows, len(charges), err)
	}
}

// FuzzReadBlocks reads arbitrary bytes. ReadBlocks must not panic, must report every error as an error of the file, and
// must agree with Read where that reads the file.
func FuzzReadBlocks(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	f.Add(randomParquet(f, r, randomPlainRow))
	f.Add(randomParquet(f, r, randomWordRow))
	f.Add(randomLineItems(f, r))
	f.Add(fixture(f, "focus.csv"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if compareBlocks(t, "f", file) {
			return
		}
		_, err := billfile.ReadBlocks(t.Context(), slices.Concat(bill.Columns(), []string{billfile.ExactAmounts}), "f",
			inMemory(file), func(*bill.Block) error { return nil })
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
	})
}
