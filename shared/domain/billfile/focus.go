package billfile

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// focusLayout is FOCUS 1.0 to 1.2. Its columns are the fields of a charge.
type focusLayout struct {
	row             bill.Charge
	pricingCurrency string
	rate            usdRate // from columns that Azure, our query of Google's table and our exports add
	escaped         string  // escapedByApostrophe in CSV files of our exports
	period          slashedPeriod
	exact           string      // amounts that do not fit into their columns: see lineItem
	out             bill.Charge // passed to take; a copy, because the next row reuses the fields of the one read
}

func newFOCUSLayout() layout { return &focusLayout{} }

func (l *focusLayout) bindings([]string) []binding {
	c := &l.row
	return []binding{
		needed(amount(&c.BilledCost, "BilledCost")), needed(amount(&c.EffectiveCost, "EffectiveCost")),
		amount(&c.ListCost, "ListCost"), amount(&c.ContractedCost, "ContractedCost"),
		amount(&c.Quantity, "PricingQuantity"),
		needed(text(&c.BillingCurrency, "BillingCurrency")), needed(text(&c.ChargeCategory, "ChargeCategory")),
		needed(unslashed(at(&c.BillingPeriodStart, "BillingPeriodStart"), &l.period.start)),
		unslashed(at(&l.period.endTime, "BillingPeriodEnd"), &l.period.end),
		needed(unslashed(at(&c.ChargePeriodStart, "ChargePeriodStart"), &l.period.chargeStart)),
		unslashed(at(&c.ChargePeriodEnd, "ChargePeriodEnd"), &l.period.chargeEnd),
		text(&c.BillingAccountID, "BillingAccountId"), text(&c.SubAccountID, "SubAccountId"),
		text(&c.SubAccountName, "SubAccountName"),
		text(&c.ProviderName, "ProviderName"), text(&c.PublisherName, "PublisherName"),
		text(&c.InvoiceIssuerName, "InvoiceIssuerName"), text(&c.InvoiceID, "InvoiceId"),
		text(&c.ChargeClass, "ChargeClass"), text(&c.ChargeFrequency, "ChargeFrequency"),
		text(&c.ChargeText, "ChargeDescription"),
		text(&c.ServiceCategory, "ServiceCategory"), text(&c.ServiceName, "ServiceName"), text(&c.RegionID, "RegionId"),
		text(&c.ResourceID, "ResourceId"), text(&c.ResourceName, "ResourceName"), text(&c.ResourceType, "ResourceType"),
		text(&c.SkuID, "SkuId"), text(&c.PricingCategory, "PricingCategory"), text(&c.Unit, "PricingUnit"),
		text(&c.CommitmentID, "CommitmentDiscountId"), text(&c.CommitmentStatus, "CommitmentDiscountStatus"),
		text(&l.pricingCurrency, "x_PricingCurrency", "PricingCurrency"),
		amount(&l.rate.perDollar, "x_BillingExchangeRate", "x_CurrencyConversionRate"),
		amount(&l.rate.inDollars, "x_BilledCostInUsd"), amount(&l.rate.exact, USDRateColumn),
		text(&l.escaped, EscapeColumn),
		tags(&c.Tags, "Tags"), text(&l.exact, "x_ExactAmounts"),
	}
}

// categories are the values that FOCUS allows in ChargeCategory.
var categories = []string{bill.Usage, bill.Purchase, bill.Tax, bill.Credit, bill.Adjustment}

func (l *focusLayout) emit(to *reading) error {
	if !slices.Contains(categories, l.row.ChargeCategory) {
		return fault.New(fault.Invalid,
			"column \"ChargeCategory\": %.40q is none of Usage, Purchase, Tax, Credit, Adjustment",
			l.row.ChargeCategory)
	}
	l.out = l.row
	l.out.BillingCurrency = strings.ToUpper(l.out.BillingCurrency)
	if strings.EqualFold(l.out.ChargeClass, bill.Correction) {
		l.out.ChargeClass = bill.Correction
	}
	if l.period.used() {
		if err := l.period.read(&l.out); err != nil {
			return err
		}
	}
	if l.pricingCurrency != "" && !strings.EqualFold(l.pricingCurrency, "USD") {
		l.rate.perDollar = money.Amount{} // a rate between other currencies
	}
	l.out.USDRate = l.rate.of(&l.out.BilledCost)
	if l.escaped == EscapedByApostrophe {
		unescape(&l.out)
	}
	if l.exact != "" {
		if err := l.setExact(); err != nil {
			return err
		}
	}
	return to.put(&l.out)
}

func (l *focusLayout) setExact() error {
	texts, into := strings.Fields(l.exact), amounts(&l.out)
	if len(texts) != len(into) {
		return fault.New(fault.Invalid, "column \"x_ExactAmounts\": %.100q is not %d amounts", l.exact, len(into))
	}
	for i, s := range texts {
		var err error
		if *into[i], err = money.Parse(s); err != nil {
			return err
		}
	}
	return nil
}
