package oauthlogin

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/oauth2"

	"lamplighter.dev/shared/foundation/fault"
)

// codeExchange is a request to exchange a code for tokens.
type codeExchange struct {
	provider       string // its name in errors
	client         *http.Client
	config         *oauth2.Config
	code, verifier string
}

// exchangeCode exchanges a code for tokens.
func exchangeCode(ctx context.Context, e codeExchange) (*oauth2.Token, error) {
	name := e.provider
	ctx = context.WithValue(ctx, oauth2.HTTPClient, e.client)
	t, err := e.config.Exchange(ctx, e.code, oauth2.VerifierOption(e.verifier))
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil:
		return t, nil
	case !ok || refused.Response.StatusCode >= http.StatusInternalServerError:
		return nil, errUnreachable(name, withoutBody(err))
	case isOurFault(refused.ErrorCode):
		return nil, fault.NewWithCause(fault.Internal, withoutBody(err), "%s does not accept the configured "+
			"client ID and secret", name)
	}
	return nil, fault.NewWithCause(fault.Unauthenticated, withoutBody(err), "code: %s refuses it (%s); begin again "+
		"with GET /auth/%s/url", name, fault.CleanText(refused.ErrorCode, 40), name)
}

// isOurFault reports whether an error of a token endpoint is caused by this service's configuration, by the codes of
// RFC 6749 and of GitHub.
func isOurFault(code string) bool {
	switch code {
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "incorrect_client_credentials",
		"redirect_uri_mismatch":
		return true
	}
	return false
}

// withoutBody removes the response body from an error, because it may contain tokens.
func withoutBody(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return err
	}
	return &refusedError{refused.Response.StatusCode, fault.CleanText(refused.ErrorCode, 40),
		fault.CleanText(refused.ErrorDescription, 200)}
}

// refusedError is a refused token request, without the response body.
type refusedError struct {
	status      int
	code        string
	description string
}

// Error returns the reason given by the provider.
func (e *refusedError) Error() string {
	return (&statusError{e.status}).Error() + ": " + e.code + ": " + e.description
}
