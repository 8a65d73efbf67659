// Package cost computes the cost of the service in AWS for four sizes. It uses the measured usage of the functions in
// this process, and a file of dated prices. With `make cost` a developer sees the cost of a change.
package cost

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
)

//go:embed prices.json
var priceFile []byte

// Prices are the list prices of AWS in US dollars.
type Prices struct {
	Region string           `json:"region"`
	Date   string           `json:"date"`
	Of     map[string]Price `json:"prices"`
}

// Price is the price of Per units. USD is a decimal.
type Price struct {
	USD    string `json:"usd"`
	Per    int64  `json:"per"`
	Unit   string `json:"unit"`
	Free   int64  `json:"free"` // units each month, permanently
	Source string `json:"source"`
}

// ReadPrices reads the prices of this package. A price that is no decimal is an error.
func ReadPrices() (Prices, error) {
	var p Prices
	if err := json.Unmarshal(priceFile, &p); err != nil {
		return p, fmt.Errorf("read prices: %w", err)
	}
	for name, price := range p.Of {
		if _, ok := new(big.Rat).SetString(price.USD); !ok || price.Per < 1 {
			return p, fmt.Errorf("the price of %s is %q for %d, which is none", name, price.USD, price.Per)
		}
	}
	return p, nil
}

// free returns the free allowance of a price, in its unit.
func (p Prices) free(name string) *big.Rat { return new(big.Rat).SetInt64(p.Of[name].Free) }

// of returns the exact price of amount units of name, the part of it that is free, and the used units of left, which is
// the remaining free allowance.
func (p Prices) of(name string, amount, left *big.Rat) (usd, free, used *big.Rat) {
	price, ok := p.Of[name]
	if !ok {
		panic("cost: there is no price of " + name) // a defect of this package
	}
	each, _ := new(big.Rat).SetString(price.USD)
	each.Quo(each, new(big.Rat).SetInt64(price.Per))
	used = left
	if amount.Cmp(left) < 0 {
		used = amount
	}
	used = new(big.Rat).Set(used)
	return new(big.Rat).Mul(each, amount), new(big.Rat).Mul(each, used), used
}
