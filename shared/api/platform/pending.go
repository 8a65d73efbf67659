package platform

import "context"

// Pending tells about the clouds that this process cannot reach until a complete program takes its place: the first
// stage of `make run` does not link their SDKs.
type Pending interface {
	// Reason returns why accounts of the provider cannot be opened yet, as users read it; "" when they can be.
	Reason(provider string) string
	// Wait returns an error: in a worker in the background not before ctx ends, and at once where a client waits.
	Wait(ctx context.Context) error
	// Remember keeps the id of an account that the complete program must verify. It does so before the account is
	// stored.
	Remember(org, accountID string) error
}
