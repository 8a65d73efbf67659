package table

import "context"

type eventualKey struct{}

// Eventually lets the reads of ctx be eventually consistent, at half the price: an item that was written a moment ago may be
// missing, or be as it was before. It is for items that never change, read by who can ask again for one that is missing, and for those
// that are looked for again and again, and only written on a condition.
func Eventually(ctx context.Context) context.Context {
	return context.WithValue(ctx, eventualKey{}, true)
}

// IsEventual reports whether the reads of ctx may be eventually consistent.
func IsEventual(ctx context.Context) bool {
	eventual, _ := ctx.Value(eventualKey{}).(bool)
	return eventual
}

// priceOf returns what reading units costs as ctx wants it to be consistent.
func priceOf(ctx context.Context, units int) float64 {
	if IsEventual(ctx) {
		return float64(units) / 2
	}
	return float64(units)
}
