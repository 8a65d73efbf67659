package gcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/auth"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// maxAnswer bounds an answer: a page of 500 instances with their metadata (256 kB each at most) stays well below on
// average.
const maxAnswer = 64 << 20

// firstBackoff is the longest pause after the first failed attempt.
const firstBackoff = 500 * time.Millisecond

// retryTransport is the transport of all calls. It makes each call wait for a token of the limiter, gives each attempt
// a deadline, and repeats a call when Google says that it may be repeated. Repeating is safe: every change of this
// package sets a value or carries a requestId.
type retryTransport struct {
	provider *Provider
	project  string
	endpoint *url.URL // of the account; nil is Google
}

// RoundTrip returns the answer with its body read to the end.
func (t *retryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	defer closeBody(r)
	for attempt := 1; ; attempt++ {
		resp, body, err := t.tryOnce(r)
		pause, again := t.mayRetry(r.Context(), resp, body, err)
		if !again || attempt >= t.provider.options.Attempts {
			return resp, err
		}
		if err := t.provider.options.Clock.Sleep(r.Context(), max(pause, t.backoff(attempt))); err != nil {
			return nil, err
		}
	}
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // a RoundTripper must; it was read from copies
	}
}

// backoff returns a random pause that grows with the attempts.
func (t *retryTransport) backoff(attempt int) time.Duration {
	most := min(firstBackoff<<(attempt-1), t.provider.options.MaxBackoff)
	return rand.N(most + 1) //nolint:gosec // jitter needs no secrecy
}

// tryOnce makes one attempt.
func (t *retryTransport) tryOnce(r *http.Request) (*http.Response, []byte, error) {
	bucket := t.bucketOf(r)
	if err := t.limiter().Wait(r.Context(), bucket, 1); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), t.provider.options.Timeout)
	defer cancel()
	one, err := t.copyRequest(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	resp, err := t.base().RoundTrip(one)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := ssrfguard.ReadLimited(resp.Body, maxAnswer)
	if err != nil {
		return nil, nil, err
	}
	t.learnFrom(bucket, resp, body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, body, nil
}

func (t *retryTransport) base() http.RoundTripper {
	if t.endpoint != nil {
		return t.provider.guarded
	}
	return t.provider.options.Transport
}

// copyRequest copies the request for one attempt, with the account's endpoint if there is one.
func (t *retryTransport) copyRequest(ctx context.Context, r *http.Request) (*http.Request, error) {
	one := r.Clone(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return nil, fmt.Errorf("the body of %s %s can be read only once", r.Method, r.URL.Path)
		}
		var err error
		if one.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("read the body of %s %s again: %w", r.Method, r.URL.Path, err)
		}
	}
	if t.endpoint != nil {
		one.URL.Scheme, one.URL.Host, one.Host = t.endpoint.Scheme, t.endpoint.Host, t.endpoint.Host
		prefix := strings.TrimSuffix(t.endpoint.Path, "/")
		one.URL.Path, one.URL.RawPath = prefix+one.URL.Path, ""
	}
	return one, nil
}

type onceKey struct{}

// writeOnce returns a context for a call that changes something: it is repeated only if Google has refused it because
// of too many calls. Whether an unanswered call took effect is read.
func writeOnce(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// mayRetry reports whether another attempt may help, and how long Google asks to wait before it.
func (t *retryTransport) mayRetry(ctx context.Context, resp *http.Response, body []byte, err error) (time.Duration,
	bool,
) {
	once := ctx.Value(onceKey{}) != nil
	if err != nil {
		return 0, !once && ctx.Err() == nil && !fault.Is(err, fault.Invalid)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return 0, false
	}
	e := parseAnswer(resp.StatusCode, body)
	if class := e.errorClass(); class != cloud.Throttled && (once || class != cloud.Transient) {
		return 0, false
	}
	pause := retryAfter(resp.Header)
	return pause, pause <= t.provider.options.MaxBackoff
}

// retryAfter returns the seconds that an answer names; 0 when it names none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// tokenTransport puts the account's access token into each request.
type tokenTransport struct {
	tokens auth.TokenProvider
	next   http.RoundTripper
}

// RoundTrip fails as the credentials do when they give no token.
func (b *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := b.tokens.Token(r.Context())
	if err != nil {
		closeBody(r)
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token.Value)
	return b.next.RoundTrip(r)
}

// mintTransport is the transport of the calls that make tokens. It turns a refusal into an error of ours at once,
// because Google's libraries would keep only its text.
type mintTransport struct{ next http.RoundTripper }

// RoundTrip returns class Refused when Google does not take the credentials.
func (m mintTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(r)
	if err != nil || resp.StatusCode < http.StatusBadRequest {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	e := parseAnswer(resp.StatusCode, body)
	out := &cloud.Error{Class: e.errorClass(), Op: mintingOp(r.URL), Code: e.code, Message: e.message}
	if resp.StatusCode != http.StatusNotImplemented && !out.Class.Retryable() || out.Class == cloud.Moving {
		out.Class = cloud.Refused // the account does not open: no other call will
	}
	return nil, out
}

func mintingOp(u *url.URL) string {
	switch {
	case strings.HasSuffix(u.Path, ":generateAccessToken"):
		return "iam.serviceAccounts.getAccessToken"
	case strings.HasSuffix(u.Path, "/v1/token"):
		return "sts.token"
	default:
		return "oauth2.token"
	}
}

// plainClient follows no redirect: one could carry a token to another host.
func plainClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
