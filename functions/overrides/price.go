package overrides

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
)

// priceOf tells what it costs at public prices to run what the link is for from now until then: what an hour costs more than while it is
// stopped.
func (s *service) priceOf(ctx context.Context, w *woken, now, until time.Time) (string, error) {
	uids := make([]string, len(w.target.Members))
	for i, m := range w.target.Members {
		uids[i] = m.UID
	}
	rates, err := pricing.ReadRates(ctx, s.p.Table, s.inventory, w.org, uids...)
	if err != nil {
		return "", fmt.Errorf("read what the members of wake link %s cost: %w", w.ID, err)
	}
	return describePrice(rates, uids, until.Sub(now)), nil
}

// describePrice adds up what an hour of resources costs, and says of how many no price is known.
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
		return "not known: no public price is known of what it starts"
	}
	total := hourly.MulDiv(money.FromInt(int64(length/time.Second)), money.FromInt(int64(time.Hour/time.Second)))
	text := fmt.Sprintf("about $%s at public prices, $%s an hour", total.Fixed(2), hourly.Fixed(4))
	if unknown > 0 {
		text += fmt.Sprintf("; no price is known of %d of %d resources", unknown, len(uids))
	}
	return text
}
