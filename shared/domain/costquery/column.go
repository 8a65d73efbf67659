package costquery

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// columns are the columns that a question may name, under their names in FOCUS 1.2.
var columns = map[string]func(*bill.Charge) string{
	"BillingAccountId":         func(c *bill.Charge) string { return c.BillingAccountID },
	"SubAccountId":             func(c *bill.Charge) string { return c.SubAccountID },
	"SubAccountName":           func(c *bill.Charge) string { return c.SubAccountName },
	"ProviderName":             func(c *bill.Charge) string { return c.ProviderName },
	"PublisherName":            func(c *bill.Charge) string { return c.PublisherName },
	"InvoiceIssuerName":        func(c *bill.Charge) string { return c.InvoiceIssuerName },
	"InvoiceId":                func(c *bill.Charge) string { return c.InvoiceID },
	"BillingPeriodStart":       func(c *bill.Charge) string { return c.BillingPeriodStart.Format("2006-01") },
	"ChargePeriodStart":        func(c *bill.Charge) string { return c.ChargePeriodStart.Format(time.DateOnly) },
	"ChargeCategory":           func(c *bill.Charge) string { return c.ChargeCategory },
	"ChargeClass":              func(c *bill.Charge) string { return c.ChargeClass },
	"ChargeFrequency":          func(c *bill.Charge) string { return c.ChargeFrequency },
	"ChargeDescription":        func(c *bill.Charge) string { return c.ChargeText },
	"ServiceCategory":          func(c *bill.Charge) string { return c.ServiceCategory },
	"ServiceName":              func(c *bill.Charge) string { return c.ServiceName },
	"RegionId":                 func(c *bill.Charge) string { return c.RegionID },
	"ResourceId":               func(c *bill.Charge) string { return c.ResourceID },
	"ResourceName":             func(c *bill.Charge) string { return c.ResourceName },
	"ResourceType":             func(c *bill.Charge) string { return c.ResourceType },
	"SkuId":                    func(c *bill.Charge) string { return c.SkuID },
	"PricingCategory":          func(c *bill.Charge) string { return c.PricingCategory },
	"PricingUnit":              func(c *bill.Charge) string { return c.Unit },
	"CommitmentDiscountId":     func(c *bill.Charge) string { return c.CommitmentID },
	"CommitmentDiscountStatus": func(c *bill.Charge) string { return c.CommitmentStatus },
	"BillingCurrency":          func(c *bill.Charge) string { return c.BillingCurrency },
}

// currency is always a column of the answer if a question sums money, because amounts of different currencies are
// never added.
const currency = "BillingCurrency"

const tagPrefix = "Tags."

// Columns returns the columns that a question may name, sorted. Tags.<key> is permitted in addition.
func Columns() []string { return slices.Sorted(maps.Keys(columns)) }

func columnOf(name string) (func(*bill.Charge) string, bool) {
	if key, ok := strings.CutPrefix(name, tagPrefix); ok && key != "" && len(key) <= maxValueSize && isText(key) {
		return func(c *bill.Charge) string { return tagOf(c, key) }, true
	}
	get, ok := columns[name]
	return get, ok
}

func tagOf(c *bill.Charge, key string) string {
	for _, t := range c.Tags {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// measures are the columns that can be summed.
var measures = map[string]func(*bill.Charge) money.Amount{
	"BilledCost":      func(c *bill.Charge) money.Amount { return c.BilledCost },
	"EffectiveCost":   func(c *bill.Charge) money.Amount { return c.EffectiveCost },
	"ListCost":        func(c *bill.Charge) money.Amount { return c.ListCost },
	"PricingQuantity": func(c *bill.Charge) money.Amount { return c.Quantity },
	"Count":           func(*bill.Charge) money.Amount { return money.FromInt(1) },
}

// Measures returns the columns that can be summed, sorted.
func Measures() []string { return slices.Sorted(maps.Keys(measures)) }
