//go:build simulatedonly

package providers

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
)

// placeholder stands for a provider whose SDK this program does not link yet. It knows the provider's kinds. It never
// connects: Connect returns when the caller's context ends, or at once where the caller must not wait.
type placeholder struct {
	name    string
	pending platform.Pending
}

// newPlaceholders returns a placeholder for each name.
func newPlaceholders(pending platform.Pending, names ...string) cloud.Providers {
	out := make(cloud.Providers, len(names))
	for _, name := range names {
		out[name] = placeholder{name, pending}
	}
	return out
}

// Name returns the identifier of the provider.
func (p placeholder) Name() string { return p.name }

// Kinds returns the kinds of the provider from the catalogue.
func (p placeholder) Kinds() []cloud.Kind { return cloud.KindsOf(p.name) }

// Connect returns an error in every case.
func (p placeholder) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	return nil, fmt.Errorf("connect account %s of %s: %w", a.ID, p.name, p.pending.Wait(ctx))
}
