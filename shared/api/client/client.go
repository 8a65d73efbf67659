// Package client calls the service's public interface over HTTP, for programs that run elsewhere than the service: it
// renews tokens, waits for the rate limit, repeats requests that may be repeated, and reads pages. It needs only the
// standard library, so that a program that imports it stays small.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

const (
	// defaultTimeout is the deadline of one request, from the connection to the last byte of the answer.
	defaultTimeout = 30 * time.Second
	// maxAnswerBytes bounds an answer that is read as a whole. The largest answers have 6 MB.
	maxAnswerBytes = 32 << 20
	// maxTries is how often a request is sent at most.
	maxTries = 5
)

// Options configure a client. Only Address is required.
type Options struct {
	Address      string // of the service, such as https://lamplighter.example.com/prod
	Tokens       TokenStore
	Organisation string // for personal access tokens: the organization to work in; "" is the user's first
	UserAgent    string
	Timeout      time.Duration     // of one request; 0 is 30 seconds
	Notice       func(text string) // is told of each wait; nil ignores it
	Clock        clock.Clock       // nil is the machine's
	Transport    http.RoundTripper // nil is http.DefaultTransport
}

// Client calls one service as one user. It may be used by several goroutines.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
	skew atomic.Int64 // the service's clock minus the machine's, in nanoseconds
}

// New returns a client, or an error if the address is not one of HTTP.
func New(o Options) (*Client, error) {
	base, err := ParseAddress(o.Address)
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.Tokens == nil {
		o.Tokens = Static("")
	}
	return &Client{o: o, base: base, http: &http.Client{Transport: o.Transport, CheckRedirect: refuseRedirect}}, nil
}

// refuseRedirect makes a redirect an answer like any other: a token is sent only to the address that the user gave.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ParseAddress returns the address of a service. It accepts only http and https, without user, query and fragment.
func ParseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, errors.New("the address of the service is not a URL: write it as https://lamplighter.example.com")
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Opaque != "" {
		return nil, fmt.Errorf("the address %q does not begin with http:// or https:// and a host: write it as "+
			"https://lamplighter.example.com", u.Redacted())
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the address %q has a user, a query or a fragment: leave them out", u.Redacted())
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// IsLoopback reports whether the address is on this machine, where http needs no encryption.
func IsLoopback(address *url.URL) bool {
	ip := net.ParseIP(address.Hostname())
	return address.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Address returns the address of the service.
func (c *Client) Address() string { return c.base.String() }

// Now returns the time by the service's clock, as its last answer tells it, so that a wrong clock of this machine does
// not matter. Before the first answer it is the machine's time.
func (c *Client) Now() time.Time { return c.o.Clock.Now().Add(time.Duration(c.skew.Load())) }

// Skew returns the service's clock minus the machine's, to the second.
func (c *Client) Skew() time.Duration { return time.Duration(c.skew.Load()) }

// Request is one call of an operation.
type Request struct {
	Method string
	Path   string     // from Path, below the address of the service
	Query  url.Values // may be nil
	Body   any        // is sent as JSON unless it is nil; json.RawMessage is sent unchanged
	Public bool       // is sent without a token
}

// Path fills the placeholders of a path of the interface: Path("/teams/{teamID}", "team_1").
func Path(template string, values ...string) string {
	for _, v := range values {
		before, rest, found := strings.Cut(template, "{")
		_, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			break
		}
		// The filled part must not be taken for a placeholder: PathEscape escapes braces.
		template = before + url.PathEscape(v) + after
	}
	return template
}

// Call sends a request and decodes the member data of the answer into out, unless out is nil. An answer that is not a
// success is an *Error.
func (c *Client) Call(ctx context.Context, r Request, out any) error {
	a, err := c.Do(ctx, r)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(a.Body, &struct {
		Data any `json:"data"`
	}{out}); err != nil {
		return fmt.Errorf("read the answer of %s %s: %w: is %s the address of Lamplighter?", r.Method, r.Path, err,
			c.base)
	}
	return nil
}

// Answer is a successful answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request, and returns the whole answer. It renews the access token once, waits for the rate limit, and
// repeats a request after a lost connection if that cannot act twice. An answer that is not 2xx is an *Error.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	body, err := encode(r)
	if err != nil {
		return nil, err
	}
	s := &sending{c: c, r: r, body: body, key: rand.Text()}
	for try := 1; ; try++ {
		answer, err := s.send(ctx)
		if err == nil {
			return answer, nil
		}
		if again := s.recover(ctx, err, try); again != nil {
			return nil, again
		}
	}
}

func encode(r Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	b, err := json.Marshal(r.Body)
	if err != nil {
		return nil, fmt.Errorf("encode the body of %s %s: %w", r.Method, r.Path, err)
	}
	return b, nil
}

// sending is a request and its tries.
type sending struct {
	c       *Client
	r       Request
	body    []byte
	key     string // Idempotency-Key, the same for all tries
	token   string // of the last try
	renewed bool
	wasLost bool // an earlier try has no answer
}

// send sends the request once.
func (s *sending) send(ctx context.Context) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.c.o.Timeout)
	defer cancel()
	req, err := s.request(ctx)
	if err != nil {
		return nil, err
	}
	res, err := s.c.http.Do(req)
	if err != nil {
		return nil, s.lost(err)
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end, or given up
	s.c.noteClock(res.Header)
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, s.lost(err)
	case len(body) > maxAnswerBytes:
		return nil, fmt.Errorf("the answer of %s %s has more than %d MiB: ask for less", s.r.Method, s.r.Path,
			maxAnswerBytes>>20)
	case res.StatusCode/100 != 2:
		return nil, newError(s.r, res, body)
	}
	return &Answer{Status: res.StatusCode, Header: res.Header, Body: body}, nil
}

func (s *sending) request(ctx context.Context) (*http.Request, error) {
	address := s.c.base.String() + s.r.Path
	if len(s.r.Query) > 0 {
		address += "?" + s.r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, s.r.Method, address, bytes.NewReader(s.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s is not a request: write a method and a path, as in GET /resources", s.r.Method,
			s.r.Path)
	}
	if req.URL.Host != s.c.base.Host {
		return nil, fmt.Errorf("the path %q does not begin with /", s.r.Path)
	}
	req.Header.Set("User-Agent", s.c.o.UserAgent)
	req.Header.Set("Accept", "application/json")
	if s.r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.hasKey() {
		req.Header.Set("Idempotency-Key", s.key)
	}
	return req, s.authorize(req)
}

// authorize adds the access token.
func (s *sending) authorize(req *http.Request) error {
	if s.r.Public {
		return nil
	}
	tokens, err := s.c.o.Tokens.Load()
	if err != nil {
		return err
	}
	if s.token = tokens.Access; s.token == "" {
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	if s.c.o.Organisation != "" && tokens.Refresh == "" {
		req.Header.Set("X-Organisation-Id", s.c.o.Organisation)
	}
	return nil
}

// hasKey reports whether the request has an Idempotency-Key: the service accepts one with every POST that issues no
// credential.
func (s *sending) hasKey() bool { return s.r.Method == http.MethodPost && !s.r.Public }

// noteClock compares the service's clock with the machine's.
func (c *Client) noteClock(h http.Header) {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	c.skew.Store(int64(at.Sub(c.o.Clock.Now()).Round(time.Second)))
}
