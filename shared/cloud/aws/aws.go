// Package aws drives Amazon Web Services. Each kind of resource is one file of a family (compute, containers,
// databases, network, storage) and one line in the registry below. The package resource has the parts that the
// families share. Credentials, limits and connections are here. The package wire sends the requests; S3 and STS have
// the SDK's own clients.
package aws

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/compute"
	"lamplighter.dev/shared/cloud/aws/containers"
	"lamplighter.dev/shared/cloud/aws/databases"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/endpoint"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Name is the provider's identifier.
const Name = "aws"

// registry holds every kind. A new kind is a file and a line here.
var registry = []resource.Operator{
	compute.Instances, databases.Databases, databases.Clusters, compute.Groups, containers.Services,
	containers.Nodegroups, databases.Warehouses, databases.DocumentClusters, databases.GraphClusters,
	compute.Notebooks,
	compute.StoppableFunctions, compute.Desktops, compute.AppServices, compute.LightsailInstances, compute.Canaries,
}

// Options are an operator's choices. The zero value of every field but Clock is usable.
type Options struct {
	Clock clock.Clock
	// CustomEndpoints accepts accounts with an EndpointURL: an emulator or a private cloud.
	CustomEndpoints bool
	// PrivateAddresses permits http for an EndpointURL, and addresses in private networks
	// (shared/foundation/ssrfguard).
	PrivateAddresses bool
	// Base is this service's own identity, which assumes the customers' roles; nil is the environment's. It is never
	// used for a custom endpoint.
	Base sdk.CredentialsProvider
	// Role is the ARN of the role that this service uses with accounts and other clouds. Base assumes it. Empty means
	// Base itself.
	Role string
	// HomeRegion serves the requests that belong to no region (identity, the list of regions) if the account names no
	// regions of its own. Accounts in another partition than this region's (GovCloud, China) must name theirs.
	HomeRegion string
	// Transport carries the requests to AWS itself; nil is a pool of its own. Requests to an EndpointURL go through
	// the guard.
	Transport http.RoundTripper
	// Timeout bounds one attempt of one call.
	Timeout time.Duration
	// Attempts is the maximum number of tries of a call whose error AWS marks as retryable.
	Attempts int
	// MaxBackoff bounds the pause between two attempts.
	MaxBackoff time.Duration
	// Limits are calls per second by API ("ec2:StopInstances") or service ("ec2", "rds", …) for one account and
	// region; "" is the limit of all others.
	Limits map[string]Limit
	// Store shares the limits with other processes (shared/cloud/throttle); nil is for a process that is alone.
	Store table.Store
	// PriceLists is the address of the public prices; "" is AWS's own.
	PriceLists string
	// Log receives a warning when the limits cannot be shared; nil discards it.
	Log *slog.Logger
}

// Provider is AWS as cloud.Provider. Its limits hold across all connections to an account.
type Provider struct {
	options   Options
	pace      pace // of AWS itself
	endpoints pace // of addresses that users gave
	http      *http.Client
	guarded   *http.Client // for addresses that users gave
	self      sdk.CredentialsProvider
}

// New makes the provider.
func New(o Options) *Provider {
	o = o.filled()
	p := &Provider{
		options: o,
		self:    o.Base,
		pace:    newPace(o), endpoints: newEndpointPace(o),
		http:    endpoint.NewClient(o.Transport, o.Timeout),
		guarded: endpoint.NewClient(o.endpointRules().Policy().Transport(), o.Timeout),
	}
	if o.Role != "" {
		p.self = p.ownRole(o.Role)
	}
	return p
}

// endpointRules returns the operator's rules for an EndpointURL.
func (o Options) endpointRules() endpoint.Rules {
	return endpoint.Rules{Custom: o.CustomEndpoints, Private: o.PrivateAddresses}
}

func (o Options) filled() Options {
	if o.HomeRegion == "" {
		o.HomeRegion = "us-east-1"
	}
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
	if o.Base == nil {
		o.Base = sdk.NewCredentialsCache(&environment{})
	}
	return o
}

// Name is "aws".
func (p *Provider) Name() string { return Name }

// Kinds returns the kinds in the registry, and the kind of all other resources.
func (p *Provider) Kinds() []cloud.Kind {
	out := make([]cloud.Kind, len(registry), len(registry)+1)
	for i, o := range registry {
		out[i] = o.Describe()
	}
	return append(out, cloud.CollectiveOf(Name))
}

// Connect prepares a connection. Incomplete credentials and a forbidden endpoint are class Invalid. Connect does not
// check whether AWS accepts the credentials; Identify does.
func (p *Provider) Connect(_ context.Context, a cloud.Account) (cloud.Conn, error) {
	if err := p.options.endpointRules().Check(a.EndpointURL); err != nil {
		return nil, err
	}
	cfg := p.sdkConfig(a)
	if err := p.addCredentials(&cfg, a); err != nil {
		return nil, err
	}
	seen := resource.NewSightings()
	cfg.APIOptions = append(cfg.APIOptions, seen.Watch)
	c := &conn{
		provider: p, pace: p.paceOf(a), account: a, config: cfg, seen: seen, open: map[openKey]resource.Operations{},
		admitted: map[admission]int{},
		regions:  map[string]string{},
	}
	c.OpenChange = c.changing
	return c, nil
}
