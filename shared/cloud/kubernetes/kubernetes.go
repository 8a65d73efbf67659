// Package kubernetes drives Kubernetes clusters: workloads, CronJobs and whole namespaces. It calls the API of
// Kubernetes without client-go (client.go). The decisions are here: which object is stopped, which state must be
// remembered, which controller would start it again. A cluster is reached with a kubeconfig, or with a token of the
// cloud that runs it. A kubeconfig cannot make this process run a program or read a file: see the package kubeconfig
// below.
package kubernetes

import (
	"context"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// Name is the provider's identifier.
const Name = "kubernetes"

// Region is the only region of an account that is one cluster.
const Region = "cluster"

// registry holds every kind: a new one is a file and a line here.
var registry = []kind{namespaces, deployments, statefulSets, cronJobs, daemonSets}

// Options are an operator's choices. The zero value of every field but Clock is usable.
type Options struct {
	Clock clock.Clock
	// PrivateAddresses permits a cluster's address in private networks (shared/foundation/ssrfguard).
	PrivateAddresses bool
	// Timeout bounds one attempt of one call.
	Timeout time.Duration
	// Attempts is the maximum number of tries of a retryable call.
	Attempts int
	// MaxBackoff bounds the pause between two attempts.
	MaxBackoff time.Duration
	// InFlight is the maximum number of concurrent calls from this process to one cluster. The cluster's own priority
	// and fairness does the rest.
	InFlight int
}

// Provider is Kubernetes as cloud.Provider. Its limits hold across all connections to a cluster.
type Provider struct {
	options Options
	limiter *throttle.Limiter
	mu      sync.Mutex
	slots   map[string]chan struct{} // by server
}

// New makes the provider.
func New(o Options) *Provider {
	return &Provider{
		options: o.withDefaults(), slots: map[string]chan struct{}{},
		limiter: throttle.New(throttle.Options{Clock: o.Clock, Limits: map[string]throttle.Limit{"": callLimit}}),
	}
}

// callLimit is the limit of calls to one cluster from this process. Clusters document no limit, and no account has
// one. A cluster refuses calls when there are too many, and the bucket then slows down.
var callLimit = throttle.Limit{PerSecond: 1000, Burst: 1000}

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
	if o.InFlight <= 0 {
		o.InFlight = 32
	}
	return o
}

// addressPolicy returns the policy for a cluster's address.
func (o Options) addressPolicy() ssrfguard.Policy {
	return ssrfguard.Policy{Private: o.PrivateAddresses, AnyPort: true}
}

// Name is "kubernetes".
func (p *Provider) Name() string { return Name }

// Kinds returns the kinds in the registry, and the collective kind for all other resources.
func (p *Provider) Kinds() []cloud.Kind {
	out := make([]cloud.Kind, len(registry), len(registry)+1)
	for i, k := range registry {
		out[i] = k.Kind
	}
	return append(out, cloud.CollectiveOf(Name))
}

// Connect prepares a connection with the account's kubeconfig. A refused kubeconfig is class Invalid, with a message
// that repeats no secret. Connect does not check whether the cluster accepts the credentials; Identify does.
func (p *Provider) Connect(_ context.Context, a cloud.Account) (cloud.Conn, error) {
	switch {
	case a.AuthMethod != "kubeconfig":
		return nil, cloud.ErrInvalid("authMethod %q is not kubeconfig", a.AuthMethod)
	case a.Credentials["kubeconfig"] == "":
		return nil, cloud.ErrInvalid("credentials.kubeconfig is missing")
	case a.EndpointURL != "":
		return nil, cloud.ErrInvalid("endpointURL is not accepted: the kubeconfig names the address of the cluster")
	}
	access, err := kubeconfig.ParseKubeconfig(a.Credentials["kubeconfig"], p.options.Clock.Now())
	if err != nil {
		return nil, cloud.ErrInvalid("%s", fault.Message(err))
	}
	c, err := p.openCluster(entryOf(access), access)
	if err != nil {
		return nil, err
	}
	c.uid = a.NativeID
	if c.prom, err = p.openPrometheus(a); err != nil {
		return nil, err
	}
	return newConn(c, Region), nil
}

func entryOf(a kubeconfig.Access) cloud.ClusterEntry {
	e := cloud.ClusterEntry{Server: a.Server, ServerName: a.ServerName, Authority: a.Authority}
	if a.Token != "" {
		e.Token = func(context.Context) (string, error) { return a.Token, nil }
	}
	return e
}

// slotsOf returns the slots that bound the parallel calls to a server. Entries without calls under way are removed.
func (p *Provider) slotsOf(server string) chan struct{} {
	const many = 1024
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.slots[server]; s != nil {
		return s
	}
	if len(p.slots) >= many {
		for k, s := range p.slots {
			if len(s) == 0 {
				delete(p.slots, k)
			}
		}
	}
	p.slots[server] = make(chan struct{}, p.options.InFlight)
	return p.slots[server]
}

var _ cloud.Provider = (*Provider)(nil)
