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
	exchangeTime = 10 * time.Second // the whole request
	connectTime  = 4 * time.Second  // connecting, and likewise the TLS handshake
	headerBytes  = 16 << 10
	idleTime     = 30 * time.Second
	idlePerHost  = 32

	// maxAnswerBytes limits the decompressed body of a response. Servers named by users may send without end, and some
	// readers have no limit of their own. Pages of cloud APIs and parts of bills are far smaller.
	maxAnswerBytes = 64 << 20
)

// HTTPClient returns a client for addresses that users gave. It follows no redirects (the response is the redirect),
// uses no proxy from the environment, and limits each request by the policy's timeout, including reading the body. Use
// ReadLimited to read the body. A refused address is fault.Invalid, before anything is sent.
func (p Policy) HTTPClient() *http.Client {
	t := p.transport()
	t.DisableKeepAlives = true
	return &http.Client{
		Transport: checked{p, t}, Timeout: p.timeout(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Transport returns a transport for clients made elsewhere, such as SDKs, which have deadlines of their own and follow
// no redirects. It keeps connections open, so make it once.
func (p Policy) Transport() http.RoundTripper { return checked{p, p.transport()} }

// TransportTLS is Transport with the TLS settings for one server: authorities, server name, client certificates.
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

// checked validates the address of each request before dialling, because the dialler does not see its scheme and its
// user.
type checked struct {
	policy Policy
	*http.Transport
}

// RoundTrip validates the address, and then does the same as http.Transport.
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

// limitedBody is a response body that fails after `left` more bytes.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read reads up to the limit. It returns fault.Invalid if there is more.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if int64(n) <= b.left {
		b.left -= int64(n)
		return n, err
	}
	n, b.left = int(b.left), 0
	return n, fault.New(fault.Invalid, "the answer is longer than %d bytes", int64(maxAnswerBytes))
}

// ReadLimited reads a body of at most limit bytes. A longer one is fault.Invalid.
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
