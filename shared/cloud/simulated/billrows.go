package simulated

import (
	"encoding/json"
	"strconv"
	"strings"
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

// rows writes the rows of a file. Its texts are cells.
type rows struct {
	csvText
	b       *bill
	fault   string
	written int
	number  string   // of the account
	title   string   // of the account
	invoice string   // empty while the period is open
	plan    string   // the native identifier of the savings plan
	stamps  []string // the beginnings of the days of the month, and its end
	end     string
	period  string // that the row is of: the bill's, unless it is to have one of another
	of      cells
}

// cells are the cells that all lines of a resource share.
type cells struct {
	node                        node
	resource, name, kind, usage string
	tags                        string // as JSON
	app, costCenter, env, team  string
}

func newRows(b *bill, fault string) *rows {
	r := &rows{
		b: b, fault: fault, number: quoteCell(b.number), title: quoteCell("Simulated " + b.number),
		plan: quoteCell("arn:aws:savingsplans::" + b.number + ":savingsplan/" + strconv.FormatUint(b.key, 16)),
	}
	if b.final {
		r.invoice = quoteCell("INV-" + b.start.Format("200601") + "-" + b.number)
	}
	end := b.start.AddDate(0, 1, 0)
	for at := b.start; !at.After(end); at = at.AddDate(0, 0, 1) {
		r.stamps = append(r.stamps, at.Format("2006-01-02T15:04:05Z"))
	}
	r.end = r.stamps[len(r.stamps)-1]
	return r
}

// spanOf returns when the day of a line begins, and when it ends.
func (r *rows) spanOf(l *line) (from, to string) {
	i := int(l.day.Sub(r.b.start) / day)
	return r.stamps[i], r.stamps[i+1]
}

// writeHeader writes the row of the names of columns.
func (r *rows) writeHeader() {
	header := curHeader
	if r.b.billing.form == inFOCUS {
		header = focusHeader
	}
	r.texts(header...)
	r.endRow()
}

// writeLine writes a line in the shape of the account.
func (r *rows) writeLine(l *line) {
	r.period = r.stamps[0]
	if r.written++; r.written == 3 && r.fault == wrongMonth {
		r.period = r.end
	}
	if l.node == nil {
		r.of = cells{resource: quoteCell(l.resource), name: l.name, usage: l.usageType(), tags: "{}"}
	} else if r.of.node != *l.node || r.of.kind == "" {
		r.of = r.b.cellsOf(*l.node)
	}
	if r.b.billing.form == inFOCUS {
		r.writeFOCUS(l)
		return
	}
	r.writeCUR(l)
}

func (b *bill) cellsOf(n node) cells {
	tags := b.tagsOf(n)
	text, _ := json.Marshal(tags) // a map of strings always encodes
	return cells{
		node: n, resource: quoteCell(b.nativeUID(n)), name: quoteCell(b.nodeName(n)), kind: kinds[n.kind].Native,
		usage: "Usage:" + kinds[n.kind].Type, tags: quoteCell(strings.Replace(string(text), "null", "{}", 1)),
		app: tags["app"], costCenter: tags["cost-center"], env: tags["env"], team: tags["team"],
	}
}

// writeCost writes an amount. The third row has none if the bill is to have a broken row.
func (r *rows) writeCost(n int64) {
	if r.fault == brokenRow && r.written == 3 {
		r.texts(quoteCell("12,3O"))
		return
	}
	r.amount(n)
}

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
	from, to := r.spanOf(l)
	r.count(int64(r.written), what[:3])
	r.texts(r.invoice, "AWS", "Anniversary", r.number, r.period, r.end, r.number, what, from, to)
	r.texts(l.product.code, r.of.usage, "", r.of.resource)
	r.quantity(l.thousandth)
	r.texts("USD")
	r.writeCost(unblended)
	r.texts(l.describeLine(), "Simulated", l.product.name, l.region)
	r.curPricing(l, what)
	r.texts(r.of.app, r.of.costCenter, r.of.env, r.of.team)
	r.endRow()
}

// curPricing writes the cells of the price and of the savings plan. Only usage has a price list.
func (r *rows) curPricing(l *line, what string) {
	switch {
	case what == curTypes[coveredLine]:
		r.amount(l.list)
		r.texts("OnDemand", l.product.unit, r.plan)
		r.amount(l.effective)
		r.texts("", "")
	case l.what == coveredLine:
		r.texts("", "OnDemand", l.product.unit, r.plan, "", "", "")
	case l.what == planLine:
		r.texts("", "", l.product.unit, r.plan, "")
		r.amount(l.billed)
		r.amount(l.used)
	case l.what == usageLine:
		r.amount(l.list)
		r.texts("OnDemand", l.product.unit, "", "", "", "")
	default:
		r.texts("", "", l.product.unit, "", "", "", "")
	}
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
	commitment, status := "", ""
	switch l.what {
	case coveredLine:
		commitment, status = r.plan, "Used"
	case unusedLine:
		commitment, status = r.plan, "Unused"
	case planLine:
		commitment = r.plan // the commitment is part of the covered usage
	default: // the others are no part of the plan
	}
	from, to := r.spanOf(l)
	r.writeCost(l.billed)
	r.texts(r.number, "USD", r.end, r.period, w.category, w.class, l.describeLine(), w.frequency, to, from)
	r.texts(commitment, status)
	r.amount(l.billed)
	r.amount(l.effective)
	r.texts(r.invoice, "Simulated")
	r.amount(l.list)
	r.texts(w.pricing)
	r.quantity(l.thousandth)
	r.texts(l.product.unit, "AWS", "AWS", l.region, r.of.resource, r.of.name, r.of.kind, l.product.category)
	r.texts(l.product.name, r.of.usage, r.number, r.title, r.of.tags)
	r.endRow()
}

// usageType returns AWS's name for the usage of a line without a resource: "DataTransfer-Out-Bytes".
func (l *line) usageType() string {
	if l.product == transfer {
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
