package aws

import (
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// reservedGroups are the prices on demand whose reservations are read. Those of EC2 are left out: a savings plan
// replaces them.
var reservedGroups = map[string]bool{"rds": true, "elasticache": true, "opensearch": true, "redshift": true}

// reservedTerms and reservedPayments are AWS's names of terms and payments.
var (
	reservedTerms    = map[string]int{"1yr": 1, "3yr": 3}
	reservedPayments = map[string]string{
		"No Upfront": "none", "Partial Upfront": "partial", "All Upfront": "all",
	}
)

// hoursPerYear is the length of a year of a reservation.
const hoursPerYear = 8760

// reservedKey identifies a reservation: the key of its price on demand, its term in years and its payment.
type reservedKey struct {
	key     string
	years   int
	payment string
}

// reservedPrice is what a reservation costs: an hour, and at once.
type reservedPrice struct {
	hourly, upfront money.Amount
	unclear         bool // two lines say different prices
}

// isReserved reports whether the line is a price of a standard reservation, in dollars, of the region itself.
func (l priceLine) isReserved() bool {
	if t := l.get("Location Type"); t != "AWS Region" && t != "" {
		return false
	}
	class := l.get("OfferingClass")
	return l.get("TermType") == "Reserved" && l.get("Currency") == "USD" && (class == "standard" || class == "")
}

// addReserved adds a line of a reservation. Its price an hour and its price at once are lines of their own.
func (f *priceFile) addReserved(l priceLine) error {
	price, ok := l.price()
	group, _, _ := strings.Cut(price.Key, "/")
	years, payment := reservedTerms[l.get("LeaseContractLength")], reservedPayments[l.get("PurchaseOption")]
	if !ok || !reservedGroups[group] || years == 0 || payment == "" {
		return nil
	}
	usd, err := money.Parse(l.get("PricePerUnit"))
	if err != nil {
		return err
	}
	k := reservedKey{strings.Clone(price.Key), years, payment}
	if f.reserved == nil {
		f.reserved = map[reservedKey]reservedPrice{}
	}
	r := f.reserved[k]
	part := &r.hourly
	if l.get("Unit") == "Quantity" {
		part = &r.upfront
	}
	r.unclear = r.unclear || !part.IsZero() && *part != usd
	*part = usd
	f.reserved[k] = r
	return nil
}

// perHour returns what an hour of the term costs. It returns false if a part of the price is missing or unclear.
func (r *reservedPrice) perHour(k reservedKey) (money.Amount, bool) {
	whole := (k.payment == "all" || !r.hourly.IsZero()) && (k.payment == "none" || !r.upfront.IsZero())
	return r.hourly.Add(r.upfront.DivInt(int64(k.years) * hoursPerYear)), whole && !r.unclear
}

// tellReserved passes the rates of reservations to take, by family.
func (f *priceFile) tellReserved(take func(cloud.Price) error) error {
	var rates cloud.CommitmentRates
	for k, r := range f.reserved {
		onDemand, known := f.prices[k.key]
		hour, whole := r.perHour(k)
		if !known || !whole || f.unclear[k.key] {
			continue
		}
		parts := strings.Split(k.key, "/")
		rates.Add(cloud.CommitmentRate{
			Kind: "reservation", Group: parts[0], Family: cloud.FamilyOf(parts[1]), Years: k.years, Payment: k.payment,
		}, hour, onDemand.USD)
	}
	return rates.Tell(take)
}
