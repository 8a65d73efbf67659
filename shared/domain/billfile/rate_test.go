package billfile_test

import "testing"

func TestRead_RatesAreThoseThatTheRowTells(t *testing.T) {
	const (
		azure = "SubscriptionId,Date,Cost,BillingCurrency,Quantity,MeterCategory,PricingCurrency," +
			"exchangeRatePricingToBilling,costInUsd,paygCostInUsd\n"
		google = "billing_account_id,project.id,invoice.month,usage_start_time,usage_end_time,service.description," +
			"cost,currency,currency_conversion_rate\n"
		focus = "BilledCost,EffectiveCost,BillingCurrency,BillingPeriodStart,ChargePeriodStart,ChargeCategory," +
			"x_PricingCurrency,x_BillingExchangeRate,x_BilledCostInUsd\n"
	)
	for name, tt := range map[string]struct{ content, want string }{
		"Azure, from what it is priced in":     {azure + "s,2026-03-02,10,EUR,1,VM,USD,0.8,99,\n", "1.25"},
		"Azure, priced in usd in lower case":   {azure + "s,2026-03-02,10,eur,1,VM,usd,0.8,,\n", "1.25"},
		"Azure, from what it costs in dollars": {azure + "s,2026-03-02,10,EUR,1,VM,EUR,1,12.5,\n", "1.25"},
		"Azure, a cost too small to tell":      {azure + "s,2026-03-02,0.009,EUR,1,VM,EUR,1,0.01,\n", "0"},
		"Azure, a credit":                      {azure + "s,2026-03-02,-10,EUR,1,VM,EUR,1,-12.5,\n", "0"},
		"Azure, without":                       {azure + "s,2026-03-02,10,EUR,1,VM,,,,\n", "0"},
		"Google": {google +
			"b,p,202603,2026-03-02 00:00:00 UTC,2026-03-03 00:00:00 UTC,GCE,10,EUR,0.8\n", "1.25"},
		"FOCUS of Azure": {focus +
			"10,10,EUR,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,Usage,USD,0.8,99\n", "1.25"},
		"FOCUS of Azure, between other currencies": {focus +
			"10,10,EUR,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,Usage,GBP,0.8,12.5\n", "1.25"},
		"FOCUS of Azure, in lower case": {focus +
			"10,10,eur,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,Usage,usd,0.8,\n", "1.25"},
		"FOCUS without": {focus +
			"10,10,EUR,2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,Usage,,,\n", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			charges, _, err := readAll("", "bill.csv", []byte(tt.content))
			if err != nil || len(charges) != 1 {
				t.Fatal(len(charges), err)
			}
			if got := charges[0].USDRate; got.String() != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
