package simulated

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
)

// The columns of the two shapes.
var (
	curHeader = []string{
		"identity/LineItemId", "bill/InvoiceId", "bill/BillingEntity", "bill/BillType", "bill/PayerAccountId",
		"bill/BillingPeriodStartDate",
		"bill/BillingPeriodEndDate", "lineItem/UsageAccountId", "lineItem/LineItemType", "lineItem/UsageStartDate",
		"lineItem/UsageEndDate",
		"lineItem/ProductCode", "lineItem/UsageType", "lineItem/Operation", "lineItem/ResourceId",
		"lineItem/UsageAmount",
		"lineItem/CurrencyCode", "lineItem/UnblendedCost", "lineItem/LineItemDescription", "lineItem/LegalEntity",
		"product/ProductName",
		"product/region", "pricing/publicOnDemandCost", "pricing/term", "pricing/unit", "savingsPlan/SavingsPlanARN",
		"savingsPlan/SavingsPlanEffectiveCost", "savingsPlan/TotalCommitmentToDate", "savingsPlan/UsedCommitment",
		"resourceTags/user:app", "resourceTags/user:cost-center", "resourceTags/user:env", "resourceTags/user:team",
	}
	focusHeader = []string{
		"BilledCost", "BillingAccountId", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory",
		"ChargeClass",
		"ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart", "CommitmentDiscountId",
		"CommitmentDiscountStatus",
		"ContractedCost", "EffectiveCost", "InvoiceId", "InvoiceIssuerName", "ListCost", "PricingCategory",
		"PricingQuantity", "PricingUnit",
		"ProviderName", "PublisherName", "RegionId", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory",
		"ServiceName", "SkuId",
		"SubAccountId", "SubAccountName", "Tags",
	}
)

// rows writes the rows of a file.
type rows struct {
	*csv.Writer
	b       *bill
	fault   string
	written int
	invoice string // empty while the period is open
	plan    string // the native identifier of the savings plan
	end     time.Time
	period  time.Time // that the row is of: the bill's, unless it is to have one of another
}

func newRows(w io.Writer, b *bill) *rows {
	r := &rows{
		Writer: csv.NewWriter(w), b: b, end: b.start.AddDate(0, 1, 0),
		plan: "arn:aws:savingsplans::" + b.number + ":savingsplan/" + strconv.FormatUint(b.key, 16),
	}
	if b.final {
		r.invoice = "INV-" + b.start.Format("200601") + "-" + b.number
	}
	return r
}

// writeRow keeps the failure, if there is one, for Error.
func (r *rows) writeRow(cells ...string) { _ = r.Write(cells) }

// writeLine writes a line in the shape of the account.
func (r *rows) writeLine(l *line) {
	r.period = r.b.start
	if r.written++; r.written == 3 && r.fault == wrongMonth {
		r.period = r.end
	}
	if r.b.billing.form == inFOCUS {
		r.writeFOCUS(l)
		return
	}
	r.writeCUR(l)
}

// writeCost writes an amount. The third row has none if the bill is to have a broken row.
func (r *rows) writeCost(n int64) string {
	if r.fault == brokenRow && r.written == 3 {
		return "12,3O"
	}
	return nanoDollars(n).String()
}

func timeStamp(t time.Time) string { return t.Format("2006-01-02T15:04:05Z") }

// curTypes are AWS's names for the types of lines.
var curTypes = [...]string{
	"Usage", "SavingsPlanCoveredUsage", "SavingsPlanRecurringFee", "", "Fee", "Tax", "Credit",
	"Refund", "Credit",
}

// writeCUR writes a line in the form of AWS's Cost and Usage Report. Usage that a savings plan covers has its public
// price, and a second row that takes the price back. The unused part of the plan is in the row of the plan.
func (r *rows) writeCUR(l *line) {
	switch l.what {
	case unusedLine:
	case coveredLine:
		r.curRow(l, curTypes[l.what], l.list)
		r.curRow(l, "SavingsPlanNegation", -l.list)
	default:
		r.curRow(l, curTypes[l.what], l.billed)
	}
}

