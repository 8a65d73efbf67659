// Package gcp drives Google Cloud through its REST APIs, which the package googlerest calls. Each kind of resource is
// one file and one line in the registry below. Credentials, limits, retries, error classes and resource names are
// shared by all kinds.
package gcp

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/endpoint"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Name is the provider's identifier.
const Name = "gcp"

// registry holds every kind: a new one is a file and a line here.
var registry = []kind{
	instances, groups, databases, nodepools, runServices, workstationKind, workbenches, sparkClusters, alloyInstances,
}

// Options are an operator's choices. The zero value of every field but Clock is usable.
type Options struct {
	Clock clock.Clock
	// CustomEndpoints accepts accounts with an EndpointURL: an emulator or a private cloud, which then is every host
	// of Google's.
	CustomEndpoints bool
	// PrivateAddresses permits http for an EndpointURL, and addresses in private networks
	// (shared/foundation/ssrfguard).
	PrivateAddresses bool
	// Identity proves who this installation is, for accounts of workload identity federation; nil refuses those. It is
	// never used towards a custom endpoint.
	Identity cloud.IdentityTokens
	// OAuth is this installation's OAuth client, for accounts of authMethod oauth. It is never shown to a custom
	// endpoint.
	OAuth OAuthClient
	// Transport carries the requests to Google itself; nil is a pool of its own. Those to an EndpointURL go through
	// the guard.
	Transport http.RoundTripper
	// PriceLists is the address of the price catalogue; "" is Google's own. PricesKey is the API key for it; it is
	// sent nowhere else.
	PriceLists string
	PricesKey  string
	// Timeout bounds one attempt of one call.
	Timeout time.Duration
	// Attempts is the maximum number of tries of a call that Google marks as retryable.
	Attempts int
	// MaxBackoff bounds the pause between two attempts.
	MaxBackoff time.Duration
	// Limits are calls per second for one project, by API ("compute", "sqladmin", …) or by the read and write calls of
	// an API ("compute:read", "compute:write"). "" is the limit of all others.
	Limits map[string]Limit
	// Store shares the limits with other processes (shared/cloud/throttle); nil is for a process that is alone.
	Store table.Store
	// Log receives a message when the limits cannot be shared; nil logs nothing.
	Log *slog.Logger
}

// OAuthClient is an OAuth client as Google registers it.
type OAuthClient struct{ ID, Secret string }

// Provider is Google Cloud as cloud.Provider. Its limits hold across all connections to a project.
type Provider struct {
	options   Options
	limiter   *throttle.Limiter // of Google itself
	endpoints *throttle.Limiter // of addresses that users gave
	guarded   http.RoundTripper // for addresses that users gave
}

// New makes the provider.
func New(o Options) *Provider {
	o = o.withDefaults()
	return &Provider{
		options: o,
		limiter: newLimiter(o), endpoints: endpoint.NewLimiter(o.Clock, o.Log),
		guarded: o.endpointRules().Policy().Transport(),
	}
}

// endpointRules returns the operator's rules for an EndpointURL.
func (o Options) endpointRules() endpoint.Rules {
	return endpoint.Rules{Custom: o.CustomEndpoints, Private: o.PrivateAddresses}
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Attempts <= 0 {
		o.Attempts = 5
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = 8 * time.Second
	}
	if o.Limits == nil {
		o.Limits = defaultLimits
	}
	if o.Transport == nil {
		o.Transport = endpoint.NewTransport()
	}
	return o
}

// Name is "gcp".
func (p *Provider) Name() string { return Name }

// Kinds returns the kinds in the registry, and the collective kind for all other resources.
func (p *Provider) Kinds() []cloud.Kind {
	out := make([]cloud.Kind, len(registry))
	for i, k := range registry {
		out[i] = k.Kind
	}
	return append(out, cloud.CollectiveOf(Name))
}

// Connect prepares a connection. Incomplete credentials, a missing project and a forbidden endpoint are class Invalid.
// Identify then tests whether the credentials open the project.
func (p *Provider) Connect(_ context.Context, a cloud.Account) (cloud.Conn, error) {
	if err := p.options.endpointRules().Check(a.EndpointURL); err != nil {
		return nil, err
	}
	s, err := p.openSession(a)
	if err != nil {
		return nil, err
	}
	c := &conn{session: s}
	c.OpenChange = c.changing
	return c, nil
}
