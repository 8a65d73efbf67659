package aws

import (
	"context"
	"slices"
	"strings"
	"sync"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

var _ cloud.Autoscaler = (*conn)(nil)

var (
	_ cloud.Biller      = (*conn)(nil)
	_ cloud.BillSpender = (*conn)(nil)
)

var _ cloud.ClusterAccess = (*conn)(nil)

var _ cloud.Clusters = (*conn)(nil)

type openKey struct{ kind, region string }

// conn is a connection to one account. A client is made at the first use of a kind in a region.
type conn struct {
	cloud.OpenChange
	provider *Provider
	pace     pace
	account  cloud.Account
	config   sdk.Config // without a region
	seen     *resource.Sightings
	mu       sync.Mutex
	open     map[openKey]resource.Operations
	admitted map[admission]int // resources
	regions  map[string]string // of buckets
	explored int               // requests of Cost Explorer
}

func (c *conn) regionConfig(region string) sdk.Config {
	cfg := c.config.Copy()
	cfg.Region = region
	return cfg
}

func (c *conn) operationsOf(kind, region string) (resource.Operations, error) {
	key := openKey{kind, region}
	c.mu.Lock()
	defer c.mu.Unlock()
	if o, ok := c.open[key]; ok {
		return o, nil
	}
	i := slices.IndexFunc(registry, func(o resource.Operator) bool { return o.Describe().Type == kind })
	switch {
	case i < 0:
		return nil, cloud.ErrInvalid("AWS has no resource type %q here", kind)
	case !regionName.MatchString(region):
		return nil, cloud.ErrInvalid("%q is not the name of an AWS region", region)
	}
	c.open[key] = registry[i].Open(c.regionConfig(region), c.account.NativeID)
	return c.open[key], nil
}

// List reads one page of a kind.
func (c *conn) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	if kind == cloud.AWSOthers {
		got, err := c.listOthers(ctx, region, page)
		for i := range got.Resources {
			got.Resources[i].Region = region
		}
		return got, err
	}
	o, err := c.operationsOf(kind, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	got, err := o.List(ctx, page)
	if err != nil {
		return cloud.ResourcePage{}, resource.ClassifyError(err)
	}
	for i := range got.Resources {
		got.Resources[i].Type, got.Resources[i].Region = kind, region
	}
	return got, nil
}

// Read returns the live states.
func (c *conn) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	o, err := c.operationsOf(kind, region)
	if err != nil {
		return nil, err
	}
	return c.inBatches(region, uids, o.Kind().ReadBatch, func(some []string) ([]cloud.State, error) {
		return o.Read(ctx, some)
	})
}

// verifyBatch is the maximum number of ids in a call of DescribeInstanceStatus.
const verifyBatch = 100

// Verify returns the live states. Where that costs less, it leaves out the fields that matter only before an act. It
// falls back to Read if the account may not ask for the states alone.
func (c *conn) Verify(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	o, err := c.operationsOf(kind, region)
	if err != nil || !o.Kind().Verifies {
		return c.Read(ctx, kind, region, uids)
	}
	states, err := c.inBatches(region, uids, verifyBatch, func(some []string) ([]cloud.State, error) {
		return o.Verify(ctx, some)
	})
	if err != nil && cloud.ClassOf(err) == cloud.Denied {
		return c.Read(ctx, kind, region, uids)
	}
	return states, err
}

// inBatches calls ask with uids in batches, several at once. It leaves out uids of another region or account, because
// they do not exist here.
func (c *conn) inBatches(region string, uids []string, size int,
	ask func(some []string) ([]cloud.State, error),
) ([]cloud.State, error) {
	here := slices.DeleteFunc(slices.Clone(uids), func(u string) bool { return c.elsewhere(u, region) })
	batches := slices.Collect(slices.Chunk(here, size))
	states, errs := make([][]cloud.State, len(batches)), make([]error, len(batches))
	cloud.InParallel(len(batches), resource.Width, func(i int) { states[i], errs[i] = ask(batches[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, resource.ClassifyError(err)
		}
	}
	return slices.Concat(states...), nil
}

// Act starts or stops resources and returns one error per target.
func (c *conn) Act(ctx context.Context, v cloud.Verb, kind, region string, targets []cloud.Target) []cloud.Result {
	out := make([]cloud.Result, len(targets))
	o, err := c.operationsOf(kind, region)
	var here []int
	for i, t := range targets {
		switch out[i].UID = t.UID; {
		case err != nil:
			out[i].Err = err
		case c.elsewhere(t.UID, region):
			out[i].Err = cloud.ErrNotFound("%s is not in region %s of this account", t.UID, region)
		default:
			here = append(here, i)
		}
	}
	if len(here) == 0 {
		return out
	}
	batches := slices.Collect(slices.Chunk(here, o.Kind().ActBatch))
	cloud.InParallel(len(batches), resource.Width, func(b int) {
		errs := c.act(ctx, o, call{v, region, resource.PickAt(targets, batches[b])})
		for i, at := range batches[b] {
			out[at].Err = resource.ClassifyError(errs[i])
		}
	})
	return out
}

// call is one act of a kind on a batch.
type call struct {
	verb    cloud.Verb
	region  string
	targets []cloud.Target
}

// act acts on a batch after it has the tokens for its resources.
func (c *conn) act(ctx context.Context, o resource.Operations, k call) []error {
	if err := c.pay(ctx, k.region, c.counted(k.verb, o.Kind().Type, k.region), len(k.targets)); err != nil {
		return slices.Repeat([]error{&smithy.CanceledError{Err: err}}, len(k.targets))
	}
	return o.Act(ctx, k.verb, k.targets)
}

// Scale sets a size. A minimum, a desired size and a maximum that contradict each other are class Invalid.
func (c *conn) Scale(ctx context.Context, kind, region, uid string, want cloud.Capacity) error {
	o, err := c.operationsAt(kind, region, uid)
	if err != nil {
		return err
	}
	return resource.ClassifyError(o.Scale(ctx, uid, want))
}

// ReadAutoscaling returns the scaling of a group.
func (c *conn) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	o, err := c.operationsAt(kind, region, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	got, err := o.ReadAutoscaling(ctx, uid)
	return got, resource.ClassifyError(err)
}

// SetAutoscaling sets the scaling of a group.
func (c *conn) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	o, err := c.operationsAt(kind, region, uid)
	if err != nil {
		return err
	}
	return resource.ClassifyError(o.SetAutoscaling(ctx, uid, want))
}

// operationsAt returns the operations of a kind for one resource. A resource of another region or account is class
// NotFound.
func (c *conn) operationsAt(kind, region, uid string) (resource.Operations, error) {
	o, err := c.operationsOf(kind, region)
	if err == nil && c.elsewhere(uid, region) {
		err = cloud.ErrNotFound("%s is not in region %s of this account", uid, region)
	}
	return o, err
}

// elsewhere reports whether the uid is an ARN of another region or account. An act by its name would reach a resource
// with the same name here.
func (c *conn) elsewhere(uid, region string) bool {
	if !strings.HasPrefix(uid, "arn:") {
		return false
	}
	f := strings.SplitN(uid, ":", 6)
	return len(f) < 6 || f[3] != region || (c.account.NativeID != "" && f[4] != "" && f[4] != c.account.NativeID)
}

var _ cloud.IdentityTokens = (*Provider)(nil)

var _ cloud.Metered = (*conn)(nil)

var _ cloud.Organisations = (*conn)(nil)

var _ cloud.KindProber = (*conn)(nil)
