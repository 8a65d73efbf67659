package billfile_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// changed returns the FOCUS fixture with a text replaced once.
func changed(t *testing.T, from, to string) []byte {
	t.Helper()
	b := fixture(t, "focus.csv")
	if !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%q is not in it", from)
	}
	return bytes.Replace(b, []byte(from), []byte(to), 1)
}

func TestRead_BadInput(t *testing.T) {
	sample := fixture(t, "focus.csv")
	header, _, _ := bytes.Cut(sample, []byte("\n"))
	parquet := writeParquet(t, sampleCharges(t))
	cases := []struct {
		name string
		file []byte
		want string
	}{
		{
			"a row with a field too many", append(slices.Clone(sample), strings.Repeat(",", 21)+"\n"...),
			"f, row 3: the row has 22 fields, the header 21",
		},
		{"a row that is cut off", sample[:len(sample)-60], "f, row 2: the row has 9 fields, the header 21"},
		{
			"a quote in the middle of a field", changed(t, "Oracle", `Or"acle`),
			"f, row 1: a quote within a field that does not begin with one",
		},
		{
			"a quote that is not doubled", changed(t, `"Block, Volume"`, `"Block" Volume`),
			"f, row 1: a quote within a quoted field that is not doubled",
		},
		{
			"a quote that is not closed", changed(t, `"{""team"": ""web"", ""n"": 3}"`, `"{`),
			"f, row 1: the file ends within quotes",
		},
		{
			"an amount that is none", changed(t, "1.50", "$1.50"),
			`f, row 1: column "BilledCost": "$1.50" is not an amount`,
		},
		{
			"an amount with a comma in it", changed(t, "1.50", `"1,50"`),
			`f, row 1: column "BilledCost": "1,50" is not an amount`,
		},
		{"no amount", changed(t, "1.50", ""), `f, row 1: column "BilledCost": it is empty, and must not be`},
		{
			"a time that is none", changed(t, "2026-03-02 10:00:00", "2026-02-30 10:00:00"),
			`f, row 1: column "ChargePeriodStart": "2026-02-30 10:00:00" is not a time`,
		},
		{
			"no billing period", changed(t, "2026-03-01 00:00:00", ""),
			`f, row 1: column "BillingPeriodStart": it is empty, and must not be`,
		},
		{"a currency that is none", changed(t, "USD", "MC"), `f, row 1: "MC" is not a currency`},
		{"no currency", changed(t, "USD", ""), `f, row 1: "" is not a currency`},
		{
			"a category that is none", changed(t, "Usage", "Use"),
			`f, row 1: column "ChargeCategory": "Use" is none of Usage, Purchase`,
		},
		{
			"tags that are none", changed(t, `"{""team"": ""web"", ""n"": 3}"`, "web"),
			`f, row 1: column "Tags": "{web}" is not a JSON object of tags`,
		},
		{
			"a column is missing", changed(t, "BillingCurrency", "Currency"),
			"f: columns are missing: BillingCurrency; export all columns",
		},
		{
			"a column is there twice", changed(t, "ContractedCost", "billed_cost"),
			`f: the column "billed_cost" is there twice`,
		},
		{"columns of no bill", []byte("a,b\n1,2\n"), "f: columns of no known bill: a, b; deliver one of azure_actual"},
		{
			"too many columns", []byte(strings.Repeat("a,", 2000) + "a\n"),
			"f: a header of 2001 columns; at most 2000 are read",
		},
		{
			"a row of more than a megabyte", append(slices.Clone(sample), `"`+strings.Repeat("x", 2<<20)...),
			"f, row 3: a row of more than 1048576 bytes",
		},
		{"UTF-16", []byte("\xff\xfea\x00"), "f: the file is UTF-16; deliver it as UTF-8"},
		{"a gzip that is cut off", zipped(sample)[:200], "f, row 1: the file is cut off here"},
		{"a gzip that is damaged", damage(zipped(sample), -6), "f, row 3: gzip: invalid checksum"},
		{"a zip of two files", zipArchive(t, sample, sample), "f: a zip of 2 files"},
		{"a zip that is cut off", zipArchive(t, sample)[:300], "f: zip: not a valid zip file"},
		{"JSON that is cut off", fixture(t, "google.json")[:1300], "f, row 4: the file is cut off here"},
		{"JSON of something else", []byte(`{"a":1}`), "f: columns of no known bill: a"},
		{
			"a JSON object of more than a megabyte", []byte(`{"a":"` + strings.Repeat("x", 2<<20) + `"}`),
			"f: a JSON object of more than 1048576 bytes",
		},
		{
			"credits that are none",
			bytes.Replace(fixture(t, "google.json"), []byte(`"credits":[]`), []byte(`"credits":"x"`), 1),
			`f, row 2: column "credits": "x" is not a JSON list of credits`,
		},
		{"Parquet that is cut off", parquet[:len(parquet)/2], "f: open the Parquet file, which may be cut off"},
		{
			"Parquet without a row's amount", parquetOf(t, lacking{BillingCurrency: "USD"}),
			`f: columns are missing: ChargeCategory, ChargePeriodStart; export all columns`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readAll(cloud.FOCUSForm, "f", c.file)
			if strings.Contains(c.name, "no bill") || strings.Contains(c.name, "JSON") ||
				strings.Contains(c.name, "credits") {
				_, _, err = readAll("", "f", c.file)
			}
			if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(fault.Message(err), c.want) {
				t.Errorf("got  %v\nwant %s (invalid)", err, c.want)
			}
		})
	}
	if _, totals, err := readAll("", "f", append(header, '\n')); err != nil || totals.Rows != 0 {
		t.Errorf("a header without rows: %d rows, %v", totals.Rows, err)
	}
	if _, totals, err := readAll("", "f", nil); err != nil || totals.Rows != 0 {
		t.Errorf("an empty file: %d rows, %v", totals.Rows, err)
	}
}

