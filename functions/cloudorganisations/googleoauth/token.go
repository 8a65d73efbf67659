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

// ends are the addresses of an issuer, as it tells them itself (OpenID Connect Discovery 1.0), and the scope to ask it for. These few
// calls are made by hand, for the libraries that make them weigh too much for an API function.
type ends struct {
	Issuer string `json:"issuer"`
	Auth   string `json:"authorization_endpoint"`
	Token  string `json:"token_endpoint"`
	scope  string
}

// findEnds finds the ends of the issuer. Google's are known; fault.Unavailable when another one does not tell its own.
func (c *Client) findEnds(ctx context.Context) (ends, error) {
	if c.atGoogle() {
		return ends{c.registered.Issuer, googleAuth, googleToken, cloudScope}, nil
	}
	var e ends
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(c.registered.Issuer, "/")+"/.well-known/openid-configuration", nil)
	if err == nil {
		_, err = c.ask(req, &e)
	}
	// One that tells another name than the one it is asked under is not the one that the operator trusts.
	if err == nil && (e.Issuer != c.registered.Issuer || e.Auth == "" || e.Token == "") {
		err = errors.New("its openid-configuration is not that of this issuer, or incomplete")
	}
	if err != nil {
		return ends{}, fault.NewWithCause(
			fault.Unavailable, err, "%s cannot be reached: try again", c.registered.Issuer)
	}
	e.scope = "openid offline_access"
	return e, nil
}

// token is an answer of a token endpoint, or why there is none (RFC 6749, sections 5.1 and 5.2).
type token struct {
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func (c *Client) exchangeCode(ctx context.Context, code, verifier string) (token, error) {
	e, err := c.findEnds(ctx)
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
	status, err := c.ask(req, &t)
	switch {
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError, err == nil && t.Error != "":
		return token{}, refused(t)
	case err != nil || status != http.StatusOK || t.Access == "": // without the cause: it may hold tokens
		return token{}, fault.New(fault.Unavailable, "Google did not answer: try again with GET /connect/gcp/oauth-url")
	}
	return t, nil
}

// tokenRequest names the client as each takes it: Google in the form, others in the header. Told, for trying would cost the code.
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

// ask sends req and decodes the answer, which is JSON whatever its status.
func (c *Client) ask(req *http.Request, out any) (status int, err error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	return resp.StatusCode, json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAnswer)).Decode(out)
}

// refused says what an exchange failed of, without the answer's body, which may hold tokens.
func refused(t token) error {
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