func (r *rows) curRow(l *line, what string, unblended int64) {
	var arn, effective, commitment, used, public, term string
	switch l.what {
	case coveredLine:
		arn, term = r.plan, "OnDemand"
		if effective, public = nanoDollars(l.effective).String(),
			nanoDollars(l.list).String(); what != curTypes[coveredLine] {
			effective, public = "", ""
		}
	case planLine:
		arn, commitment, used = r.plan, nanoDollars(l.billed).String(), nanoDollars(l.used).String()
	case usageLine:
		public, term = nanoDollars(l.list).String(), "OnDemand"
	default: // the others have no price list
	}
	var tags map[string]string
	if l.node != nil {
		tags = r.b.tagsOf(*l.node)
	}
	r.writeRow(
		strconv.Itoa(r.written)+what[:3], r.invoice, "AWS", "Anniversary", r.b.number, timeStamp(r.period),
		timeStamp(r.end),
		r.b.number, what,
		timeStamp(l.day), timeStamp(l.day.Add(day)), l.product.code, l.usageType(), "", l.resource,
		quantityText(l.thousandth),
		"USD", r.writeCost(unblended),
		l.describeLine(), "Simulated", l.product.name, l.region, public, term, l.product.unit, arn, effective,
		commitment,
		used,
		tags["app"], tags["cost-center"], tags["env"], tags["team"],
	)
}

// focusWord are the categories of FOCUS: of the charge, its class, its frequency, and of its price.
type focusWord struct{ category, class, frequency, pricing string }

var focusWords = [...]focusWord{
	usageLine:      {"Usage", "", "Usage-Based", "Standard"},
	coveredLine:    {"Usage", "", "Usage-Based", "Committed"},
	planLine:       {"Purchase", "", "Recurring", "Standard"},
	unusedLine:     {"Usage", "", "Usage-Based", "Committed"},
	supportLine:    {"Purchase", "", "Recurring", "Standard"},
	taxLine:        {"Tax", "", "Recurring", ""},
	creditLine:     {"Credit", "", "One-Time", ""},
	refundLine:     {"Usage", "", "One-Time", "Standard"},
	correctionLine: {"Credit", "Correction", "One-Time", ""},
}

func (r *rows) writeFOCUS(l *line) {
	w := focusWords[l.what]
	effective, commitment, status := l.effective, "", ""
	switch l.what {
	case coveredLine:
		commitment, status = r.plan, "Used"
	case unusedLine:
		commitment, status = r.plan, "Unused"
	case planLine:
		commitment = r.plan // the commitment is part of the covered usage
	default: // the others are no part of the plan
	}
	tags, kind := "{}", ""
	if l.node != nil {
		kind = kinds[l.node.kind].Native
		b, _ := json.Marshal(r.b.tagsOf(*l.node)) // a map of strings always encodes
		tags = strings.Replace(string(b), "null", "{}", 1)
	}
	r.writeRow(
		r.writeCost(l.billed), r.b.number, "USD", timeStamp(r.end), timeStamp(r.period), w.category, w.class,
		l.describeLine(),
		w.frequency, timeStamp(l.day.Add(day)),
		timeStamp(l.day), commitment, status, nanoDollars(l.billed).String(), nanoDollars(effective).String(),
		r.invoice, "Simulated",
		nanoDollars(l.list).String(),
		w.pricing, quantityText(l.thousandth), l.product.unit, "AWS", "AWS", l.region, l.resource, l.name, kind,
		l.product.category, l.product.name,
		l.usageType(), r.b.number, "Simulated "+r.b.number, tags,
	)
}

// quantityText writes thousandths; none as nothing.
func quantityText(thousandth int64) string {
	if thousandth == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(thousandth)/1000, 'f', -1, 64)
}

// usageType returns AWS's name for the usage: "BoxUsage:m6i.large".
func (l *line) usageType() string {
	switch {
	case l.node != nil:
		return "Usage:" + kinds[l.node.kind].Type
	case l.product == transfer:
		return "DataTransfer-Out-Bytes"
	}
	return l.product.code
}

func (l *line) describeLine() string {
	if l.text != "" {
		return l.text
	}
	return l.product.name + " per hour"
}
