package confined

import (
	"encoding/binary"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// A charge is sent as a bit mask of the fields that differ from the previous charge, followed by these fields. A text
// is sent once, and then by its number: both sides keep the same table of texts and clear it when it is full.
const (
	mostTexts   = 32 << 10
	longestText = 512 // of the table; longer ones are sent each time
)

// texts returns the texts of a charge, in the order of their bits.
func texts(c *bill.Charge) [23]*string {
	return [...]*string{
		&c.BillingAccountID, &c.SubAccountID, &c.SubAccountName, &c.ProviderName, &c.PublisherName,
		&c.InvoiceIssuerName, &c.InvoiceID,
		&c.ChargeCategory, &c.ChargeClass, &c.ChargeFrequency, &c.ChargeText, &c.ServiceCategory, &c.ServiceName,
		&c.RegionID,
		&c.ResourceID, &c.ResourceName, &c.ResourceType, &c.SkuID, &c.PricingCategory, &c.CommitmentID,
		&c.CommitmentStatus,
		&c.BillingCurrency, &c.Unit,
	}
}

// sameAmount stands for the same amount as in the previous field: most costs of a charge are equal. No encoded amount
// begins with it.
const sameAmount = 0xff

func amounts(c *bill.Charge) [6]*money.Amount {
	return [...]*money.Amount{&c.USDRate, &c.BilledCost, &c.EffectiveCost, &c.ListCost, &c.ContractedCost, &c.Quantity}
}

func times(c *bill.Charge) [3]*time.Time {
	return [...]*time.Time{&c.BillingPeriodStart, &c.ChargePeriodStart, &c.ChargePeriodEnd}
}

// The first bits of the kinds of fields.
const (
	firstAmount = 23
	firstTime   = 29
	tagsBit     = 32
	fieldCount  = 33
)

// encoder writes charges.
type encoder struct {
	b       []byte
	last    bill.Charge
	numbers map[string]uint64
}

// add appends a charge of a row.
func (e *encoder) add(row int64, c *bill.Charge) {
	e.b = binary.AppendUvarint(e.b, uint64(row)) //nolint:gosec // it is positive
	at := len(e.b)
	e.b = append(e.b, 0, 0, 0, 0, 0)
	var bits uint64
	now, before := texts(c), texts(&e.last)
	for i := range now {
		if *now[i] != *before[i] {
			bits |= 1 << i
			e.addText(*now[i])
		}
	}
	bits |= e.addAmounts(c) | e.addTimes(c) | e.addTags(c)
	for i := range 5 {
		e.b[at+i] = byte(bits >> (8 * i))
	}
	e.last = *c
}

func (e *encoder) addAmounts(c *bill.Charge) (bits uint64) {
	now, before := amounts(c), amounts(&e.last)
	for i := range now {
		if *now[i] == *before[i] {
			continue
		}
		bits |= 1 << (firstAmount + i)
		if i > 0 && *now[i] == *now[i-1] { //nolint:gosec // i is at least 1
			e.b = append(e.b, sameAmount)
		} else {
			e.b = now[i].AppendBinary(e.b)
		}
	}
	return bits
}

func (e *encoder) addTimes(c *bill.Charge) (bits uint64) {
	now, before := times(c), times(&e.last)
	for i := range now {
		if *now[i] == *before[i] { //nolint:staticcheck // all are in UTC, and this is cheaper
			continue
		}
		bits |= 1 << (firstTime + i)
		e.b = binary.AppendVarint(e.b, now[i].Unix())
		e.b = binary.AppendUvarint(e.b, uint64(now[i].Nanosecond())) //nolint:gosec // it is positive
	}
	return bits
}

func (e *encoder) addTags(c *bill.Charge) uint64 {
	if sameTags(c.Tags, e.last.Tags) {
		return 0
	}
	e.b = binary.AppendUvarint(e.b, uint64(len(c.Tags)))
	for i := range c.Tags {
		e.addText(c.Tags[i].Key)
		e.addText(c.Tags[i].Value)
	}
	return 1 << tagsBit
}

func sameTags(a, b []bill.Tag) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) > 0 && &a[0] == &b[0] {
		return true // the reader keeps the tags of many rows once
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// addText appends the number of a text, or 0 and the text.
func (e *encoder) addText(s string) {
	if n, ok := e.numbers[s]; ok {
		e.b = binary.AppendUvarint(e.b, n)
		return
	}
	e.b = append(e.b, 0)
	e.b = binary.AppendUvarint(e.b, uint64(len(s)))
	e.b = append(e.b, s...)
	if len(s) > longestText {
		return
	}
	if e.numbers == nil || len(e.numbers) == mostTexts {
		e.numbers = make(map[string]uint64, mostTexts)
	}
	e.numbers[s] = uint64(len(e.numbers) + 1)
}

// decoder reads charges.
type decoder struct {
	b     []byte
	last  bill.Charge
	texts []string
	bad   bool
}

var errCharges = errors.New("the charges of the reader of bills cannot be read")

// each calls take with each charge and its row.
func (d *decoder) each(content []byte, take func(row int64, c *bill.Charge) error) error {
	for d.b = content; len(d.b) > 0; {
		row := d.uvarint()
		d.readCharge()
		if d.bad {
			return errCharges
		}
		c := d.last
		if err := take(int64(row), &c); err != nil { //nolint:gosec // what is counted
			return err
		}
	}
	return nil
}

func (d *decoder) readCharge() {
	var bits uint64
	for i, b := range d.take(5) {
		bits |= uint64(b) << (8 * i)
	}
	for i, to := range texts(&d.last) {
		if bits&(1<<i) != 0 {
			*to = d.text()
		}
	}
	all := amounts(&d.last)
	for i, to := range all {
		if bits&(1<<(firstAmount+i)) != 0 {
			d.amount(to, all[max(i-1, 0)])
		}
	}
	for i, to := range times(&d.last) {
		if bits&(1<<(firstTime+i)) != 0 {
			*to = d.time()
		}
	}
	if bits&(1<<tagsBit) != 0 {
		d.tags()
	}
}

// take takes n bytes.
func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.take(uint64(max(n, 0))) //nolint:gosec // not negative
	d.bad = d.bad || n <= 0
	return v
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.texts)) {
		d.bad = true
		return ""
	}
	if n > 0 {
		return d.texts[n-1]
	}
	s := string(d.take(d.uvarint()))
	if len(s) <= longestText {
		if len(d.texts) == mostTexts {
			d.texts = d.texts[:0]
		}
		d.texts = append(d.texts, s)
	}
	return s
}

// amount reads an amount into to; before is the amount of the previous field.
func (d *decoder) amount(to, before *money.Amount) {
	if len(d.b) > 0 && d.b[0] == sameAmount {
		d.take(1)
		*to = *before
		return
	}
	a, n := money.DecodeBinary(d.b)
	if n <= 0 {
		d.bad = true
		return
	}
	d.take(uint64(n))
	*to = a
}

func (d *decoder) time() time.Time {
	v, n := binary.Varint(d.b)
	d.take(uint64(max(n, 0))) //nolint:gosec // not negative
	d.bad = d.bad || n <= 0
	t := time.Unix(v, int64(d.uvarint())).UTC() //nolint:gosec // less than a second
	if t.IsZero() {
		return time.Time{}
	}
	return t
}

func (d *decoder) tags() {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad = true
		return
	}
	d.last.Tags = nil
	for range n {
		d.last.Tags = append(d.last.Tags, bill.Tag{Key: d.text(), Value: d.text()})
	}
}
