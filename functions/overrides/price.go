package overrides

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// priceOf describes the cost, at public prices, of running the link's target from now until then: its hourly price
// beyond that of the stopped state.
func (s *service) priceOf(ctx context.Context, w *openedLink, now, until time.Time) (string, error) {
	uids := make([]string, len(w.target.Members))
	for i, m := range w.target.Members {
		uids[i] = m.UID
	}
	rates, err := pricing.ReadRates(ctx, s.p.Table, s.inventory, w.org, uids...)
	if err != nil {
		return "", fmt.Errorf("read the prices of the members of wake link %s: %w", w.ID, err)
	}
	return describePrice(rates, uids, until.Sub(now)), nil
}

// describePrice describes the total hourly price of resources for a time, and the number of resources without a known
// price.
func describePrice(rates map[string]pricing.HourlyRate, uids []string, length time.Duration) string {
	hourly, unknown := money.Amount{}, 0
	for _, uid := range uids {
		r, known := rates[uid]
		if !known || r.Reason != "" {
			unknown++
			continue
		}
		hourly = hourly.Add(r.Running.Sub(r.Off))
	}
	if unknown == len(uids) {
		return "not known: no public price is known of its resources"
	}
	total := hourly.MulDiv(money.FromInt(int64(length/time.Second)), money.FromInt(int64(time.Hour/time.Second)))
	text := fmt.Sprintf("about $%s at public prices, $%s an hour", total.Fixed(2), hourly.Fixed(4))
	if unknown > 0 {
		text += fmt.Sprintf("; the price of %d of %d resources is not known", unknown, len(uids))
	}
	return text
}
