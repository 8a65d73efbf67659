package costquery

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/focus"
	"lamplighter.dev/shared/foundation/money"
)

// columns are the columns that can be asked for, under their names in FOCUS 1.2.
var columns = map[string]func(*focus.Charge) string{
	"BillingAccountId":         func(c *focus.Charge) string { return c.BillingAccountID },
	"SubAccountId":             func(c *focus.Charge) string { return c.SubAccountID },
	"SubAccountName":           func(c *focus.Charge) string { return c.SubAccountName },
	"ProviderName":             func(c *focus.Charge) string { return c.ProviderName },
	"PublisherName":            func(c *focus.Charge) string { return c.PublisherName },
	"InvoiceIssuerName":        func(c *focus.Charge) string { return c.InvoiceIssuerName },
	"InvoiceId":                func(c *focus.Charge) string { return c.InvoiceID },
	"BillingPeriodStart":       func(c *focus.Charge) string { return c.BillingPeriodStart.Format("2006-01") },
	"ChargePeriodStart":        func(c *focus.Charge) string { return c.ChargePeriodStart.Format(time.DateOnly) },
	"ChargeCategory":           func(c *focus.Charge) string { return c.ChargeCategory },
	"ChargeClass":              func(c *focus.Charge) string { return c.ChargeClass },
	"ChargeFrequency":          func(c *focus.Charge) string { return c.ChargeFrequency },
	"ChargeDescription":        func(c *focus.Charge) string { return c.ChargeText },
	"ServiceCategory":          func(c *focus.Charge) string { return c.ServiceCategory },
	"ServiceName":              func(c *focus.Charge) string { return c.ServiceName },
	"RegionId":                 func(c *focus.Charge) string { return c.RegionID },
	"ResourceId":               func(c *focus.Charge) string { return c.ResourceID },
	"ResourceName":             func(c *focus.Charge) string { return c.ResourceName },
	"ResourceType":             func(c *focus.Charge) string { return c.ResourceType },
	"SkuId":                    func(c *focus.Charge) string { return c.SkuID },
	"PricingCategory":          func(c *focus.Charge) string { return c.PricingCategory },
	"PricingUnit":              func(c *focus.Charge) string { return c.Unit },
	"CommitmentDiscountId":     func(c *focus.Charge) string { return c.CommitmentID },
	"CommitmentDiscountStatus": func(c *focus.Charge) string { return c.CommitmentStatus },
	"BillingCurrency":          func(c *focus.Charge) string { return c.BillingCurrency },
}

// currency is always a column of the answer when an amount of money is asked for: amounts of two currencies are never added.
const currency = "BillingCurrency"

const tagPrefix = "Tags."

// Columns lists the columns that can be asked for, in order; besides there is Tags.<key>.
func Columns() []string { return slices.Sorted(maps.Keys(columns)) }

func columnOf(name string) (func(*focus.Charge) string, bool) {
	if key, ok := strings.CutPrefix(name, tagPrefix); ok && key != "" && len(key) <= maxValueSize && isText(key) {
		return func(c *focus.Charge) string { return tagOf(c, key) }, true
	}
	get, ok := columns[name]
	return get, ok
}

func tagOf(c *focus.Charge, key string) string {
	for _, t := range c.Tags {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// measures are what can be added up.
var measures = map[string]func(*focus.Charge) money.Amount{
	"BilledCost":      func(c *focus.Charge) money.Amount { return c.BilledCost },
	"EffectiveCost":   func(c *focus.Charge) money.Amount { return c.EffectiveCost },
	"ListCost":        func(c *focus.Charge) money.Amount { return c.ListCost },
	"PricingQuantity": func(c *focus.Charge) money.Amount { return c.Quantity },
	"Count":           func(*focus.Charge) money.Amount { return money.FromInt(1) },
}

// Measures lists what can be added up, in order.
func Measures() []string { return slices.Sorted(maps.Keys(measures)) }
