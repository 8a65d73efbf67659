package billfile

import (
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// azureLayout is Azure's actual or amortized cost, in the column spellings of agreements and portals.
//
// Actual cost holds the invoiced amounts: use under a commitment costs 0, and the commitment's whole price falls on
// the day of its payment. Amortized cost spreads the commitment over the use and has no purchase of it. For a period
// that is delivered as both, the billed and list costs come from the actual file and the effective cost from the
// amortized file. A file without a stated form stands alone: its cost is all three.
type azureLayout struct {
	billed, effective bool

	row bill.Charge
	out bill.Charge

	chargeType, pricingModel, frequency, pricingCurrency, benefit, reservation string

	cost, listPrice, list money.Amount
	listFilled            bool
	rate                  usdRate
}

func newAzureLayout() layout { return &azureLayout{billed: true, effective: true} }

func (l *azureLayout) bindings([]string) []binding {
	c := &l.row
	return []binding{
		needed(amount(&l.cost, "CostInBillingCurrency", "Cost", "PreTaxCost")),
		told(amount(&l.list, "PayGCostInBillingCurrency"), &l.listFilled), amount(&l.listPrice, "PayGPrice"),
		needed(text(&c.BillingCurrency, "BillingCurrency", "BillingCurrencyCode", "Currency")),
		text(&l.pricingCurrency, "PricingCurrency"),
		amount(&l.rate.perDollar, "ExchangeRatePricingToBilling", "ExchangeRate"),
		amount(&l.rate.inDollars, "CostInUSD", "PreTaxCostInUSD"),
		needed(at(&c.ChargePeriodStart, "Date", "UsageDateTime")), at(&c.BillingPeriodStart, "BillingPeriodStartDate"),
		text(&c.BillingAccountID, "BillingAccountId"), text(&c.SubAccountID, "SubscriptionId", "SubscriptionGuid"),
		text(&c.SubAccountName, "SubscriptionName"), text(&c.PublisherName, "PublisherName"),
		text(&c.InvoiceID, "InvoiceId"),
		text(&l.chargeType, "ChargeType"), text(&l.pricingModel, "PricingModel"), text(&l.frequency, "Frequency"),
		text(&c.ChargeText, "ProductName", "Product", "MeterName"), text(&c.ServiceCategory, "ServiceFamily"),
		text(&c.ServiceName, "MeterCategory"), text(&c.RegionID, "ResourceLocation"),
		text(&c.ResourceID, "ResourceId", "InstanceId", "InstanceName"), text(&c.ResourceName, "ResourceName"),
		text(&c.ResourceType, "ResourceType"), text(&c.SkuID, "MeterId"),
		text(&l.benefit, "BenefitId"), text(&l.reservation, "ReservationId"),
		amount(&c.Quantity, "Quantity", "UsageQuantity"), text(&c.Unit, "UnitOfMeasure"), tags(&c.Tags, "Tags"),
	}
}

func (l *azureLayout) emit(to *reading) error {
	l.out = l.row
	c := &l.out
	c.ProviderName, c.InvoiceIssuerName = "Microsoft", "Microsoft"
	c.BillingCurrency = strings.ToUpper(c.BillingCurrency)
	c.ChargePeriodEnd = c.ChargePeriodStart.Add(24 * time.Hour)
	if c.BillingPeriodStart.IsZero() {
		c.BillingPeriodStart = firstOfMonth(c.ChargePeriodStart)
	}
	c.RegionID = azureRegion(c.RegionID)
	c.ResourceType = firstFilled(c.ResourceType, azureType(c.ResourceID))
	if !strings.EqualFold(l.pricingCurrency, "USD") {
		l.rate.perDollar = money.Amount{} // a rate between other currencies
	}
	c.USDRate = l.rate.of(&l.cost)
	l.categorize()
	l.price()
	return to.put(c)
}

// categorize sets the charge category of the row in FOCUS's words. An unknown type is an Adjustment, so that the bill
// stays complete.
func (l *azureLayout) categorize() {
	c := &l.out
	switch strings.ReplaceAll(strings.ToLower(l.chargeType), " ", "") {
	case "", "usage":
		c.ChargeCategory = bill.Usage
	case "unusedreservation", "unusedsavingsplan":
		c.ChargeCategory, c.CommitmentStatus = bill.Usage, "Unused"
	case "purchase":
		c.ChargeCategory = bill.Purchase
	case "refund":
		c.ChargeCategory, c.ChargeClass = bill.Purchase, bill.Correction
	case "tax":
		c.ChargeCategory = bill.Tax
	case "credit":
		c.ChargeCategory = bill.Credit
	default:
		c.ChargeCategory = bill.Adjustment
	}
	c.ChargeFrequency = azureFrequencies[l.frequency]
}

var azureFrequencies = map[string]string{"UsageBased": "Usage-Based", "OneTime": "One-Time", "Recurring": "Recurring"}

func (l *azureLayout) price() {
	c := &l.out
	committed := l.pricingModel == "Reservation" || l.pricingModel == "SavingsPlan" || c.CommitmentStatus == "Unused"
	if committed {
		c.CommitmentID = firstFilled(l.benefit, l.reservation)
	}
	switch {
	case c.ChargeCategory != bill.Usage:
		c.PricingCategory = bill.Standard
	case committed:
		c.PricingCategory, c.CommitmentStatus = bill.Committed, firstFilled(c.CommitmentStatus, "Used")
	case l.pricingModel == "Spot":
		c.PricingCategory = bill.Dynamic
	default:
		c.PricingCategory = bill.Standard
	}
	if l.billed {
		c.BilledCost, c.ListCost = l.cost, l.listCost()
	} else {
		c.Quantity, c.Unit = money.Amount{}, ""
	}
	if l.effective {
		c.EffectiveCost = l.cost
	}
}

// listCost returns the cost of the row at public prices. Public prices may be in another currency than the bill. A row
// without a public price has no discount.
func (l *azureLayout) listCost() money.Amount {
	if l.listFilled {
		return l.list
	}
	isComparable := l.pricingCurrency == "" || strings.EqualFold(l.pricingCurrency, l.out.BillingCurrency)
	if !l.listPrice.IsZero() && isComparable {
		return l.listPrice.Mul(l.out.Quantity)
	}
	return l.cost
}

// azureRegion returns a region in the spelling of Azure's interfaces; bills have "EastUS2" and "US East 2".
func azureRegion(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }

// azureType returns the type in the ID of a resource: "Microsoft.Compute/virtualMachines".
func azureType(id string) string {
	const mark = "/providers/"
	i := strings.LastIndex(strings.ToLower(id), mark)
	if i < 0 {
		return ""
	}
	parts := strings.Split(id[i+len(mark):], "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[0] + "/" + parts[1]
}
