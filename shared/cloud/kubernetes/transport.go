package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// maxAnswer bounds one answer of a cluster; a page of ours is far below it.
const maxAnswer = 32 << 20

// openCluster prepares the client of a cluster, of certificate's certificate if there is one. It makes no call.
func (p *Provider) openCluster(e cloud.ClusterEntry, certificate kubeconfig.Access) (*cluster, error) {
	policy := p.options.addressPolicy()
	if err := policy.CheckAddress(e.Server); err != nil {
		return nil, cloud.ErrInvalid("the cluster's server: %s", fault.Message(err))
	}
	if !strings.HasPrefix(e.Server, "https://") {
		return nil, cloud.ErrInvalid("the cluster's server must begin with https://, for it is sent a token")
	}
	t, err := tlsOf(e, certificate)
	if err != nil {
		return nil, err
	}
	policy.AddressBytes = maxQueryAddress
	carried := &carrier{
		next: policy.TransportTLS(t), options: p.options, slots: p.slotsOf(e.Server),
		limiter: p.limiter, server: e.Server, token: e.Token,
	}
	base, err := url.Parse(e.Server)
	if err != nil {
		return nil, cloud.ErrInvalid("the cluster's server is not an address")
	}
	queries := *carried
	queries.options = p.options.patient()
	return &cluster{
		client: newAPIClient(base, carried), patient: newAPIClient(base, &queries), clock: p.options.Clock,
		serves: map[string]bool{},
	}, nil
}

func tlsOf(e cloud.ClusterEntry, certificate kubeconfig.Access) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: e.ServerName}
	if len(e.Authority) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(e.Authority) {
			return nil, cloud.ErrInvalid("the cluster's certificate authority holds no certificate")
		}
	}
	if len(certificate.Certificate) > 0 {
		pair, err := tls.X509KeyPair(certificate.Certificate, certificate.Key)
		if err != nil {
			return nil, cloud.ErrInvalid("the client certificate and its key do not belong together")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// carrier is the transport of all calls. It adds a fresh token, limits the number of parallel calls, gives each
// attempt a deadline, and repeats calls that may be repeated. Repeating is safe: each change names the version of its
// object, so the second of two equal changes is refused as a conflict.
type carrier struct {
	next    http.RoundTripper
	options Options
	slots   chan struct{}
	limiter *throttle.Limiter
	server  string
	token   func(context.Context) (string, error)
}

// RoundTrip answers with the last attempt's answer, read whole.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	for attempt := 1; ; attempt++ {
		if err := c.limiter.Wait(r.Context(), c.bucketKey(), 1); err != nil {
			return nil, err
		}
		resp, err := c.sendOnce(r)
		c.learnFrom(resp)
		if attempt >= c.options.Attempts || !mayRetry(r.Context(), resp, err) {
			return resp, unansweredError(err)
		}
		if err := c.options.Clock.Sleep(r.Context(), c.retryDelay(attempt, resp)); err != nil {
			return nil, err
		}
	}
}

// bucketKey returns the bucket of the cluster. A refusal of one call by the cluster's priority and fairness slows down
// all calls.
func (c *carrier) bucketKey() throttle.Key { return throttle.Key{Account: c.server} }

// learnFrom reports the end of an attempt to the limiter; resp is nil when there was no answer.
func (c *carrier) learnFrom(resp *http.Response) {
	switch {
	case resp == nil:
	case resp.StatusCode == http.StatusTooManyRequests:
		c.limiter.Throttled(c.bucketKey(), min(retryAfter(resp), c.options.MaxBackoff))
	case resp.StatusCode < http.StatusInternalServerError:
		c.limiter.Answered(c.bucketKey())
	}
}

// retryAfter returns the seconds that an answer names; 0 when it names none.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, 3600)) * time.Second
}

// sendOnce sends the call once, and reads its answer.
func (c *carrier) sendOnce(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), c.options.Timeout)
	defer cancel()
	r = r.Clone(ctx)
	token := ""
	if c.token != nil {
		var err error
		if token, err = c.token(ctx); err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if r.GetBody != nil {
		var err error
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := ssrfguard.ReadLimited(resp.Body, maxAnswer)
	_ = resp.Body.Close() // it is read, or of no use
	if err != nil {
		return nil, err
	}
	if len(token) > 0 { // a server may echo the token, and its words go into answers, records and logs
		body = bytes.ReplaceAll(body, []byte(token), []byte("(secret)"))
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// mayRetry reports whether the call may be tried again: it got no answer, or one that says so.
func mayRetry(ctx context.Context, resp *http.Response, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		_, ours := errors.AsType[*cloud.Error](err) // of the token's source, which has tried already
		return !ours && !fault.Is(err, fault.Invalid) && !isCertificate(err)
	}
	return resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode != http.StatusNotImplemented && resp.StatusCode >= http.StatusInternalServerError
}

// retryDelay returns the server's Retry-After, or else exponential backoff with jitter. Both are limited to MaxBackoff.
func (c *carrier) retryDelay(attempt int, resp *http.Response) time.Duration {
	longest := c.options.MaxBackoff
	if resp != nil {
		if s := retryAfter(resp); s > 0 {
			return min(s, longest)
		}
	}
	most := min(longest, 200*time.Millisecond<<attempt)
	return most/2 + rand.N(most/2+1) //nolint:gosec // jitter needs no secrecy
}
