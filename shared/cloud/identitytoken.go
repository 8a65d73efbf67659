package cloud

import "context"

// IdentityTokens makes the tokens that identify this service to other clouds without a secret: the clouds trust their
// issuer (workload identity federation).
type IdentityTokens interface {
	// IdentityToken returns a signed JWT of this service for the audience. Errors are *Error.
	IdentityToken(ctx context.Context, audience string) (string, error)
}
