package cloud

import (
	"context"
	"errors"

	"lamplighter.dev/shared/foundation/money"
)

// Price is a public price of a provider, in US dollars before tax, without any agreement.
type Price struct {
	// Key names the priced item as shared/domain/pricing does: a family and the properties that distinguish its
	// prices, separated by "/": "ec2/m5.large/linux/default", "ebs/gp3/storage".
	Key  string
	Unit PriceUnit
	USD  money.Amount
}

// PriceUnit is the unit of a price.
type PriceUnit string

// The units.
const (
	PerHour  PriceUnit = "hour"
	Each     PriceUnit = "each"  // of a currency
	PerMonth PriceUnit = "month" // of a gibibyte, an operation a second, or of the thing itself, as the key says
)

// Pricer is a Provider with public prices.
type Pricer interface {
	// Prices passes every known price of a region to take, each key once. It returns the version of the list: the
	// provider's publication date, or the day of the fetch. If the answer breaks off, Prices returns an error, and the
	// prices until then must be discarded.
	Prices(ctx context.Context, region string, take func(Price) error) (version string, err error)
}

// ErrPricesOff is the error of a Pricer whose operator has not configured the access that its prices need.
var ErrPricesOff = errors.New("the prices of this provider are switched off")

// LocalPricer is a Pricer that may know its prices without a request: they are available at once.
type LocalPricer interface {
	Pricer
	// PricesAreLocal reports whether it does.
	PricesAreLocal() bool
}
