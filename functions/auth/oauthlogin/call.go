package oauthlogin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// These constants bound a call to a provider. All calls of a sign-in together must end before the gateway gives up.
const (
	maxAnswer   = 1 << 20
	tryTimeout  = 4 * time.Second
	callTimeout = 8 * time.Second
	maxTries    = 3
	retryPause  = 100 * time.Millisecond
)

// newHTTPClient returns a client that follows no redirect. Providers do not redirect the addresses of their
// discovery, and a redirected token call would send code and secret to another host.
func newHTTPClient(next http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: retryTransport{next}, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// retryTransport retries requests that may be repeated, and limits the size of answers.
type retryTransport struct{ next http.RoundTripper }

// RoundTrip sends r until a further try would not help.
func (p retryTransport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	for n := range maxTries {
		if resp, err = p.tryOnce(r); !isRetryable(r, resp, err) {
			return resp, err
		}
		// It waits by the machine's clock, also if the service uses another one.
		pause := retryPause/2<<n + rand.N(retryPause) //nolint:gosec // spreads load, guards nothing
		if (clock.System{}).Sleep(r.Context(), pause) != nil {
			return resp, err
		}
	}
	return resp, err
}

func (p retryTransport) tryOnce(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), tryTimeout)
	defer cancel()
	try := r.Clone(ctx)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		try.Body = body
	}
	resp, err := p.next.RoundTrip(try)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	b, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", r.URL.Host, err)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return resp, nil
}

// isRetryable reports whether to send r once more: a GET after a transient failure, and another request only if it
// was never sent.
func isRetryable(r *http.Request, resp *http.Response, err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	if r.Method != http.MethodGet {
		return false
	}
	if _, endless := errors.AsType[*http.MaxBytesError](err); endless {
		return false
	}
	return err != nil || resp.StatusCode >= http.StatusInternalServerError ||
		resp.StatusCode == http.StatusTooManyRequests
}

// statusError is an answer other than 200.
type statusError struct{ status int }

// Error returns the status; the body is the provider's and not for logs.
func (e *statusError) Error() string { return fmt.Sprintf("it answered %d", e.status) }

// fetchJSON reads the JSON at an address into out.
func fetchJSON(ctx context.Context, c *http.Client, address string, header http.Header, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	req.Header = header
	resp, err := c.Do(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w", address, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is in memory
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s: %w", address, &statusError{resp.StatusCode})
	}
	if err = json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("decode answer of %s: %w", address, err)
	}
	return nil
}

// errUnreachable returns the error of a provider that fails; the cause is only logged.
func errUnreachable(name string, err error) error {
	return fault.NewWithCause(fault.Unavailable, err, "%s cannot be reached: try again", name)
}

// isAsProtected reports whether an address is valid, and at least as protected as the address that it was learned
// from.
func isAsProtected(address, like string) bool {
	a, err := url.Parse(address)
	b, err2 := url.Parse(like)
	return err == nil && err2 == nil && a.Host != "" && (a.Scheme == "https" || a.Scheme == b.Scheme)
}
