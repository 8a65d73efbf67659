package billfile_test

import (
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
