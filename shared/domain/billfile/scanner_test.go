package billfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

// FuzzScanner checks that the scanner splits arbitrary input like encoding/csv, for every size of reads.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"", "a", "a,b\n1,2\n", "a,b\r\n1,2\r\n", "\n\na\n\n", "a,\n,\n", `"a","b""c","d` + "\n" + `e"`,
		"\"a\r\nb\"\r\n", "a\rb,c\r", "\"\"\"\"\n",
		"a\"b", "\"a\"b", "\"a", "\"", "\r", "\r\n", "x\r\r\n", ",", "\"a\"\r", "aaaaaaa,-bbbbbbb,#\x0b,\n\x01",
		"é,\"ü\"\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, failed := expected(b)
		for _, r := range []io.Reader{
			bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b)),
			iotest.DataErrReader(bytes.NewReader(b)),
		} {
			got, err := scanned(r)
			if failed != (err != nil) || !failed && !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%q: got %q (%v), want %q (an error: %t)", b, got, err, want, failed)
			}
		}
	})
}

func expected(b []byte) (records [][]string, failed bool) {
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	return records, err != nil
}

func scanned(r io.Reader) (records [][]string, err error) {
	s := newScanner(r)
	for {
		fields, err := s.next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		var record []string
		for _, f := range fields {
			record = append(record, string(f))
		}
		records = append(records, record)
	}
}

func TestScanner_LongRows(t *testing.T) {
	long := bytes.Repeat([]byte("x"), MaxRowBytes-10)
	got, err := scanned(bytes.NewReader(slices.Concat([]byte("a,b\n"), long, []byte(",1\n2,3\n"))))
	if err != nil || len(got) != 3 || len(got[1][0]) != len(long) || got[2][1] != "3" {
		t.Errorf("%d records: %v", len(got), err)
	}
}

// FuzzPlainName checks that a column is found by each spelling of its name, without a panic.
func FuzzPlainName(f *testing.F) {
	for _, s := range []string{
		"lineItem/UsageAmount", "line_item_usage_amount", "Ressourcengruppe (ResourceGroup)",
		"(", ")", "a(b", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if once := plainName(s); plainName(once) != once {
			t.Errorf("%q is %q at first, then %q", s, once, plainName(once))
		}
	})
}

func TestPlainName(t *testing.T) {
	for _, s := range []string{
		"lineItem/UsageAmount", "line_item_usage_amount", "LineItemUsageAmount",
		"Nutzung (lineItemUsageAmount)",
	} {
		if got := plainName(s); got != "lineitemusageamount" {
			t.Errorf("%q is %q", s, got)
		}
	}
}
