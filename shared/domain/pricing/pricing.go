// Package pricing computes and keeps the costs of resources. Rate prices a resource from a table of public prices, by
// provider and region; a resource without a price gets the reason, never a guess. Store keeps the tables, and updates
// the known costs of an organization's resources when a discovery ends and every night: the hourly rate at public
// prices, and the billed cost of this month and the last. Costs reads them for a request, with the index of the
// inventory.
package pricing

import (
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// HoursPerMonth is the number of hours in a month of an estimate: 365 × 24 / 12.
const HoursPerMonth = 730

// StaleAfter is the age from which a table is reported as old. Tables are fetched every night.
const StaleAfter = 48 * time.Hour

// Table is the prices of a provider in a region. The zero Table is empty.
type Table struct {
	Provider  string
	Region    string
	Version   string    // the provider's version of the list, or the day of the fetch
	FetchedAt time.Time // when it was last found to hold
	Failed    string    // why a later fetch brought nothing
	prices    map[string]Entry
}

// Entry is a price of a table.
type Entry struct {
	Unit cloud.PriceUnit
	USD  money.Amount
}

// Add adds a price to the table. It replaces a price with the same key.
func (t *Table) Add(p cloud.Price) {
	if t.prices == nil {
		t.prices = map[string]Entry{}
	}
	t.prices[p.Key] = Entry{p.Unit, p.USD}
}

// Price returns the price of a key, or false.
func (t *Table) Price(key string) (Entry, bool) {
	e, ok := t.prices[key]
	return e, ok
}

// Len counts the prices.
func (t *Table) Len() int { return len(t.prices) }

// Keys returns the keys, in order.
func (t *Table) Keys() []string { return slices.Sorted(maps.Keys(t.prices)) }

// Stale reports whether the last fetch of prices failed, or is older than StaleAfter.
func (t *Table) Stale(now time.Time) bool { return t.Failed != "" || now.Sub(t.FetchedAt) > StaleAfter }
