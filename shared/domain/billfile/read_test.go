package billfile_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/billfile"
)

// describe formats totals, one line for each month and currency.
func describe(t billfile.Totals) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows", t.Rows)
	for _, m := range t.Months {
		fmt.Fprintf(&b, "; %s %s %d: %v %v %v", m.Month.Format("2006-01"), m.Currency, m.Charges, m.Billed, m.Effective,
			m.List)
	}
	return b.String()
}

func TestRead_Totals(t *testing.T) {
	sample := "1000 rows; 2024-09 USD 999: 20.28022672899 14.97651418586 20.15090575119; 2024-10 USD 1: 0.24 0 0.24"
	cases := []struct{ name, file, want string }{
		{"FOCUS in csv.gz", "focus/focus_1.0_sample_1000.csv.gz", sample},
		{"FOCUS in Parquet with tags in JSON", "focus/focus_1.0_sample_1000.snappy.parquet", sample},
		{"FOCUS in Parquet with a map of tags", "focus/focus_1.0_sample_1000_tagsmap.snappy.parquet", sample},
		{
			"a legacy report", "aws-cur/legacy_cur_anonymised_2023-11.csv.gz",
			"1281 rows; 2023-11 USD 1281: 1.6823086974 1.6823086974 3.3561726949",
		},
		{
			"a manifest's month is not that of the rows",
			"aws-cur/legacy_cur_koku-local/20180801-20180901/16e57707-f9e3-49be-8be6-b84e684b5194/koku-local-1.csv.gz",
			"13380 rows; 2018-06 USD 3300: 34649.973272612318255145698 34649.973272612318255145698 " +
				"34649.973272612318255145698" +
				"; 2018-07 USD 9304: 100267.738649643334767685352 100267.738649643334767685352 " +
				"100267.738649643334767685352" +
				"; 2018-08 USD 776: 8310.05175593196199516 8310.05175593196199516 8310.05175593196199516",
		},
		{
			"rows that leave out empty fields at their end", "aws-cur/koku_test_cur.csv",
			"19 rows; 2018-06 USD 19: 0.0827499841274349353 0.0827499841274349353 0.0827499841274349353",
		},
		{"columns as Athena has them", "aws-cur/koku_2022-07-01-alt-columns.csv", "2 rows; 2022-07 USD 2: 0 0 0"},
		{"a savings plan that covers all, in kroner", "aws-cur/koku_2023-06-01.csv", "3 rows; 2023-06 NOK 3: 0 0.3 30"},
		{"a header without rows", "aws-cur/koku_empty_frame.csv", "0 rows"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, totals, err := readAll("", c.file, readData(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(totals); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
