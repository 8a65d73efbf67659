package report

import "lamplighter.dev/shared/domain/cost"

// Unconverted is an amount in a currency without a known exchange rate.
type Unconverted struct {
	Currency string `json:"currency" example:"EUR"`
	Amount   string `json:"amount" example:"12.30"`
}

// NewUnconverted returns totals with two decimal places, as reports show them. It is never nil.
func NewUnconverted(totals []cost.CurrencyTotal) []Unconverted {
	out := make([]Unconverted, len(totals))
	for i, t := range totals {
		out[i] = Unconverted{t.Currency, t.Amount.Fixed(2)}
	}
	return out
}
