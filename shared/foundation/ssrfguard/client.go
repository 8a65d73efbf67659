package ssrfguard

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

const (
	exchangeTime = 10 * time.Second // all of it
	connectTime  = 4 * time.Second  // each of connecting and the handshake
	headerBytes  = 16 << 10
	idleTime     = 30 * time.Second
	idlePerHost  = 32

	// maxAnswerBytes bounds the body of each answer, unpacked: a server that a user gave may send without end, and not all
	// readers stop by themselves. Pages of clouds and parts of bills are far smaller.
	maxAnswerBytes = 64 << 20
)

// HTTPClient makes requests to addresses that users gave. It follows no redirect (the answer is the redirect itself), takes
// no proxy from the environment, and gives up after the policy's time, the reading of the body included; read that by
// Read. A refused address is fault.Invalid, before anything is sent.
func (p Policy) HTTPClient() *http.Client {
	t := p.transport()
	t.DisableKeepAlives = true
	return &http.Client{
		Transport: checked{p, t}, Timeout: p.timeout(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Transport is for a client of somebody else's making, which brings its own deadlines and follows no redirects. It keeps
// connections, so make it once.
func (p Policy) Transport() http.RoundTripper { return checked{p, p.transport()} }

// TransportTLS is Transport for one server that has authorities, a name or client certificates of its own.
func (p Policy) TransportTLS(c *tls.Config) http.RoundTripper {
	t := p.transport()
	t.TLSClientConfig = c.Clone()
	t.TLSClientConfig.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return checked{p, t}
}

func (p Policy) timeout() time.Duration {
	if p.Timeout > 0 {
		return p.Timeout
	}
	return exchangeTime
}

func (p Policy) transport() *http.Transport {
	d := &net.Dialer{Timeout: connectTime, Resolver: p.resolver, ControlContext: p.checkDial}
	return &http.Transport{
		Proxy: nil, DialContext: d.DialContext, ForceAttemptHTTP2: true,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: headerBytes,
		MaxIdleConnsPerHost: idlePerHost, IdleConnTimeout: idleTime,
	}
}

// checked looks at each address before it is dialled, for a scheme or a user in it is not seen by the dialler.
type checked struct {
	policy Policy
	*http.Transport
}

// RoundTrip refuses, or does what http.Transport does.
func (c checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := c.policy.CheckAddress(r.URL.String()); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper must, also on errors
		}
		return nil, err
	}
	resp, err := c.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = &limitedBody{resp.Body, maxAnswerBytes}
	}
	return resp, err
}

// limitedBody is the body of an answer, of which at most left bytes more can be read.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read reads up to the limit. What is behind it is fault.Invalid.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if int64(n) <= b.left {
		b.left -= int64(n)
		return n, err
	}
	n, b.left = int(b.left), 0
	return n, fault.New(fault.Invalid, "the answer is longer than %d bytes", int64(maxAnswerBytes))
}

// ReadLimited reads at most limit bytes of an answer; a longer one is fault.Invalid.
func ReadLimited(body io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(b)) > limit {
		return nil, fault.New(fault.Invalid, "the answer is longer than %d bytes", limit)
	}
	return b, nil
}
