package billfile

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// curLayout is AWS's Cost and Usage Report: the legacy report, whose columns vary by month and are named
// "category/name" or, for Athena, "category_name"; and CUR 2.0, whose columns are fixed and contain maps.
type curLayout struct {
	row bill.Charge // columns that are copied unchanged
	out bill.Charge

	lineType, billingEntity, productName, serviceName, productCode, regionCode, term, usageType string

	reservationARN, planARN string

	unblended, netUnblended                                  money.Amount
	reservation, netReservation, plan, netPlan               money.Amount
	unusedUpfront, unusedRecurring, netUpfront, netRecurring money.Amount
	committed, used                                          money.Amount
	net, netReservations, netPlans, netUnused                bool // the file has these columns
	netFilled                                                bool
	product                                                  []bill.Tag
	mapped                                                   []bill.Tag // resource_tags of CUR 2.0
	tagged                                                   []curTag   // the columns of tags of the legacy report
}

// curTag is a column of the legacy report that holds the values of one tag.
type curTag struct{ key, value string }

func newCURLayout() layout { return &curLayout{} }

func (l *curLayout) bindings(columns []string) []binding {
	bound := slices.Concat(l.identity(), l.costs(), l.commitments(), l.tagColumns(columns))
	return l.noteNet(bound, columns)
}

func (l *curLayout) identity() []binding {
	c := &l.row
	return []binding{
		needed(text(&l.lineType, "lineItem/LineItemType")),
		needed(text(&c.BillingCurrency, "lineItem/CurrencyCode")),
		needed(at(&c.BillingPeriodStart, "bill/BillingPeriodStartDate")),
		needed(at(&c.ChargePeriodStart, "lineItem/UsageStartDate")), at(&c.ChargePeriodEnd, "lineItem/UsageEndDate"),
		text(&c.BillingAccountID, "bill/PayerAccountId"), needed(text(&c.SubAccountID, "lineItem/UsageAccountId")),
		text(&c.SubAccountName, "line_item_usage_account_name"), text(&c.InvoiceID, "bill/InvoiceId"),
		text(&c.InvoiceIssuerName, "bill/InvoicingEntity"), text(&l.billingEntity, "bill/BillingEntity"),
		text(&c.PublisherName, "lineItem/LegalEntity"), text(&c.ChargeText, "lineItem/LineItemDescription"),
		text(&l.productName, "product/ProductName"), text(&l.serviceName, "product/servicename"),
		text(&l.productCode, "lineItem/ProductCode"), text(&c.RegionID, "product/region"),
		text(&l.regionCode, "product/regionCode"),
		text(&c.ResourceID, "lineItem/ResourceId"), text(&c.ResourceType, "product/productFamily"),
		text(&c.SkuID, "product/sku"), text(&l.term, "pricing/term"), text(&l.usageType, "lineItem/UsageType"),
		amount(&c.Quantity, "lineItem/UsageAmount"), text(&c.Unit, "pricing/unit"),
		tags(&l.product, "product"),
	}
}

func (l *curLayout) costs() []binding {
	return []binding{
		needed(amount(&l.unblended, "lineItem/UnblendedCost")),
		told(amount(&l.netUnblended, "lineItem/NetUnblendedCost"), &l.netFilled),
		amount(&l.row.ListCost, "pricing/publicOnDemandCost"),
	}
}

func (l *curLayout) commitments() []binding {
	return []binding{
		text(&l.reservationARN, "reservation/ReservationARN"), text(&l.planARN, "savingsPlan/SavingsPlanARN"),
		amount(&l.reservation, "reservation/EffectiveCost"), amount(&l.netReservation, "reservation/NetEffectiveCost"),
		amount(&l.unusedUpfront, "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod"),
		amount(&l.netUpfront, "reservation/NetUnusedAmortizedUpfrontFeeForBillingPeriod"),
		amount(&l.unusedRecurring, "reservation/UnusedRecurringFee"),
		amount(&l.netRecurring, "reservation/NetUnusedRecurringFee"),
		amount(&l.plan, "savingsPlan/SavingsPlanEffectiveCost"),
		amount(&l.netPlan, "savingsPlan/NetSavingsPlanEffectiveCost"),
		amount(&l.committed, "savingsPlan/TotalCommitmentToDate"), amount(&l.used, "savingsPlan/UsedCommitment"),
	}
}

// noteNet records which columns of net costs exist. With them, the charges already include their discounts.
func (l *curLayout) noteNet(bound []binding, columns []string) []binding {
	has := map[string]bool{}
	for _, c := range columns {
		has[plainName(c)] = true
	}
	l.net = has[plainName("lineItem/NetUnblendedCost")]
	l.netReservations = has[plainName("reservation/NetEffectiveCost")]
	l.netPlans = has[plainName("savingsPlan/NetSavingsPlanEffectiveCost")]
	l.netUnused = has[plainName("reservation/NetUnusedRecurringFee")]
	return bound
}

// tagPrefixes are the prefixes of tag columns: those of the legacy report and those of Athena.
var tagPrefixes = []struct{ prefix, user, aws string }{
	{"resourceTags/", "user:", "aws:"}, {"resource_tags_", "user_", "aws_"},
}

// tagColumns binds the columns of tags, and the tag map of CUR 2.0.
func (l *curLayout) tagColumns(columns []string) []binding {
	for _, c := range columns {
		for _, p := range tagPrefixes {
			if key, found := strings.CutPrefix(c, p.prefix); found {
				l.tagged = append(l.tagged, curTag{key: tagKey(key, p.user, p.aws)})
			}
		}
	}
	out := []binding{tags(&l.mapped, "resource_tags")}
	next := 0
	for i, c := range columns {
		for _, p := range tagPrefixes {
			if strings.HasPrefix(c, p.prefix) {
				b := text(&l.tagged[next].value, c)
				b.fixed, b.column = true, i
				out, next = append(out, b), next+1
			}
		}
	}
	return out
}

// tagKey returns a key without the prefix user, or with "aws:" in place of the prefix aws.
func tagKey(key, user, aws string) string {
	if own, found := strings.CutPrefix(key, user); found {
		return own
	}
	if given, found := strings.CutPrefix(key, aws); found {
		return "aws:" + given
	}
	return key
}

func (l *curLayout) emit(to *reading) error {
	l.out = l.row
	if !l.price() {
		return nil
	}
	c := &l.out
	c.ProviderName, c.BillingCurrency = "AWS", strings.ToUpper(c.BillingCurrency)
	c.InvoiceIssuerName = firstFilled(c.InvoiceIssuerName, l.billingEntity)
	c.ServiceName = firstFilled(l.productName, tagNamed(l.product, "product_name"), l.serviceName, l.productCode)
	c.RegionID = firstFilled(c.RegionID, l.regionCode, tagNamed(l.product, "region"))
	c.Tags = l.tags()
	return to.put(c)
}

// tags returns the tags of the row by key.
func (l *curLayout) tags() []bill.Tag {
	var out []bill.Tag
	for _, t := range l.mapped {
		out = append(out, bill.Tag{Key: tagKey(t.Key, "user_", "aws_"), Value: t.Value})
	}
	for _, t := range l.tagged {
		if t.value != "" {
			out = append(out, bill.Tag{Key: t.key, Value: t.value})
		}
	}
	return sortTags(out)
}

func tagNamed(in []bill.Tag, key string) string {
	for _, t := range in {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

func firstFilled(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
