package cloud

import "context"

// IdentityTokens makes tokens by which other clouds know this service without a secret: they trust who signs them (workload
// identity federation).
type IdentityTokens interface {
	// IdentityToken returns a signed JWT of this service for the audience. Errors are *Error.
	IdentityToken(ctx context.Context, audience string) (string, error)
}
