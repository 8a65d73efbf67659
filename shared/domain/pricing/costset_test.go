package pricing

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

// With more resources than a part takes, each part keeps the values that were written.
func TestCosts_OfManyPartsReadAsWritten(t *testing.T) {
	all := make([]KnownCost, costsPerPart+100)
	for i := range all {
		all[i] = KnownCost{
			UID:  fmt.Sprint("i-", i),
			Rate: HourlyRate{Running: money.FromScaled(int64(i%7), 4), Version: "v"},
		}
		if i%3 > 0 {
			all[i].Billed = &Invoiced{money.FromScaled(int64(i), 2), money.FromScaled(int64(-i), 2), i%3 == 1}
		}
	}
	var set costSet
	for _, part := range encodeCosts(all) {
		if err := set.decode(part); err != nil {
			t.Fatal(err)
		}
	}
	for i := range all {
		rate, billed := set.find(all[i].UID)
		if rate == nil || *rate != all[i].Rate || (billed == nil) != (all[i].Billed == nil) || billed != nil &&
			*billed != *all[i].Billed {
			t.Fatalf("%s: %+v, %+v; want %+v", all[i].UID, rate, billed, all[i])
		}
	}
}

func TestCosts_OfTheVersionBeforeAreAllCurrent(t *testing.T) {
	b, err := costUnpacker.Unpack(encodeCosts([]KnownCost{{
		UID:    "i-1",
		Billed: &Invoiced{LastMonth: money.FromScaled(5, 0)},
	}})[0])
	if err != nil {
		t.Fatal(err)
	}
	var set costSet
	if err = set.decode(costPacker.Append(nil, b[:len(b)-1])); err != nil { // it wrote no bits
		t.Fatal(err)
	}
	if _, billed := set.find("i-1"); billed == nil || !billed.Current {
		t.Errorf("%+v", billed)
	}
}
