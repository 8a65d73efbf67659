package billfile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// heldRows are the rows of a row group before they are sorted and written. A row takes 160 bytes; each distinct text
// and each distinct set of tags is held once.
type heldRows struct {
	count int
	rows  [][]heldRow // in chunks, so that no row is copied when there are more
	exact map[int]string
	words [textColumns]heldWords
	tags  heldTags
}

// textColumns is the number of columns of texts, besides ExactAmounts.
const textColumns = 24

// resourceColumn is the position of ResourceId in textsOf.
const resourceColumn = 15

// heldRow is a row that is not written yet.
type heldRow struct {
	texts              [textColumns]uint16 // positions in words; a column has at most groupRows words
	tags               int32
	billed, start, end int64 // in microseconds; end is noEnd for a charge without one
	amounts            [5]decimal
}

const noEnd = math.MinInt64

// chunkRows is the number of rows that are allocated at once.
const chunkRows = 1024

func (h *heldRows) at(n int32) *heldRow { return &h.rows[n/chunkRows][n%chunkRows] }

// textsOf returns the texts of a charge in the order of (*lineItem).texts.
func textsOf(c *bill.Charge) [textColumns]string {
	return [...]string{
		c.BillingAccountID, c.SubAccountID, c.SubAccountName, c.ProviderName, c.PublisherName, c.InvoiceIssuerName,
		c.InvoiceID, c.ChargeCategory, c.ChargeClass, c.ChargeFrequency, c.ChargeText, c.ServiceCategory,
		c.ServiceName, c.RegionID, c.ResourceName, c.ResourceID, c.ResourceType, c.SkuID, c.PricingCategory,
		c.CommitmentID, c.CommitmentStatus, c.BillingCurrency, c.Unit, rateText(c.USDRate),
	}
}

// rateText returns a rate as text, or "" if it is 0.
func rateText(usd money.Amount) string {
	if usd.IsZero() {
		return ""
	}
	return usd.String()
}

func (l *lineItem) texts() [textColumns]*string {
	return [...]*string{
		&l.BillingAccountID, &l.SubAccountID, &l.SubAccountName, &l.ProviderName, &l.PublisherName,
		&l.InvoiceIssuerName, &l.InvoiceID, &l.ChargeCategory, &l.ChargeClass, &l.ChargeFrequency,
		&l.ChargeDescription, &l.ServiceCategory, &l.ServiceName, &l.RegionID, &l.ResourceName, &l.ResourceID,
		&l.ResourceType, &l.SkuID, &l.PricingCategory, &l.CommitmentDiscountID, &l.CommitmentDiscountStatus,
		&l.BillingCurrency, &l.PricingUnit, &l.USDRate,
	}
}

func newHeldRows() heldRows {
	h := heldRows{exact: map[int]string{}, tags: heldTags{numbers: map[string]int32{}}}
	for i := range h.words {
		h.words[i].numbers = map[string]uint16{}
	}
	return h
}

// clear forgets all rows, and keeps their memory for the next ones.
func (h *heldRows) clear() {
	h.count = 0
	clear(h.exact)
	for i := range h.words {
		h.words[i].clear()
	}
	h.tags.clear()
}

func (h *heldRows) add(c *bill.Charge) {
	if h.count == len(h.rows)*chunkRows {
		h.rows = append(h.rows, make([]heldRow, chunkRows))
	}
	r := h.at(int32(h.count)) //nolint:gosec // of a row group
	*r = heldRow{
		billed: c.BillingPeriodStart.UnixMicro(), start: c.ChargePeriodStart.UnixMicro(), end: noEnd,
		tags: h.tags.number(c.Tags),
	}
	if !c.ChargePeriodEnd.IsZero() {
		r.end = c.ChargePeriodEnd.UnixMicro()
	}
	for i, text := range textsOf(c) {
		r.texts[i] = h.words[i].number(text)
	}
	if !r.setAmounts(c) {
		h.exact[h.count] = exactTexts(c)
	}
	h.count++
}

// setAmounts sets the columns of amounts, and reports whether all of them fit.
func (r *heldRow) setAmounts(c *bill.Charge) bool {
	all := true
	for i, a := range amounts(c) {
		var exact bool
		r.amounts[i], exact = a.Decimal128()
		all = all && exact
	}
	return all
}

// exactTexts returns all amounts as text, for a charge of which one does not fit.
func exactTexts(c *bill.Charge) string {
	var texts []string
	for _, a := range amounts(c) {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, " ")
}

