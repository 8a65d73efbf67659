// Package endpoint has the parts of a provider that are about addresses: the rules for an account's EndpointURL, the
// limits of calls to it, and the HTTP clients. It exists so that all providers guard the addresses that users give in
// the same way.
package endpoint

import (
	"log/slog"
	"net/http"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// Rules are an operator's choices about the EndpointURL of accounts.
type Rules struct {
	Custom  bool // accepts accounts with an EndpointURL
	Private bool // permits http, and addresses in private networks
}

// Policy returns the policy for the addresses of an EndpointURL.
func (r Rules) Policy() ssrfguard.Policy {
	return ssrfguard.Policy{Private: r.Private, AnyPort: true}
}

// Check returns an error of class Invalid for an EndpointURL that is not allowed. An empty one is allowed.
func (r Rules) Check(url string) error {
	if url == "" {
		return nil
	}
	if !r.Custom {
		return cloud.ErrInvalid("endpointURL is not accepted: this installation allows no custom endpoints")
	}
	if err := r.Policy().CheckAddress(url); err != nil {
		return cloud.ErrInvalid("endpointURL: %s", fault.Message(err)) // not repeated: there may be a password in it
	}
	return nil
}

// Limits are for accounts with an EndpointURL. The provider's limits do not apply there, and the server refuses calls
// itself when there are too many.
func Limits() map[string]throttle.Limit {
	return map[string]throttle.Limit{"": {PerSecond: 100, Burst: 200}}
}

// NewLimiter returns a limiter with Limits. It is not shared with other processes.
func NewLimiter(c clock.Clock, log *slog.Logger) *throttle.Limiter {
	return throttle.New(throttle.Options{Clock: c, Limits: Limits(), Log: log})
}

// NewTransport returns a transport that keeps enough connections open for a discovery or a bulk action, which sends
// many requests at once, to one host in the case of Azure.
func NewTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 32
	return t
}

// NewClient returns a client that follows no redirect, which could carry a token or a signed request to another host.
func NewClient(t http.RoundTripper, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     t,
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
