package billingsync_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

const azureHeader = "Date,BillingPeriodStartDate,CostInBillingCurrency,BillingCurrency,MeterCategory,ChargeType\n"

func azureRow(cost string) string { return "2026-10-05,2026-10-01," + cost + ",USD,Storage,Usage\n" }

// replaceFiles replaces the files of the delivery of October by an hour's later ones.
func replaceFiles(hour int, change func(*cloud.Delivery), files ...cloud.BillFile) func(*cloud.Delivery) {
	return func(d *cloud.Delivery) {
		if d.Period.Format("2006-01") != "2026-10" {
			return
		}
		d.Files, d.Rows, d.Fingerprint = files, -1, strconv.Itoa(hour)
		d.DeliveredAt = d.DeliveredAt.Add(time.Duration(hour) * time.Hour)
		change(d)
	}
}

func textFile(form cloud.BillForm, text string) cloud.BillFile {
	return cloud.BillFile{Name: text, Size: -1, Rows: -1, Form: form}
}

// A file of several months without a charge of October is no reason to empty October.
func TestDelivery_OfSeveralMonthsWithoutAChargeOfOneLeavesItAsItWas(t *testing.T) {
	s, how := newRetold(t)
	before := s.periods()["2026-10"]
	how.change = replaceFiles(1, func(d *cloud.Delivery) { d.Shared = true },
		textFile("", header+charge("1", "2026-09", "03")))
	s.verify()
	if got := s.status(); got.Status != "failed" || !strings.Contains(got.Message,
		"its files have 1 rows, but no charge of this month, and the month has") {
		t.Errorf("%+v", got)
	}
	s.Equal("October", s.periods()["2026-10"].Fingerprint, before.Fingerprint)
}

// Azure delivers actual and amortized cost in two files. When one of them is only a header, half of the month's amounts
// would become 0.
func TestDelivery_OfOneOfTwoCostsLeavesTheMonthAsItWas(t *testing.T) {
	full := azureHeader + azureRow("3")
	for name, tt := range map[string]struct{ actual, amortized, want, says string }{
		"both":              {full, full, "2", ""},
		"no actual cost":    {azureHeader, full, "1", "its files of actual cost come to 0, and the month has 3.00 USD"},
		"no amortized cost": {full, azureHeader, "1", "its files of amortized cost come to 0, and the month has 3.00"},
		"both costs are 0":  {azureHeader + azureRow("0"), azureHeader + azureRow("0"), "2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, how := newRetold(t)
			deliver := func(hour int, actual, amortized string) {
				how.change = replaceFiles(hour, func(d *cloud.Delivery) { d.Form = cloud.AzureActualForm },
					textFile(cloud.AzureActualForm, actual), textFile(cloud.AzureAmortizedForm, amortized))
				s.clk.Advance(time.Hour)
				s.verify()
			}
			deliver(1, full, full)
			s.Equal("status", s.status().Message, "")
			deliver(2, tt.actual, tt.amortized)
			s.Equal("October", s.periods()["2026-10"].Fingerprint, tt.want)
			if got := s.status(); !strings.Contains(got.Message, tt.says) || tt.says == "" && got.Message != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}
