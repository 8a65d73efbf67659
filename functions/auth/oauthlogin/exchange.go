package oauthlogin

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/oauth2"

	"lamplighter.dev/shared/foundation/fault"
)

// tokenEndpoint is the token endpoint of a provider.
type tokenEndpoint struct {
	provider string
	client   *http.Client
	config   *oauth2.Config
}

// exchangeCode exchanges a code for tokens.
func (e tokenEndpoint) exchangeCode(ctx context.Context, code, verifier string) (*oauth2.Token, error) {
	ctx = context.WithValue(ctx, oauth2.HTTPClient, e.client)
	t, err := e.config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return t, nil
	case !ok || refused.Response.StatusCode >= http.StatusInternalServerError:
		return nil, errUnreachable(e.provider, withoutBody(err))
	case isOurFault(refused.ErrorCode):
		return nil, fault.NewWithCause(fault.Internal, withoutBody(err), "%s does not know the configured client id "+
			"and secret", e.provider)
	}
	return nil, fault.NewWithCause(fault.Unauthenticated, withoutBody(err), "code: %s refuses it (%s); begin again "+
		"with GET /auth/%s/url", e.provider, fault.CleanText(refused.ErrorCode, 40), e.provider)
}

// isOurFault reports whether the operator must fix an error of a token endpoint, by RFC 6749 and for GitHub.
func isOurFault(code string) bool {
	switch code {
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "incorrect_client_credentials",
		"redirect_uri_mismatch":
		return true
	}
	return false
}

// withoutBody removes the answer's body from an error, because it may contain tokens.
func withoutBody(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	return &refusedError{
		refused.Response.StatusCode, fault.CleanText(refused.ErrorCode, 40),
		fault.CleanText(refused.ErrorDescription, 200),
	}
}

// refusedError is a refused token call, without its body.
type refusedError struct {
	status      int
	code        string
	description string
}

// Error returns the provider's error.
func (e *refusedError) Error() string {
	return (&statusError{e.status}).Error() + ": " + e.code + ": " + e.description
}
