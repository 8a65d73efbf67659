// Package resource holds the parts that the families of kinds share: the types of a kind and of a source, errors,
// names, sizes, facts, and a cache of the resources that one connection has seen.
package resource

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// Kind is one kind of resource: its description, the narrow client C that it needs, and its operations. Its functions
// get at most as many uids as the kind's batches allow, and return the SDK's errors unchanged: conn classifies them.
type Kind[C any] struct {
	cloud.Kind
	Needs  Needs
	Client func(sdk.Config) C
	// ClientOf is Client for a kind that needs the number of the account.
	ClientOf func(cfg sdk.Config, account string) C

	List   func(ctx context.Context, c C, page string) (cloud.ResourcePage, error)
	Read   func(ctx context.Context, c C, uids []string) ([]cloud.State, error)
	Verify func(ctx context.Context, c C, uids []string) ([]cloud.State, error) // nil is read; at most verifyBatch uids
	Act    func(ctx context.Context, c C, v cloud.Verb, targets []cloud.Target) []error
	Scale  func(ctx context.Context, c C, uid string, want cloud.Capacity) error
	// ReadAutoscaling and SetAutoscaling implement cloud.Autoscaler; nil for a kind that AWS does not scale.
	ReadAutoscaling func(ctx context.Context, c C, uid string) (cloud.Autoscaling, error)
	SetAutoscaling  func(ctx context.Context, c C, uid string, want cloud.Autoscaling) error
	// Counted are the names of the limits that count the resources of an act, where AWS counts them besides the calls.
	Counted map[cloud.Verb]string
	// DryRun asks AWS whether the action would be allowed; nil if AWS has no dry run.
	DryRun func(ctx context.Context, c C, action string) error
}

// Needs are the permissions of each capability. The first of Discover is the one that a listing begins with.
type Needs struct{ Discover, StartStop, Scale []string }

// Operator is a kind with any type of client.
type Operator interface {
	Describe() cloud.Kind
	// Open returns the operations in the region of cfg, for the account with this number.
	Open(cfg sdk.Config, account string) Operations
}

// Operations are the operations of a kind in one region.
type Operations interface {
	List(ctx context.Context, page string) (cloud.ResourcePage, error)
	Read(ctx context.Context, uids []string) ([]cloud.State, error)
	Verify(ctx context.Context, uids []string) ([]cloud.State, error)
	Act(ctx context.Context, v cloud.Verb, targets []cloud.Target) []error
	Scale(ctx context.Context, uid string, want cloud.Capacity) error
	ReadAutoscaling(ctx context.Context, uid string) (cloud.Autoscaling, error)
	SetAutoscaling(ctx context.Context, uid string, want cloud.Autoscaling) error
	DryRun(ctx context.Context, action string) error
	Kind() cloud.Kind
	Needs() Needs
	Counted(v cloud.Verb) string
}

// bound is a kind with a client of one region.
type bound[C any] struct {
	kind   Kind[C]
	client C
}

// CatalogueKind takes a kind's description from the catalogue, which API functions read without this package.
func CatalogueKind(kind string) cloud.Kind {
	k, _ := cloud.KindOf(kind)
	return k
}

// Describe returns the kind's description.
func (k Kind[C]) Describe() cloud.Kind { return k.Kind }

// Open returns the operations in the region of cfg, for the account with this number.
func (k Kind[C]) Open(cfg sdk.Config, account string) Operations {
	if k.ClientOf != nil {
		return bound[C]{k, k.ClientOf(cfg, account)}
	}
	return bound[C]{k, k.Client(cfg)}
}

func (b bound[C]) Kind() cloud.Kind { return b.kind.Describe() }

func (b bound[C]) Needs() Needs { return b.kind.Needs }

func (b bound[C]) Counted(v cloud.Verb) string { return b.kind.Counted[v] }

func (b bound[C]) List(ctx context.Context, page string) (cloud.ResourcePage, error) {
	return b.kind.List(ctx, b.client, page)
}

func (b bound[C]) Read(ctx context.Context, uids []string) ([]cloud.State, error) {
	return b.kind.Read(ctx, b.client, uids)
}

func (b bound[C]) Verify(ctx context.Context, uids []string) ([]cloud.State, error) {
	return b.kind.Verify(ctx, b.client, uids)
}

func (b bound[C]) Act(ctx context.Context, v cloud.Verb, targets []cloud.Target) []error {
	return b.kind.Act(ctx, b.client, v, targets)
}

func (b bound[C]) Scale(ctx context.Context, uid string, want cloud.Capacity) error {
	if b.kind.Scale == nil {
		return cloud.ErrUnsupported("%s has no size to set", b.kind.Name)
	}
	return b.kind.Scale(ctx, b.client, uid, want)
}

func (b bound[C]) ReadAutoscaling(ctx context.Context, uid string) (cloud.Autoscaling, error) {
	if b.kind.ReadAutoscaling == nil {
		return cloud.Autoscaling{}, cloud.ErrUnsupported("%s is not scaled by AWS", b.kind.Name)
	}
	return b.kind.ReadAutoscaling(ctx, b.client, uid)
}

func (b bound[C]) SetAutoscaling(ctx context.Context, uid string, want cloud.Autoscaling) error {
	if b.kind.SetAutoscaling == nil {
		return cloud.ErrUnsupported("%s is not scaled by AWS", b.kind.Name)
	}
	return b.kind.SetAutoscaling(ctx, b.client, uid, want)
}

func (b bound[C]) DryRun(ctx context.Context, action string) error {
	if b.kind.DryRun == nil {
		return ErrNoDryRun
	}
	return b.kind.DryRun(ctx, b.client, action)
}

// ActOneByOne returns the Act function of a kind whose API acts on one resource per call.
func ActOneByOne[C any](act func(ctx context.Context, c C, v cloud.Verb, t cloud.Target) error) func(context.Context, C,
	cloud.Verb, []cloud.Target) []error {
	return func(ctx context.Context, c C, v cloud.Verb, targets []cloud.Target) []error {
		errs := make([]error, len(targets))
		for i, t := range targets {
			errs[i] = act(ctx, c, v, t)
		}
		return errs
	}
}

// ReadOneByOne returns the Read function of a kind whose API describes one resource per call. It leaves out resources
// that do not exist.
func ReadOneByOne[C any](read func(ctx context.Context, c C, uid string) (cloud.State, error)) func(context.Context, C,
	[]string) ([]cloud.State, error) {
	return func(ctx context.Context, c C, uids []string) ([]cloud.State, error) {
		var states []cloud.State
		for _, u := range uids {
			s, err := read(ctx, c, u)
			switch {
			case err == nil:
				states = append(states, s)
			case cloud.ClassOf(ClassifyError(err)) != cloud.NotFound:
				return nil, err
			}
		}
		return states, nil
	}
}
