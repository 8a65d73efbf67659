package bill

import (
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The fields of a charge by their names in FOCUS.
var (
	textFields = map[string]func(*Charge) *string{
		"BillingAccountId":         func(c *Charge) *string { return &c.BillingAccountID },
		"SubAccountId":             func(c *Charge) *string { return &c.SubAccountID },
		"SubAccountName":           func(c *Charge) *string { return &c.SubAccountName },
		"ProviderName":             func(c *Charge) *string { return &c.ProviderName },
		"PublisherName":            func(c *Charge) *string { return &c.PublisherName },
		"InvoiceIssuerName":        func(c *Charge) *string { return &c.InvoiceIssuerName },
		"InvoiceId":                func(c *Charge) *string { return &c.InvoiceID },
		"ChargeCategory":           func(c *Charge) *string { return &c.ChargeCategory },
		"ChargeClass":              func(c *Charge) *string { return &c.ChargeClass },
		"ChargeFrequency":          func(c *Charge) *string { return &c.ChargeFrequency },
		"ChargeDescription":        func(c *Charge) *string { return &c.ChargeText },
		"ServiceCategory":          func(c *Charge) *string { return &c.ServiceCategory },
		"ServiceName":              func(c *Charge) *string { return &c.ServiceName },
		"RegionId":                 func(c *Charge) *string { return &c.RegionID },
		"ResourceId":               func(c *Charge) *string { return &c.ResourceID },
		"ResourceName":             func(c *Charge) *string { return &c.ResourceName },
		"ResourceType":             func(c *Charge) *string { return &c.ResourceType },
		"SkuId":                    func(c *Charge) *string { return &c.SkuID },
		"PricingCategory":          func(c *Charge) *string { return &c.PricingCategory },
		"PricingUnit":              func(c *Charge) *string { return &c.Unit },
		"CommitmentDiscountId":     func(c *Charge) *string { return &c.CommitmentID },
		"CommitmentDiscountStatus": func(c *Charge) *string { return &c.CommitmentStatus },
		"BillingCurrency":          func(c *Charge) *string { return &c.BillingCurrency },
	}
	timeFields = map[string]func(*Charge) *time.Time{
		"BillingPeriodStart": func(c *Charge) *time.Time { return &c.BillingPeriodStart },
		"ChargePeriodStart":  func(c *Charge) *time.Time { return &c.ChargePeriodStart },
		"ChargePeriodEnd":    func(c *Charge) *time.Time { return &c.ChargePeriodEnd },
	}
	amountFields = map[string]func(*Charge) *money.Amount{
		"BilledCost":      func(c *Charge) *money.Amount { return &c.BilledCost },
		"EffectiveCost":   func(c *Charge) *money.Amount { return &c.EffectiveCost },
		"ListCost":        func(c *Charge) *money.Amount { return &c.ListCost },
		"ContractedCost":  func(c *Charge) *money.Amount { return &c.ContractedCost },
		"PricingQuantity": func(c *Charge) *money.Amount { return &c.Quantity },
	}
)

// TagsColumn is the name of the column of tags.
const TagsColumn = "Tags"

// TextColumns returns the names of the columns of texts, sorted.
func TextColumns() []string { return slices.Sorted(maps.Keys(textFields)) }

// Columns returns the names of all columns of a Block, sorted.
func Columns() []string {
	return slices.Sorted(slices.Values(slices.Concat(TextColumns(), slices.Collect(maps.Keys(timeFields)),
		slices.Collect(maps.Keys(amountFields)), []string{TagsColumn})))
}

// Collector makes a Block of charges that come one by one.
type Collector struct {
	block   Block
	fields  []collected
	renewed bool // the block is new: the next charge begins it
}

// collected is a column that is being filled.
type collected interface {
	begin()
	add(c *Charge)
}

// NewCollector returns a Collector of the named columns. It leaves out names that no field has.
func NewCollector(columns []string) *Collector {
	k := &Collector{renewed: true, block: Block{
		Texts: map[string]*Column[string]{}, Times: map[string]*Column[time.Time]{},
		Amounts: map[string]*Column[money.Amount]{},
	}}
	for _, name := range columns {
		k.addColumn(name)
	}
	return k
}

func (k *Collector) addColumn(name string) {
	if of, ok := textFields[name]; ok {
		k.block.Texts[name] = addRepeating(k, of)
	}
	if of, ok := timeFields[name]; ok {
		k.block.Times[name] = addRepeating(k, of)
	}
	if of, ok := amountFields[name]; ok {
		k.block.Amounts[name] = addValues(k, of)
	}
	if name == TagsColumn {
		k.block.Tags = addValues(k, func(c *Charge) *[]Tag { return &c.Tags })
	}
}

// Add adds a charge.
func (k *Collector) Add(c *Charge) {
	if k.renewed {
		k.renewed, k.block.Rows = false, 0
		for _, f := range k.fields {
			f.begin()
		}
	}
	for _, f := range k.fields {
		f.add(c)
	}
	k.block.Rows++
}

// Len returns the number of charges since Block was called.
func (k *Collector) Len() int {
	if k.renewed {
		return 0
	}
	return k.block.Rows
}

// Block returns the charges that were added since its last call. It is valid until the next Add.
func (k *Collector) Block() *Block {
	if k.renewed {
		k.block.Rows = 0
	}
	k.renewed = true
	return &k.block
}

// repeating is a column of values that are mostly those of the charge before. It does not look for equal values further
// back: that costs more than to convert them once more.
type repeating[T comparable] struct {
	Column[T]
	of func(*Charge) *T
}

func addRepeating[T comparable](k *Collector, of func(*Charge) *T) *Column[T] {
	r := &repeating[T]{of: of}
	k.fields = append(k.fields, r)
	return &r.Column
}

func (r *repeating[T]) begin() {
	r.Words, r.Numbers = r.Words[:0], r.Numbers[:0]
	r.Edition++
}

func (r *repeating[T]) add(c *Charge) {
	value, n := r.of(c), len(r.Words)
	if n == 0 || r.Words[n-1] != *value {
		r.Words = append(r.Words, *value)
		n++
	}
	r.Numbers = append(r.Numbers, int32(n-1)) //nolint:gosec // of a block
}

// values is a column of values that seldom repeat.
type values[T any] struct {
	Column[T]
	of func(*Charge) *T
}

func addValues[T any](k *Collector, of func(*Charge) *T) *Column[T] {
	v := &values[T]{of: of}
	k.fields = append(k.fields, v)
	return &v.Column
}

func (v *values[T]) begin() {
	v.Words, v.Numbers = v.Words[:0], v.Numbers[:0]
	v.Edition++
}

func (v *values[T]) add(c *Charge) {
	v.Numbers = append(v.Numbers, int32(len(v.Words))) //nolint:gosec // of a block
	v.Words = append(v.Words, *v.of(c))
}

// Texts returns the texts of a charge, without its tags.
func Texts(c *Charge) []*string {
	out := make([]*string, 0, len(textFields))
	for _, of := range textFields {
		out = append(out, of(c))
	}
	return out
}
