package gcptwin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The answers of this file are those that an engine of SQL gives over the same rows; TestTwin_AnswersLikeAnEngine of
// package gcp compares them.

// partitions returns, for each month and day since that day, how many rows there are and when the last of them came.
// Rows that are still in the streaming buffer have no day yet.
func (t BillingTable) partitions(since string) []map[string]string {
	counts, last := map[[2]string]int{}, map[[2]string]string{}
	month := strings.ReplaceAll(since, "-", "")[:6]
	for _, r := range t.Rows {
		if at := [2]string{r.Month, r.Partition}; r.Month >= month && (r.Partition >= since || r.Partition == "") {
			counts[at]++
			last[at] = max(last[at], r.Exported)
		}
	}
	var out []map[string]string
	for at, n := range counts {
		out = append(out,
			map[string]string{"month": at[0], "day": at[1], "exported": last[at], "content": strconv.Itoa(n)})
	}
	slices.SortFunc(out, func(a, b map[string]string) int {
		return strings.Compare(a["month"]+a["day"], b["month"]+b["day"])
	})
	return out
}

var categories = map[string]string{"regular": "Usage", "tax": "Tax"}

// billed returns the charges of a month in the partitions of these days: sums by day, price, resource and labels, and a
// row for each credit.
func (t BillingTable) billed(month, from, to string) []map[string]string {
	sums := lineSums{}
	for _, r := range t.Rows {
		within := r.Partition == "" || r.Partition >= from && r.Partition <= to
		if r.Month != month || !within {
			continue
		}
		sums.add(t.usageLine(r), r.Cost, r.Cost)
		for name, amount := range r.Credits {
			sums.add(t.creditLine(r, name), amount, "0")
		}
	}
	var out []map[string]string
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, sums[key])
	}
	return out
}

// lineSums are the lines of a bill by their texts.
type lineSums map[string]map[string]string

func (s lineSums) add(line map[string]string, cost, list string) {
	key := fmt.Sprint(line)
	if s[key] == nil {
		line["BilledCost"], line["ListCost"], line["PricingQuantity"] = "0", "0", "0"
		s[key] = line
	}
	sum := s[key]
	sum["BilledCost"] = money.MustParse(sum["BilledCost"]).Add(money.MustParse(cost)).String()
	sum["ListCost"] = money.MustParse(sum["ListCost"]).Add(money.MustParse(list)).String()
	sum["EffectiveCost"] = sum["BilledCost"]
}

// usageLine returns the texts of a row's own line.
func (t BillingTable) usageLine(r BillingRow) map[string]string {
	line := t.sharedLine(r)
	line["ChargeCategory"], line["ChargeDescription"] = categories[r.CostType], r.SKU
	line["ChargeClass"], line["ChargeFrequency"], line["PricingCategory"] = "", "", ""
	switch r.CostType {
	case "regular":
		line["ChargeFrequency"], line["PricingCategory"] = "Usage-Based", "Standard"
		if strings.HasPrefix(r.SKU, "Spot Preemptible") {
			line["PricingCategory"] = "Dynamic"
		}
	case "adjustment":
		line["ChargeClass"] = "Correction"
	}
	if line["ChargeCategory"] == "" {
		line["ChargeCategory"] = "Adjustment"
	}
	return line
}

// creditLine returns the texts of the line of a credit.
func (t BillingTable) creditLine(r BillingRow, name string) map[string]string {
	line := t.sharedLine(r)
	line["ChargeCategory"], line["ChargeDescription"], line["PricingUnit"] = "Credit", name, ""
	line["ChargeClass"], line["ChargeFrequency"], line["PricingCategory"] = "", "", ""
	return line
}

// sharedLine returns the texts that a row's own line and those of its credits share. Columns that are null are missing.
func (t BillingTable) sharedLine(r BillingRow) map[string]string {
	day, _ := time.Parse(time.DateOnly, r.Day)
	line := map[string]string{
		"BillingAccountId": "01-AB", "SubAccountId": r.Project, "PublisherName": "Google Cloud",
		"ServiceName": r.Service, "SkuId": r.SKU, "RegionId": r.Region, "BillingCurrency": r.Currency,
		"ChargePeriodStart": r.Day + "T00:00:00Z", "ChargePeriodEnd": day.AddDate(0, 0, 1).Format(time.RFC3339),
		"Tags": r.Labels,
	}
	if slices.Contains(t.Columns, "resource") {
		line["ResourceId"] = r.Resource
	} else {
		line["ResourceId"], line["ResourceName"] = "", ""
	}
	if !slices.Contains(t.Columns, "currency_conversion_rate") {
		line["x_CurrencyConversionRate"] = ""
	}
	if slices.Contains(t.Columns, "tags") {
		line["Tags"] = withNamespace(r.Labels)
	}
	return line
}

// withNamespace returns labels as the list of labels and tags has them.
func withNamespace(labels string) string {
	var list []struct {
		Namespace string  `json:"namespace"`
		Key       *string `json:"key"`
		Value     *string `json:"value"`
	}
	if err := json.Unmarshal([]byte(labels), &list); err != nil || list == nil {
		return "[]"
	}
	text, _ := json.Marshal(list) // cannot fail: it was JSON before
	return string(text)
}
