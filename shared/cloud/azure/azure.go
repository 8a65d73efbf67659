// Package azure drives Microsoft Azure: it is the only place that links Azure's SDK. All kinds go through one generic
// client of the resource manager (ARM), because Azure's typed modules differ only in names. A kind is a row of facts,
// or a file if a stop needs more than a verb.
package azure

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
const Name = "azure"

// registry holds every kind: a new one is a row or a file, and a word here.
var registry = []kind{
	machines, scaleSets, managedClusters, nodePools, postgresServers, mysqlServers, containerApps, webApps,
	functionApps, webPlans, sqlPools,
	managedInstances, sqlDatabases, containerGroups, dataExplorers, appGateways, analysisServers, fabricCapacities,
	streamJobs, mlComputes,
}

// Options are an operator's choices. The zero value of every field but Clock is usable.
type Options struct {
	Clock clock.Clock
	// Identity makes the tokens for workload_identity_federation; without one that authMethod is refused.
	Identity cloud.IdentityTokens
	// CustomEndpoints accepts accounts with an EndpointURL: an emulator or a private cloud.
	CustomEndpoints bool
	// PrivateAddresses permits http for an EndpointURL, and addresses in private networks
	// (shared/foundation/ssrfguard).
	PrivateAddresses bool
	// Transport carries the requests to Azure itself; nil is a pool of its own. Those to an EndpointURL go through the
	// guard.
	Transport http.RoundTripper
	// PriceLists is the address of the retail prices; "" is Azure's own.
	PriceLists string
	// Timeout bounds one attempt of one call.
	Timeout time.Duration
	// Attempts is the maximum number of tries of a call that Azure marks as retryable.
	Attempts int
	// Backoff is the pause after the first attempt; it doubles.
	Backoff time.Duration
	// MaxBackoff bounds the pause between two attempts. A longer Retry-After is returned to the caller as an error.
	MaxBackoff time.Duration
	// Limits are calls per second by API: "graph", "metrics", "arm:read", "arm:write", "arm:delete" of one
	// subscription and principal, "compute:deallocate" and "compute:start" of one subscription and region; "" is for
	// those not named.
	Limits map[string]Limit
	// Store shares the limits with other processes (shared/cloud/throttle); nil is for a process that is alone.
	Store table.Store
	// Log receives a message when the limits cannot be shared; nil logs nothing.
	Log *slog.Logger
}

// Provider is Azure as cloud.Provider. Its limits hold across all connections to an account.
type Provider struct {
	options   Options
	limiter   *throttle.Limiter // of Azure itself
	endpoints *throttle.Limiter // of addresses that users gave
	http      *http.Client
	guarded   http.RoundTripper // for addresses that users gave
}

// New makes the provider.
func New(o Options) *Provider {
	o = o.withDefaults()
	return &Provider{
		options: o,
		limiter: newLimiter(o), endpoints: endpoint.NewLimiter(o.Clock, o.Log),
		http:    endpoint.NewClient(o.Transport, o.Timeout),
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
	if o.Backoff <= 0 {
		o.Backoff = 800 * time.Millisecond
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = 20 * time.Second
	}
	if o.Limits == nil {
		o.Limits = defaultLimits
	}
	if o.Transport == nil {
		o.Transport = endpoint.NewTransport()
	}
	return o
}

// Name is "azure".
func (p *Provider) Name() string { return Name }

// Kinds returns the kinds in the registry, and the collective kind for all other resources.
func (p *Provider) Kinds() []cloud.Kind {
	out := make([]cloud.Kind, len(registry), len(registry)+1)
	for i, k := range registry {
		out[i] = k.Kind
	}
	return append(out, cloud.CollectiveOf(Name))
}

// Connect prepares a connection. Credentials that are incomplete and an endpoint that is not allowed are class Invalid;
// whether the credentials open anything is found out by Identify.
func (p *Provider) Connect(_ context.Context, a cloud.Account) (cloud.Conn, error) {
	if err := p.options.endpointRules().Check(a.EndpointURL); err != nil {
		return nil, err
	}
	c, err := p.openConn(a)
	if err != nil {
		return nil, err // not c, which would be an interface that holds nil
	}
	return c, nil
}