// amounts returns the amounts of a charge in the order of ExactAmounts.
func amounts(c *bill.Charge) []*money.Amount {
	return []*money.Amount{&c.BilledCost, &c.EffectiveCost, &c.ListCost, &c.ContractedCost, &c.Quantity}
}

// writtenRows is the number of rows that are written at once.
const writtenRows = 256

// writeSorted writes the rows sorted by start and resource. Equal rows keep their order.
func (h *heldRows) writeSorted(w *parquet.GenericWriter[lineItem]) error {
	batch := make([]lineItem, 0, writtenRows)
	for some := range slices.Chunk(h.order(), writtenRows) {
		batch = batch[:0]
		for _, n := range some {
			batch = append(batch, h.lineItem(n))
		}
		if _, err := w.Write(batch); err != nil {
			return err
		}
	}
	return nil
}

// order returns the positions of the rows, sorted as the file has them.
func (h *heldRows) order() []int32 {
	ranks := h.words[resourceColumn].ranks()
	out := make([]int32, h.count)
	for i := range out {
		out[i] = int32(i) //nolint:gosec // of a row group
	}
	slices.SortFunc(out, func(a, b int32) int {
		x, y := h.at(a), h.at(b)
		return cmp.Or(cmp.Compare(x.start, y.start),
			cmp.Compare(ranks[x.texts[resourceColumn]], ranks[y.texts[resourceColumn]]), cmp.Compare(a, b))
	})
	return out
}

func (h *heldRows) lineItem(n int32) lineItem {
	r := h.at(n)
	l := lineItem{
		BillingPeriodStart: r.billed, ChargePeriodStart: r.start, Tags: h.tags.sets[r.tags],
		BilledCost: r.amounts[0], EffectiveCost: r.amounts[1], ListCost: r.amounts[2], ContractedCost: r.amounts[3],
		PricingQuantity: r.amounts[4], ExactAmounts: h.exact[int(n)],
	}
	if r.end != noEnd {
		l.ChargePeriodEnd = &r.end
	}
	for i, into := range l.texts() {
		*into = h.words[i].texts[r.texts[i]]
	}
	return l
}

// heldWords are the distinct texts of a column.
type heldWords struct {
	numbers map[string]uint16
	texts   []string
	last    uint16 // the number that was asked for last
}

func (w *heldWords) number(text string) uint16 {
	if int(w.last) < len(w.texts) && w.texts[w.last] == text {
		return w.last
	}
	n, found := w.numbers[text]
	if !found {
		n = uint16(len(w.texts)) //nolint:gosec // below groupRows
		w.numbers[text] = n
		w.texts = append(w.texts, text)
	}
	w.last = n
	return n
}

// ranks returns the positions of the texts in alphabetical order, by number.
func (w *heldWords) ranks() []int32 {
	sorted := slices.Sorted(slices.Values(w.texts))
	out := make([]int32, len(w.texts))
	for i, text := range sorted {
		out[w.numbers[text]] = int32(i) //nolint:gosec // of a row group
	}
	return out
}

func (w *heldWords) clear() {
	clear(w.numbers)
	clear(w.texts)
	w.texts, w.last = w.texts[:0], 0
}

// heldTags are the distinct sets of tags. The first one is empty.
type heldTags struct {
	numbers map[string]int32 // by the bytes of keys and values
	sets    []map[string]string
	bytes   []byte
}

func (h *heldTags) number(tags []bill.Tag) int32 {
	if len(h.sets) == 0 {
		h.sets = append(h.sets, nil)
	}
	if len(tags) == 0 {
		return 0
	}
	h.bytes = h.bytes[:0]
	for _, t := range tags {
		h.bytes = appendCounted(appendCounted(h.bytes, t.Key), t.Value)
	}
	n, found := h.numbers[string(h.bytes)]
	if !found {
		n = int32(len(h.sets)) //nolint:gosec // of a row group
		h.numbers[string(h.bytes)] = n
		h.sets = append(h.sets, tagMap(tags))
	}
	return n
}

func tagMap(in []bill.Tag) map[string]string {
	out := make(map[string]string, len(in))
	for _, t := range in {
		out[t.Key] = t.Value
	}
	return out
}

func (h *heldTags) clear() {
	clear(h.numbers)
	clear(h.sets)
	h.sets = h.sets[:0]
}
