package googleoauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// endpoints are the addresses that an issuer publishes (OpenID Connect Discovery 1.0), and the scope to request.
// These few calls are written by hand because the libraries for them are too large for an API function.
type endpoints struct {
	Issuer string `json:"issuer"`
	Auth   string `json:"authorization_endpoint"`
	Token  string `json:"token_endpoint"`
	scope  string
}

// findEndpoints returns the endpoints of the issuer. Google's are constants. The error is fault.Unavailable if
// another issuer does not publish its endpoints.
func (c *Client) findEndpoints(ctx context.Context) (endpoints, error) {
	if c.atGoogle() {
		return endpoints{c.registered.Issuer, googleAuth, googleToken, cloudScope}, nil
	}
	var e endpoints
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(c.registered.Issuer, "/")+"/.well-known/openid-configuration", nil)
	if err == nil {
		_, err = c.askIssuer(req, &e)
	}
	// An issuer that publishes another name than its own is not the one that the operator trusts.
	if err == nil && (e.Issuer != c.registered.Issuer || e.Auth == "" || e.Token == "") {
		err = errors.New("its openid-configuration is not that of this issuer, or incomplete")
	}
	if err != nil {
		return endpoints{}, fault.NewWithCause(
			fault.Unavailable, err, "%s cannot be reached: try again", c.registered.Issuer)
	}
	e.scope = "openid offline_access"
	return e, nil
}

// token is an answer of a token endpoint, or its error (RFC 6749, sections 5.1 and 5.2).
type token struct {
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func (c *Client) exchangeCode(ctx context.Context, code, verifier string) (token, error) {
	e, err := c.findEndpoints(ctx)
	if err != nil {
		return token{}, err
	}
	req, err := c.tokenRequest(ctx, e.Token, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {c.callback}, "code_verifier": {verifier},
	})
	if err != nil {
		return token{}, err
	}
	var t token
	status, err := c.askIssuer(req, &t)
	switch {
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError, err == nil && t.Error != "":
		return token{}, exchangeError(t)
	case err != nil || status != http.StatusOK || t.Access == "": // without the cause: it may hold tokens
		return token{}, fault.New(fault.Unavailable, "Google did not answer: try again with GET /connect/gcp/oauth-url")
	}
	return t, nil
}

// tokenRequest sends the client's credentials in the form to Google, and in the header to other issuers. It does not
// try both, because a failed try uses up the code.
func (c *Client) tokenRequest(ctx context.Context, address string, form url.Values) (*http.Request, error) {
	if c.atGoogle() {
		form.Set("client_id", c.registered.ID)
		form.Set("client_secret", c.registered.Secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fault.NewWithCause(
			fault.Unavailable, err, "%s tells no address for codes: try again", c.registered.Issuer)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if !c.atGoogle() {
		req.SetBasicAuth(url.QueryEscape(c.registered.ID), url.QueryEscape(c.registered.Secret))
	}
	return req, nil
}

// askIssuer sends req and decodes the answer, which is JSON for every status.
func (c *Client) askIssuer(req *http.Request, out any) (status int, err error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	return resp.StatusCode, json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAnswer)).Decode(out)
}

// exchangeError returns the error of a failed exchange, without the answer's body, which may contain tokens.
func exchangeError(t token) error {
	why := fault.CleanText(t.Error, 40)
	if t.Description != "" {
		why += ": " + fault.CleanText(t.Description, 200)
	}
	switch t.Error {
	case "invalid_client", "unauthorized_client", "redirect_uri_mismatch":
		return fault.New(fault.Invalid,
			"Google does not know this deployment's OAuth client (%s): the operator has to look at "+
				"LAMPLIGHTER_GCP_CLIENT_ID and LAMPLIGHTER_GCP_CLIENT_SECRET", why)
	}
	return fault.New(fault.Invalid, "code: Google refuses it (%s); begin again with GET /connect/gcp/oauth-url", why)
}
