package billfile

import (
	"strings"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// azureLayout is Azure's actual or amortized cost, in the spellings that agreements and portals have of its columns.
//
// Actual cost has what is invoiced: use under a commitment costs nothing, and the commitment all of it on the day it is paid. Amortized
// cost has the commitment spread over the use, and no purchase of it. Of a period that is delivered as both, what is billed and at public
// prices is taken from the one and what is effective from the other. A file whose form nobody tells is alone: its cost is all of that.
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
	if l.pricingCurrency != "USD" {
		l.rate.perDollar = money.Amount{} // it is one between other currencies
	}
	c.USDRate = l.rate.of(&l.cost)
	l.categorize()
	l.price()
	return to.put(c)
}

// categorize says in FOCUS's words what kind of charge the row is. A type that is not known is an Adjustment: the bill stays whole.
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

// listCost is what the row costs at public prices, as far as it tells: they may be in another currency than the bill. What has none is
// taken to have no discount.
func (l *azureLayout) listCost() money.Amount {
	if l.listFilled {
		return l.list
	}
	if !l.listPrice.IsZero() && (l.pricingCurrency == "" || l.pricingCurrency == l.out.BillingCurrency) {
		return l.listPrice.Mul(l.out.Quantity)
	}
	return l.cost
}

// azureRegion writes a region as Azure's interfaces do; bills have "EastUS2" and "US East 2".
func azureRegion(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }

// azureType is the type in the id of a resource: "Microsoft.Compute/virtualMachines".
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
