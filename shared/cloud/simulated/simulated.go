// Package simulated is a cloud without machines: any number of resources calculated from their index, states that take
// time, and faults that an account switches on. It exists so that the whole service can be tried, tested and broken
// without a cloud. The effects of acts are stored, so they survive the end of the process.
package simulated

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Name is the provider's identifier.
const Name = "simulated"

// AuthMethod is the only authMethod of its accounts.
const AuthMethod = "simulated"

// provider keeps one world for each account, shared by all connections of the process.
type provider struct {
	store table.Store
	clk   clock.Clock

	limiter *throttle.Limiter // of the accounts with limits

	mu     sync.Mutex
	worlds map[string]*world
}

// New returns the provider. It keeps the effects of acts in store, under SIM#<account>.
func New(store table.Store, clk clock.Clock) cloud.Provider {
	return &provider{store: store, clk: clk, limiter: newLimiter(store, clk), worlds: map[string]*world{}}
}

// Name is "simulated".
func (p *provider) Name() string { return Name }

// Kinds returns the kinds of AWS, acted on in calls of 100 ids and read in calls of 1,000, some kinds of the other
// providers, and some that are only found.
func (p *provider) Kinds() []cloud.Kind {
	out := make([]cloud.Kind, len(kinds), len(kinds)+1)
	for i, k := range kinds {
		out[i] = k.Kind
	}
	return append(out, cloud.CollectiveOf(Name))
}

// Connect reads the account's settings from its credentials (see Settings in settings.go); a wrong one is
// cloud.Invalid and named.
func (p *provider) Connect(_ context.Context, a cloud.Account) (cloud.Conn, error) {
	s, err := parseSettings(a)
	if err != nil {
		return nil, err
	}
	c := &conn{settings: s, world: p.worldOf(a.ID), clk: p.clk, limiter: p.limiter, admitted: map[string]int{}}
	c.OpenChange = c.changing
	return c, nil
}

func (p *provider) worldOf(account string) *world {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.worlds[account]
	if w == nil {
		w = &world{store: table.NewPatientStore(p.store), pk: "SIM#" + account, calls: map[string]int{}}
		p.worlds[account] = w
	}
	return w
}

// CallsByMethod returns how many calls this process made to the simulated account (ca_…), by method of cloud.Conn:
// "List", "Read", "Act", … Attempts that were throttled count too. p must come from New.
func CallsByMethod(p cloud.Provider, account string) map[string]int {
	w := p.(*provider).worldOf(account)
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.calls)
}

// ThrottleCalls throttles the next calls of this process to the account, besides the faults of its settings; 0 ends
// it. It is for tests that need an exact number. p must come from New.
func ThrottleCalls(p cloud.Provider, account string, calls int) {
	w := p.(*provider).worldOf(account)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.throttled = calls
}

// DenyCapability takes the capability ("discover", "start_stop", "scale", "remediate") from the account in this
// process, or gives it back. It is for tests that take a permission away from a connection in use. p must come from
// New.
func DenyCapability(p cloud.Provider, account, capability string, on bool) {
	w := p.(*provider).worldOf(account)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.denied = slices.DeleteFunc(w.denied, func(c string) bool { return c == capability })
	if on {
		w.denied = append(w.denied, capability)
	}
}

// conn is a connection to one account.
type conn struct {
	settings
	cloud.OpenChange
	world    *world
	clk      clock.Clock
	limiter  *throttle.Limiter
	admitted map[string]int // instances that may still be acted on, by region and operation

	billMutex sync.Mutex
	lastBill  *bill // that was asked for
}

// CheckSettings returns an error for a credential that is not a setting.
func (c *conn) CheckSettings() error { return c.unknown }

var _ cloud.SettingsChecker = (*conn)(nil)

// callDeadline is how long one call may take; a slower one ends as a time-out, as an SDK's would.
const callDeadline = 30 * time.Second

// Identify returns the account number that the credentials open.
func (c *conn) Identify(ctx context.Context) (string, error) {
	err := c.simulateCall(ctx, request{method: "Identify", op: "sts:GetCallerIdentity"}, nil)
	if err != nil {
		return "", err
	}
	return c.number, nil
}

// Regions returns the regions of the settings. If the account names regions, it returns only those.
func (c *conn) Regions(ctx context.Context) ([]string, error) {
	err := c.simulateCall(ctx, request{method: "Regions", op: "account:ListRegions"}, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(c.regions), func(r string) bool {
		return len(c.named) > 0 && !slices.Contains(c.named, r)
	}), nil
}

// Permissions returns which of the permissions in use the setting "denied" takes away.
func (c *conn) Permissions(ctx context.Context) ([]cloud.Permission, error) {
	if err := c.simulateCall(ctx, request{method: "Permissions", op: "iam:SimulatePrincipalPolicy"}, nil); err != nil {
		return nil, err
	}
	var out []cloud.Permission
	for _, k := range kinds {
		for _, o := range k.operationsOf() {
			out = append(out, c.permissionFor(request{op: o.op, kind: k.Type, capability: o.capability}))
		}
	}
	out = append(out, c.permissionFor(request{op: "eks:DescribeCluster", capability: discover}))
	for _, need := range changeNeeds() {
		out = append(out, c.permissionFor(request{op: need, capability: cloud.RemediateCapability}))
	}
	return out, nil
}

// changeNeeds returns the permissions of the changes of all kinds.
func changeNeeds() []string {
	return slices.Concat(cloud.ChangeNeeds("aws"), cloud.ChangeNeeds("azure"), cloud.ChangeNeeds("gcp"),
		cloud.ChangeNeeds("kubernetes"))
}

var _ cloud.ChangeProber = (*conn)(nil)

// ChangePermissions returns the permissions of a change, according to the settings of the account.
func (c *conn) ChangePermissions(ctx context.Context, want cloud.Change) ([]cloud.Permission, error) {
	out, err := cloud.NeedsOf(want, "")
	if err != nil {
		return nil, err
	}
	r := request{method: "ChangePermissions", op: "iam:SimulatePrincipalPolicy"}
	if err = c.simulateCall(ctx, r, nil); err != nil {
		return nil, err
	}
	for i, p := range out {
		out[i] = c.permissionFor(request{
			op: p.Action, kind: want.Kind, region: want.Region, capability: p.Capability,
		})
	}
	return out, nil
}

var _ cloud.KindProber = (*conn)(nil)

// KindPermissions returns the permissions for one kind, according to the settings of the account.
func (c *conn) KindPermissions(ctx context.Context, kind, _, _ string) ([]cloud.Permission, error) {
	if err := c.simulateCall(ctx, request{method: "KindPermissions", op: "iam:SimulatePrincipalPolicy"},
		nil); err != nil {
		return nil, err
	}
	i, known := kindOf(kind)
	if !known {
		return nil, &cloud.Error{Class: cloud.Invalid, Message: "there is no kind " + kind}
	}
	var out []cloud.Permission
	for _, o := range kinds[i].operationsOf() {
		if o.capability != discover {
			out = append(out, c.permissionFor(request{op: o.op, kind: kind, capability: o.capability}))
		}
	}
	return out, nil
}

func (c *conn) permissionFor(r request) cloud.Permission {
	p := cloud.Permission{Capability: r.capability, Action: r.op, Status: "granted"}
	if err := c.refusalOf(r); err != nil {
		p.Status, p.Message = "denied", err.Message
	}
	return p
}

var _ cloud.Conn = (*conn)(nil)
