package bill

import (
	"slices"

	"lamplighter.dev/shared/domain/focus"
	"lamplighter.dev/shared/foundation/fault"
)

// focusLayout is FOCUS 1.0 to 1.2: its columns are those of a charge.
type focusLayout struct {
	row focus.Charge
	out focus.Charge // what take sees: the row stays as it was read, for the next one is filled over it
}

func (l *focusLayout) bindings([]string) []binding {
	c := &l.row
	return []binding{
		needed(amount(&c.BilledCost, "BilledCost")), needed(amount(&c.EffectiveCost, "EffectiveCost")),
		amount(&c.ListCost, "ListCost"), amount(&c.ContractedCost, "ContractedCost"), amount(&c.Quantity, "PricingQuantity"),
		needed(text(&c.BillingCurrency, "BillingCurrency")), needed(text(&c.ChargeCategory, "ChargeCategory")),
		needed(at(&c.BillingPeriodStart, "BillingPeriodStart")), needed(at(&c.ChargePeriodStart, "ChargePeriodStart")),
		at(&c.ChargePeriodEnd, "ChargePeriodEnd"),
		text(&c.BillingAccountID, "BillingAccountId"), text(&c.SubAccountID, "SubAccountId"), text(&c.SubAccountName, "SubAccountName"),
		text(&c.ProviderName, "ProviderName"), text(&c.PublisherName, "PublisherName"),
		text(&c.InvoiceIssuerName, "InvoiceIssuerName"), text(&c.InvoiceID, "InvoiceId"),
		text(&c.ChargeClass, "ChargeClass"), text(&c.ChargeFrequency, "ChargeFrequency"), text(&c.ChargeText, "ChargeDescription"),
		text(&c.ServiceCategory, "ServiceCategory"), text(&c.ServiceName, "ServiceName"), text(&c.RegionID, "RegionId"),
		text(&c.ResourceID, "ResourceId"), text(&c.ResourceName, "ResourceName"), text(&c.ResourceType, "ResourceType"),
		text(&c.SkuID, "SkuId"), text(&c.PricingCategory, "PricingCategory"), text(&c.Unit, "PricingUnit"),
		text(&c.CommitmentID, "CommitmentDiscountId"), text(&c.CommitmentStatus, "CommitmentDiscountStatus"),
		tags(&c.Tags, "Tags"),
	}
}

// categories are the values that FOCUS allows in ChargeCategory.
var categories = []string{focus.Usage, focus.Purchase, focus.Tax, focus.Credit, focus.Adjustment}

func (l *focusLayout) emit(to *reading) error {
	if !slices.Contains(categories, l.row.ChargeCategory) {
		return fault.New(fault.Invalid, "column \"ChargeCategory\": %.40q is none of Usage, Purchase, Tax, Credit, Adjustment", l.row.ChargeCategory)
	}
	l.out = l.row
	return to.put(&l.out)
}
