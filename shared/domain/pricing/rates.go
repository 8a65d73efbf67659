package pricing

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud/ecb"
	"lamplighter.dev/shared/domain/cost"
)

// publicRates are kept as a list of prices is: what a unit of a currency is worth, by day.
var publicRates = ProviderRegion{ecb.Name, "rates"}

const rateSource = "European Central Bank"

// ratesPause is after how long rates are asked for again that could not be read, and that nobody has fetched before.
const ratesPause = 10 * time.Minute

// RateOf tells what a unit of a currency was worth on a day: on the last working day up to it or, where what is kept begins later, on the
// first one. They are fetched at night where somebody has a bill in another currency, and at once for the first of them. false when nothing is
// known: then nothing is guessed.
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

// readRates reads the rates that are kept; nil when there are none.
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

// mayTryRates reports whether rates were not asked for just now, and notes that they are.
func (s *Store) mayTryRates() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); s.providers[publicRates.Provider] != nil && now.Sub(s.triedRates) >= ratesPause {
		s.triedRates = now
		return true
	}
	return false
}

// addRates converts what was billed while no rates were to be had.
func (s *Store) addRates(ctx context.Context, org string) error {
	return s.costs.AddRates(ctx, org, s.RateOf)
}
