// Package pricing tells what a resource costs at public prices: tables of prices by provider and region, and for each type of resource
// which of them apply to it. What has no price is told with the reason, and never guessed. It is pure: who fetches and keeps tables is
// shared/domain/estimation.
package pricing

import (
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// HoursPerMonth is what a month is in estimates: 365 days of 24 hours, by 12.
const HoursPerMonth = 730

// StaleAfter is how old a table may be until it is said to be: tables are fetched every night.
const StaleAfter = 48 * time.Hour

// Table is the prices of a provider in a region. The zero value knows none.
type Table struct {
	Provider  string
	Region    string
	Version   string    // what the provider says of the list, or the day on which it was fetched
	FetchedAt time.Time // when it was last found to hold
	Failed    string    // why a later fetch brought nothing
	prices    map[string]Entry
}

// Entry is a price of a table.
type Entry struct {
	Unit cloud.PriceUnit
	USD  money.Amount
}

// Add puts a price into the table. Of two with one key the later one holds.
func (t *Table) Add(p cloud.Price) {
	if t.prices == nil {
		t.prices = map[string]Entry{}
	}
	t.prices[p.Key] = Entry{p.Unit, p.USD}
}

// Price returns the price of a key; false when the table has none.
func (t *Table) Price(key string) (Entry, bool) {
	e, ok := t.prices[key]
	return e, ok
}

// Len counts the prices.
func (t *Table) Len() int { return len(t.prices) }

// Keys returns the keys, in order.
func (t *Table) Keys() []string { return slices.Sorted(maps.Keys(t.prices)) }

// Stale reports whether newer prices could not be fetched, or were not for longer than a night.
func (t *Table) Stale(now time.Time) bool { return t.Failed != "" || now.Sub(t.FetchedAt) > StaleAfter }
