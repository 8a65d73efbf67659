package confined

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func TestFields_AreThoseOfACharge(t *testing.T) {
	if n := reflect.TypeFor[bill.Charge]().NumField(); n != fieldCount {
		t.Errorf("a charge has %d fields; %d are sent", n, fieldCount)
	}
	var c bill.Charge
	seen := map[any]bool{}
	for _, p := range texts(&c) {
		seen[p] = true
	}
	for _, p := range amounts(&c) {
		seen[p] = true
	}
	for _, p := range times(&c) {
		seen[p] = true
	}
	if len(seen) != fieldCount-1 {
		t.Errorf("%d fields are sent once, besides the tags; want %d", len(seen), fieldCount-1)
	}
}

// TestCharges_ArriveAsTheyWereSent sends charges that differ at random, and more texts than the tables hold.
func TestCharges_ArriveAsTheyWereSent(t *testing.T) {
	r := seed.Random(t)
	var e encoder
	var c bill.Charge
	var sent []bill.Charge
	for i := range 20_000 {
		all := texts(&c)
		for range 3 {
			*all[r.IntN(len(all))] = fmt.Sprint("text ", r.IntN(60_000))
		}
		*amounts(&c)[r.IntN(6)] = money.FromScaled(r.Int64()-r.Int64(), r.IntN(20))
		*times(&c)[r.IntN(3)] = time.Unix(r.Int64N(1<<33), r.Int64N(1e9)).UTC()
		switch r.IntN(5) {
		case 0:
			c.Tags = []bill.Tag{{Key: strconv.Itoa(i), Value: "x"}, {Key: "team", Value: strconv.Itoa(r.IntN(9))}}
		case 1:
			c.Tags, c.ChargePeriodEnd = nil, time.Time{}
		}
		e.add(int64(i), &c)
		sent = append(sent, c)
	}
	var d decoder
	n := 0
	err := d.each(e.b, func(row int64, got *bill.Charge) error {
		if row != int64(n) || !reflect.DeepEqual(*got, sent[n]) {
			return fmt.Errorf("row %d arrived as %d:\n%+v\n%+v", n, row, *got, sent[n])
		}
		n++
		return nil
	})
	if err != nil || n != len(sent) {
		t.Errorf("%d of %d: %v", n, len(sent), err)
	}
}

// FuzzCharges decodes any bytes: the result is charges or an error.
func FuzzCharges(f *testing.F) {
	var e encoder
	e.add(1, &bill.Charge{
		BillingCurrency: "USD", BilledCost: money.FromInt(3), Tags: []bill.Tag{{Key: "a", Value: "b"}},
	})
	f.Add(e.b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		var d decoder
		_ = d.each(b, func(int64, *bill.Charge) error { return nil })
	})
}
