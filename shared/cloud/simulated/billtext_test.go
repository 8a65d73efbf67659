package simulated

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"runtime"
	"strconv"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// An import reads all files of a bill. If each took the work of the whole bill, a bill would take the square of its
// size.
func TestBills_OpenAFileWithoutTheWorkOfTheOthers(t *testing.T) {
	allocated := map[int]float64{}
	for _, size := range []int{2 * nodesInFile, 20 * nodesInFile} {
		b := biller(t, billedAt, map[string]string{"size": strconv.Itoa(size), "bills": "focus"})
		all, err := b.Deliveries(t.Context(), billedAt)
		if err != nil || len(all) != 1 || len(all[0].Files) != size/nodesInFile+1 {
			t.Fatalf("%d resources: %d deliveries, %v", size, len(all), err)
		}
		allocated[size] = testing.AllocsPerRun(1, func() {
			r, err := b.OpenBill(t.Context(), all[0], all[0].Files[0])
			if err != nil {
				t.Fatal(err)
			}
			if _, err = io.Copy(io.Discard, r); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocated[2*nodesInFile], allocated[20*nodesInFile]; many > few*1.05 {
		t.Errorf("a file of %d resources takes %.0f allocations in an account of 10 times as many, and %.0f alone",
			nodesInFile, many, few)
	}
}

func TestBills_MakeAFileWhileItIsRead(t *testing.T) {
	b := biller(t, billedAt, map[string]string{"size": strconv.Itoa(nodesInFile), "bills": "focus"})
	all, err := b.Deliveries(t.Context(), billedAt)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := b.OpenBill(t.Context(), all[0], all[0].Files[0])
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Read(make([]byte, 1000))
	runtime.ReadMemStats(&after)
	took := after.TotalAlloc - before.TotalAlloc
	rest, _ := io.Copy(io.Discard, r)
	if err != nil || rest < 10<<20 || took > 2<<20 {
		t.Errorf("the first 1,000 bytes of a file allocate %d, the rest has %d: %v", took, rest, err)
	}
}

// A delivery has the fingerprint of its settings, so its text must stay too.
func TestBills_KeepTheirText(t *testing.T) {
	for _, tt := range []struct {
		form, label, want string
	}{
		{"cur", "", "38cda1a5897886ea2c642e7c2c295f0423f1226e228a4a3cf9cb6b8cb76aff0f"},
		{"focus", "", "9a449a628ab2f7abf72169152437af15b1876bd8ea7ca28be8fec3912dbf2e57"},
		{"cur", "a,\"b", "6709834926d2fb9b16160ad016aec795d047ef6895eeaf4f371da8b8cd1c53aa"},
		{"focus", "a,\"b", "c1b3b2bf969971673eabb42f285cbc2228ae1207c320dfe249682675345dbbf8"},
	} {
		b := biller(t, billedAt, map[string]string{"size": "300", "kinds": "*", "bills": tt.form, "label": tt.label})
		all, err := b.Deliveries(t.Context(), billedAt.AddDate(0, -1, 0))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		for _, d := range all {
			for _, f := range d.Files {
				unpack(t, b, d, f, sum)
			}
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != tt.want {
			t.Errorf("%s with the label %q has the sum %s; want %s", tt.form, tt.label, got, tt.want)
		}
	}
}

// unpack writes the text of a file of a bill.
func unpack(t *testing.T, b cloud.Biller, d cloud.Delivery, f cloud.BillFile, to io.Writer) {
	t.Helper()
	r, err := b.OpenBill(t.Context(), d, f)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(to, z); err != nil {
		t.Fatal(err)
	}
}

func TestAppendDecimal_IsTheTextOfTheAmount(t *testing.T) {
	for _, n := range []int64{
		0, 1, -1, 10, 999_999_999, 1_000_000_000, -1_000_000_001, 1_050_000_000, 12_340_000_000, math.MaxInt64,
		-math.MaxInt64,
	} {
		if got, want := string(appendDecimal(nil, n, 9)), nanoDollars(n).String(); got != want {
			t.Errorf("%d: %s; want %s", n, got, want)
		}
	}
	if got := string(appendDecimal(nil, 23_280, 3)); got != "23.28" {
		t.Errorf("23280 thousandths: %s", got)
	}
}
