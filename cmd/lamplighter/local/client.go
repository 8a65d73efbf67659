package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Client speaks to the service over HTTP, as any client does. The demo and the end-to-end tests use it.
type Client struct {
	Base  string // http://127.0.0.1:8080
	Token string // access token; empty for public operations
	HTTP  *http.Client
}

// NewClient returns a client of the service at base.
func NewClient(base string) *Client {
	return &Client{Base: base, HTTP: &http.Client{Timeout: time.Minute}}
}

// StatusError is an answer that is not a success.
type StatusError struct {
	Method, Path string
	Status       int
	Body         string
}

// Error returns a text with request, status and body.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, e.Body)
}

// Do sends in as the JSON body, unless it is nil, and decodes the data of the answer into out, unless that is nil. It
// returns a *StatusError for an answer that is not 2xx.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	res, err := c.Send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("read answer of %s %s: %w", method, path, err)
	}
	if res.StatusCode/100 != 2 {
		return &StatusError{method, path, res.StatusCode, string(b)}
	}
	if out == nil {
		return nil
	}
	wrapped := struct {
		Data any `json:"data"`
	}{out}
	if err = json.Unmarshal(b, &wrapped); err != nil {
		return fmt.Errorf("decode answer of %s %s: %w", method, path, err)
	}
	return nil
}

// Send sends the request and returns the answer unchanged. The caller closes its body.
func (c *Client) Send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode body of %s %s: %w", method, path, err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request %s %s: %w", method, path, err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return c.HTTP.Do(req)
}

// session is the answer to login and refresh.
type session struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	Tenants      []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"tenants"`
}

// Login makes the client act for the user, in the organization org, or in the user's first one if org is empty. It
// returns the ids of the user's organizations.
func (c *Client) Login(ctx context.Context, email, password, org string) ([]string, error) {
	in := map[string]string{"email": email, "password": password, "provider": "email"}
	if org != "" {
		in["tenantID"] = org
	}
	var s session
	if err := c.Do(ctx, http.MethodPost, "/auth/login", in, &s); err != nil {
		return nil, err
	}
	c.Token = s.AccessToken
	orgs := make([]string, len(s.Tenants))
	for i, t := range s.Tenants {
		orgs[i] = t.ID
	}
	return orgs, nil
}
