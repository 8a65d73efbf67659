package cloud

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// PerUSD is the unit of what the use of 1 USD on demand costs under a commitment.
const PerUSD PriceUnit = "USD"

// CommitmentRate identifies what a family of machines costs under a commitment, for 1 USD of its use on demand.
type CommitmentRate struct {
	Kind    string // plan, reservation
	Group   string // the first part of the keys of its prices: rds, vm …
	Family  string // FamilyOf its classes
	Years   int    // the term: 1 or 3
	Payment string // upfront: none, partial, all
}

// Key is the key of the rate in a list of prices.
func (c *CommitmentRate) Key() string {
	return fmt.Sprintf("commitment/%s/%s/%s/%dy/%s", c.Kind, c.Group, c.Family, c.Years, c.Payment)
}

// CommitmentRates collects the rates of a list of prices: of each family the highest, so that no class of it saves
// less. The zero value is empty.
type CommitmentRates struct{ highest map[string]money.Amount }

// Add adds the rate of a class of machines: its price under a commitment by its price on demand. A rate that is not
// between 0 and 1 is no discount. The family then has none: the highest rate of its classes counts.
func (r *CommitmentRates) Add(of CommitmentRate, committed, onDemand money.Amount) {
	if of.Family == "" || committed.Sign() <= 0 || onDemand.Sign() <= 0 {
		return
	}
	if r.highest == nil {
		r.highest = map[string]money.Amount{}
	}
	key, rate := of.Key(), committed.MulDiv(money.FromInt(1), onDemand).Round(6)
	if had, known := r.highest[key]; !known || rate.Cmp(had) > 0 {
		r.highest[key] = rate
	}
}

// Tell passes the rates below 1 to take, in the order of their keys.
func (r *CommitmentRates) Tell(take func(Price) error) error {
	for _, key := range slices.Sorted(maps.Keys(r.highest)) {
		rate := r.highest[key]
		if rate.Cmp(money.FromInt(1)) >= 0 {
			continue
		}
		if err := take(Price{Key: key, Unit: PerUSD, USD: rate}); err != nil {
			return err
		}
	}
	return nil
}

// azureFamily are the parts of a size of Azure that name its family: Standard_D4s_v5 is of Dsv5.
var azureFamily = regexp.MustCompile(`^Standard_([A-Z]+)[0-9]+(?:-[0-9]+)?([a-z]*)(?:_(v[0-9]+))?$`)

// FamilyOf returns the family of a class of machines of AWS or Azure, in which a reservation can change its size; "" if
// the class does not show it.
func FamilyOf(class string) string {
	if m := azureFamily.FindStringSubmatch(class); m != nil {
		return m[1] + m[2] + m[3]
	}
	parts := strings.Split(class, ".")
	switch {
	case len(parts) < 2:
		return ""
	case parts[0] == "db" || parts[0] == "cache":
		if len(parts) < 3 {
			return ""
		}
		return parts[0] + "." + parts[1]
	}
	return parts[0]
}