func sampleCharges(t *testing.T) []bill.Charge {
	t.Helper()
	charges, _, err := readAll("", "focus.csv", fixture(t, "focus.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return charges
}

func damage(b []byte, at int) []byte {
	b[len(b)+at] ^= 0xff
	return b
}

func zipArchive(t *testing.T, files ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for range files {
		w, err := z.Create("bill.csv")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRead_Zip(t *testing.T) {
	want, _, _ := readAll("", "plain", fixture(t, "focus.csv"))
	got, _, err := readAll("", "zip", zipArchive(t, fixture(t, "focus.csv")))
	if err != nil || len(got) != len(want) {
		t.Errorf("%d charges, want %d: %v", len(got), len(want), err)
	}
}

// TestRead_OthersErrors checks that errors of take and of the network are kept apart from errors in the file.
func TestRead_OthersErrors(t *testing.T) {
	read := func(r cloud.BillReader, take func(*bill.Charge) error) error {
		_, err := billfile.Read(context.Background(), "", "f", r, take)
		return err
	}
	file := fixture(t, "focus.csv")
	lost := fault.New(fault.Unavailable, "the table does not answer")
	if err := read(inMemory(file), func(*bill.Charge) error { return lost }); !errors.Is(err, lost) {
		t.Errorf("the taker's error became %v", err)
	}
	other := fault.New(fault.Invalid, "a row of 2026-03 in a bill of 2026-02")
	err := read(inMemory(file), func(*bill.Charge) error { return other })
	if got := fault.Message(err); !fault.Is(err, fault.Invalid) ||
		got != "f, row 1: a row of 2026-03 in a bill of 2026-02" {
		t.Errorf("what is invalid to the taker became %q", got)
	}
	if err := read(broken{inMemory(file)}, ignore); fault.Is(err, fault.Invalid) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("an error of the network became %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := billfile.Read(ctx, "", "f", inMemory(file), ignore); !errors.Is(err, context.Canceled) {
		t.Errorf("reading was not canceled: %v", err)
	}
}

// answer is the response of a query: it can only be read sequentially.
type answer struct{ io.Reader }

func (answer) ReadAt([]byte, int64) (int, error) { return 0, io.ErrNoProgress }
func (answer) Size() int64                       { return -1 }
func (answer) Close() error                      { return nil }

func TestRead_AnswersOfQueries(t *testing.T) {
	for _, b := range [][]byte{fixture(t, "focus.ndjson"), zipped(fixture(t, "focus.csv")), fixture(t, "focus.csv")} {
		totals, err := billfile.Read(context.Background(), cloud.FOCUSForm, "f", answer{bytes.NewReader(b)}, ignore)
		if err != nil || totals.Rows != 2 {
			t.Errorf("%d rows: %v", totals.Rows, err)
		}
	}
	if _, err := billfile.Read(context.Background(), "", "f",
		answer{bytes.NewReader(writeParquet(t, sampleCharges(t)))},
		ignore); err == nil {
		t.Error("Parquet was read from its beginning")
	}
}

func ignore(*bill.Charge) error { return nil }

// broken is a file whose reads fail after some bytes.
type broken struct{ cloud.BillReader }

func (b broken) Read(p []byte) (int, error) {
	n, _ := b.BillReader.Read(p[:min(len(p), 100)])
	if n < 100 {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// FuzzRead reads arbitrary bytes. Read must not panic, and must report every error as an error of the file.
func FuzzRead(f *testing.F) {
	for _, name := range []string{
		"focus.csv", "cur.csv", "cur_net.csv", "cur2.csv", "azure.csv", "google.json",
		"focus.ndjson",
	} {
		f.Add(fixture(f, name))
		f.Add(zipped(fixture(f, name)))
	}
	charges, _, _ := readAll("", "focus.csv", fixture(f, "focus.csv"))
	f.Add(writeParquet(f, charges))
	f.Add([]byte("Cost (BilledCost),ChargePeriodStart\n1,2"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, form := range []cloud.BillForm{"", cloud.LegacyCURForm} {
			if _, _, err := readAll(form, "f", b); err != nil && !fault.Is(err, fault.Invalid) {
				t.Errorf("%v", err)
			}
		}
	})
}
