package table

import "context"

type eventualKey struct{}

// Eventually returns a context for eventually consistent reads, at half the price: they may miss the latest changes of
// an item. Use it for items that never change, if the reader can read a missing one again, and for repeated searches
// whose results are only written on a condition.
func Eventually(ctx context.Context) context.Context {
	return context.WithValue(ctx, eventualKey{}, true)
}

// IsEventual reports whether the reads of ctx may be eventually consistent.
func IsEventual(ctx context.Context) bool {
	eventual, _ := ctx.Value(eventualKey{}).(bool)
	return eventual
}

// priceOf returns the price of reading units with the consistency of ctx.
func priceOf(ctx context.Context, units int) float64 {
	if IsEventual(ctx) {
		return float64(units) / 2
	}
	return float64(units)
}
