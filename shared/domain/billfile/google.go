package billfile

import (
	"encoding/json"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// googleLayout is Google Cloud's billing export from BigQuery, in JSON or flattened into CSV. Each credit of a row is
// a charge of its own: the billed amount is the sum of the cost and all credits.
type googleLayout struct {
	row  bill.Charge
	out  bill.Charge
	cost money.Amount

	costType, seller string
	region, location string
	rate             usdRate
	listCost         money.Amount
	listFilled       bool
	labels, tags     []bill.Tag
	credits          string
	read             []googleCredit // the parsed credits
	lastCredits      string
}

type googleCredit struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	FullName string       `json:"full_name"`
	Amount   googleAmount `json:"amount"`
}

// googleAmount is an amount in JSON: a number, or a string that contains one.
type googleAmount struct{ money.Amount }

func (a *googleAmount) UnmarshalJSON(b []byte) (err error) {
	a.Amount, err = parseAmount(plainValue(b))
	return err
}

func newGoogleLayout() layout { return &googleLayout{} }

func (l *googleLayout) bindings([]string) []binding {
	c := &l.row
	return []binding{
		needed(amount(&l.cost, "cost")), told(amount(&l.listCost, "cost_at_list"), &l.listFilled),
		needed(text(&c.BillingCurrency, "currency")), amount(&l.rate.perDollar, "currency_conversion_rate"),
		text(&l.costType, "cost_type"),
		needed(at(&c.BillingPeriodStart, "invoice.month")),
		needed(at(&c.ChargePeriodStart, "usage_start_time")), at(&c.ChargePeriodEnd, "usage_end_time"),
		text(&c.BillingAccountID, "billing_account_id"), needed(text(&c.SubAccountID, "project.id")),
		text(&c.SubAccountName, "project.name"), text(&l.seller, "seller_name"),
		needed(text(&c.ServiceName, "service.description")), text(&c.ChargeText, "sku.description"),
		text(&c.SkuID, "sku.id"),
		text(&l.region, "location.region"), text(&l.location, "location.location"),
		text(&c.ResourceID, "resource.global_name"), text(&c.ResourceName, "resource.name"),
		amount(&c.Quantity, "usage.amount_in_pricing_units"), text(&c.Unit, "usage.pricing_unit"),
		text(&l.credits, "credits"), tags(&l.labels, "labels"), tags(&l.tags, "tags"),
	}
}

func (l *googleLayout) emit(to *reading) error {
	if err := l.readCredits(); err != nil {
		return err
	}
	l.describe()
	c := &l.out
	c.ChargeCategory, c.PricingCategory = googleCategory(l.costType)
	if c.ChargeCategory == bill.Usage {
		c.ChargeFrequency = "Usage-Based"
		if strings.HasPrefix(c.ChargeText, "Spot Preemptible") {
			c.PricingCategory = bill.Dynamic
		}
	}
	if l.costType == "adjustment" {
		c.ChargeClass = bill.Correction
	}
	c.BilledCost, c.EffectiveCost, c.ListCost = l.cost, l.cost, l.cost
	if l.listFilled {
		c.ListCost = l.listCost
	}
	if err := to.put(c); err != nil {
		return err
	}
	return l.emitCredits(to)
}

// describe sets the fields that the charge and its credits share.
func (l *googleLayout) describe() {
	l.out = l.row
	c := &l.out
	c.USDRate, c.BillingCurrency = l.rate.of(&l.cost), strings.ToUpper(c.BillingCurrency)
	c.ProviderName, c.InvoiceIssuerName = "Google Cloud", "Google Cloud"
	c.PublisherName, c.RegionID = firstFilled(l.seller, "Google Cloud"), firstFilled(l.region, l.location)
	c.Tags = l.labels
	if len(l.tags) > 0 {
		c.Tags = sortTags(append(slices.Clip(l.labels), l.tags...))
	}
}

func (l *googleLayout) emitCredits(to *reading) error {
	for i := range l.read {
		l.describe()
		c, credit := &l.out, &l.read[i]
		c.ChargeCategory, c.ChargeText = bill.Credit, firstFilled(credit.FullName, credit.Name, credit.ID)
		c.BilledCost, c.EffectiveCost = credit.Amount.Amount, credit.Amount.Amount
		c.Quantity, c.Unit = money.Amount{}, ""
		if err := to.put(c); err != nil {
			return err
		}
	}
	return nil
}

func googleCategory(costType string) (category, pricing string) {
	switch costType {
	case "regular", "":
		return bill.Usage, bill.Standard
	case "tax":
		return bill.Tax, ""
	default: // adjustment, rounding_error (samples call it roundoff), and unknown types
		return bill.Adjustment, ""
	}
}

// readCredits reads the list of credits. It ignores the columns that some tools flatten the first credit into, because
// they do not always match it.
func (l *googleLayout) readCredits() error {
	if l.credits == l.lastCredits {
		return nil
	}
	l.read, l.lastCredits = nil, l.credits
	if l.credits == "" {
		return nil
	}
	if err := json.Unmarshal(pythonToJSON([]byte(l.credits)), &l.read); err != nil {
		return fault.New(fault.Invalid, "column \"credits\": %.64q is not a JSON list of credits", l.credits)
	}
	return nil
}
