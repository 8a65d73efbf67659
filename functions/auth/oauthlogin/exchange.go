package oauthlogin

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/oauth2"

	"lamplighter.dev/shared/foundation/fault"
)

// exchangeCode returns a code for tokens.
func exchangeCode(ctx context.Context, name string, c *http.Client, cfg *oauth2.Config, code, verifier string) (*oauth2.Token, error) { //nolint:revive // all of it is one call of the provider
	t, err := cfg.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c), code, oauth2.VerifierOption(verifier))
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return t, nil
	case !ok || refused.Response.StatusCode >= http.StatusInternalServerError:
		return nil, errUnreachable(name, withoutBody(err))
	case isOurFault(refused.ErrorCode):
		return nil, fault.NewWithCause(fault.Internal, withoutBody(err), "%s does not know us by the client id and "+
			"secret that are configured", name)
	}
	return nil, fault.NewWithCause(fault.Unauthenticated, withoutBody(err), "code: %s refuses it (%s); begin again "+
		"with GET /auth/%s/url", name, fault.CleanText(refused.ErrorCode, 40), name)
}

// isOurFault reports whether an error of a token endpoint is the operator's to mend, for RFC 6749 and for GitHub.
func isOurFault(code string) bool {
	switch code {
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "incorrect_client_credentials",
		"redirect_uri_mismatch":
		return true
	}
	return false
}

// withoutBody leaves the answer's body out of an error, for it may hold tokens.
func withoutBody(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	return &refusedError{refused.Response.StatusCode, fault.CleanText(refused.ErrorCode, 40),
		fault.CleanText(refused.ErrorDescription, 200)}
}

// refusedError is a refused token call, without what came with it.
type refusedError struct {
	status      int
	code        string
	description string
}

// Error returns what the provider says is wrong.
func (e *refusedError) Error() string {
	return (&statusError{e.status}).Error() + ": " + e.code + ": " + e.description
}
