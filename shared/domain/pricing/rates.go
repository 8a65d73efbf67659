package pricing

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud/ecb"
	"lamplighter.dev/shared/domain/cost"
)

// publicRates identifies the table of currency rates. It is stored as a price table: the value of a unit of each
// currency, by day.
var publicRates = ProviderRegion{ecb.Name, "rates"}

const rateSource = "European Central Bank"

// ratesPause is the time between two attempts to fetch currency rates that were never fetched.
const ratesPause = 10 * time.Minute

// RateOf returns the value of a unit of a currency on a day: the rate of the last working day up to it, or the first
// rate that is kept when the day is earlier. It returns false when no rate is known. Rates are fetched every night
// while an organization has a bill in another currency, and at once for the first such bill.
func (s *Store) RateOf(ctx context.Context, currency string, on time.Time) (cost.Rate, bool, error) {
	t, err := s.readRates(ctx)
	if err != nil || t == nil {
		return cost.Rate{}, false, err
	}
	date := ""
	for _, key := range t.Keys() {
		day, of, _ := strings.Cut(key, "/")
		if of == currency && (date == "" || day <= on.UTC().Format(time.DateOnly)) {
			date = day
		}
	}
	e, ok := t.Price(ecb.KeyOf(date, currency))
	source := rateSource
	if t.Failed != "" {
		source += "; newer rates could not be fetched"
	}
	return cost.Rate{USD: e.USD, Source: source, Date: date}, ok, nil
}

// readRates reads the stored rates, or nil.
func (s *Store) readRates(ctx context.Context) (*Table, error) {
	all, err := s.Tables(ctx, []ProviderRegion{publicRates})
	if err != nil || all[publicRates] != nil || !s.mayTryRates() {
		return all[publicRates], err
	}
	if s.RefreshPrices(ctx, publicRates) != nil {
		return nil, nil //nolint:nilnil,nilerr // why is noted in the head of the list
	}
	all, err = s.Tables(ctx, []ProviderRegion{publicRates})
	return all[publicRates], err
}

// mayTryRates reports whether the last fetch of rates is long enough ago, and records a new fetch if so.
func (s *Store) mayTryRates() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); s.providers[publicRates.Provider] != nil && now.Sub(s.triedRates) >= ratesPause {
		s.triedRates = now
		return true
	}
	return false
}

// addRates converts the bills that were imported while no currency rates were available.
func (s *Store) addRates(ctx context.Context, org string) error {
	return s.costs.AddRates(ctx, org, s.RateOf)
}
