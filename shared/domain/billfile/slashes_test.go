package billfile_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// focusRow returns a file in FOCUS form with one row, with the given dates and currency.
func focusRow(start, end, charge, currency string) []byte {
	return []byte("BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,BillingPeriodStart,BillingPeriodEnd," +
		"ChargePeriodStart\n1,1," + currency + ",Usage," + start + "," + end + "," + charge + "\n")
}

func TestRead_DatesWithSlashesOfFOCUS(t *testing.T) {
	cases := []struct{ name, start, end, charge, want, says string }{
		{
			"the billing period is a month with the month first", "4/1/2026", "5/1/2026", "4/3/2026",
			"2026-04-01 2026-04-03", "",
		},
		{
			"the billing period is a month with the day first", "1/4/2026", "1/5/2026", "3/4/2026",
			"2026-04-01 2026-04-03", "",
		},
		{"years of two digits", "4/1/26", "5/1/26", "4/3/26 10:00", "2026-04-01 2026-04-03", ""},
		{"a day after the 12th", "2026-03-01", "", "3/15/2026", "2026-03-01 2026-03-15", ""},
		{"a day after the 12th, first", "2026-03-01", "", "15/3/2026", "2026-03-01 2026-03-15", ""},
		{
			"a charge that can be of March or of January", "2026-03-01", "2026-04-01", "1/3/2026", "",
			`"1/3/2026" is not a date of FOCUS`,
		},
		{"a period without its end", "3/1/2026", "", "3/1/2026", "", "day and month cannot be told apart"},
		{"dates that are the same in both orders", "1/1/2026", "2/2/2026", "1/1/2026", "2026-01-01 2026-01-01", ""},
		{"no date at all", "2026-03-01", "", "a/b/c", "", `"a/b/c" is not a date`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			charges, _, err := readAll("focus", "f", focusRow(c.start, c.end, c.charge, "USD"))
			if c.says != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), c.says) {
					t.Errorf("%v; want %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := charges[0].BillingPeriodStart.Format(time.DateOnly) + " " +
				charges[0].ChargePeriodStart.Format(time.DateOnly)
			if got != c.want {
				t.Errorf("%s; want %s", got, c.want)
			}
		})
	}
}

func TestRead_CurrenciesInLowerCase(t *testing.T) {
	charges, totals, err := readAll("focus", "f", focusRow("2026-03-01", "", "2026-03-02", "usd"))
	if err != nil || charges[0].BillingCurrency != "USD" || totals.Months[0].Currency != "USD" {
		t.Errorf("%+v, %+v, %v", charges, totals, err)
	}
}

func TestRead_FilesOfOtherKindsAreNamed(t *testing.T) {
	columns := "BilledCost;EffectiveCost;BillingCurrency\n1,5;1,5;EUR\n"
	var workbook bytes.Buffer
	z := zip.NewWriter(&workbook)
	for _, name := range []string{"[Content_Types].xml", "xl/workbook.xml"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content string
		says    string
	}{
		"a PDF":        {"%PDF-1.7\n%\xe2\xe3", "it is a PDF document"},
		"an HTML page": {"\n <!DOCTYPE html><html>", "it is an HTML or XML page"},
		"a JSON array": {
			"\ufeff[\n{\"BilledCost\": 1}]",
			"it is a JSON array; deliver one JSON object on each line",
		},
		"semicolons": {columns, "its columns are separated by semicolons"},
		"semicolons, quoted": {
			`"BilledCost";"EffectiveCost";"BillingCurrency"` + "\n",
			"its columns are separated by semicolons",
		},
		"tabs":                {strings.ReplaceAll(columns, ";", "\t"), "its columns are separated by tabs"},
		"an Excel workbook":   {workbook.String(), "it is an Excel workbook; save its sheet as CSV UTF-8"},
		"columns are missing": {"BilledCost,EffectiveCost\n1,1\n", "columns are missing: BillingCurrency"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, content := range [][]byte{[]byte(c.content), gzipped(t, []byte(c.content))} {
				if name == "an Excel workbook" || name == "a PDF" {
					content = []byte(c.content) // these are packed already
				}
				_, _, err := readAll("focus", "f", content)
				if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), c.says) {
					t.Errorf("%v; want %q", err, c.says)
				}
			}
		})
	}
}
