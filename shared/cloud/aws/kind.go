package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// kind is one kind of resource: what it is, the narrow client C that it needs, and what can be asked of it. Functions get
// at most as many uids as the kind's batches say, and return the SDK's errors as they are: conn classifies them.
type kind[C any] struct {
	cloud.Kind
	needs  needs
	client func(sdk.Config) C
	// clientOf is client for a kind that needs the number of the account.
	clientOf func(cfg sdk.Config, account string) C

	list   func(ctx context.Context, c C, page string) (cloud.ResourcePage, error)
	read   func(ctx context.Context, c C, uids []string) ([]cloud.State, error)
	verify func(ctx context.Context, c C, uids []string) ([]cloud.State, error) // nil is read; at most verifyBatch uids
	act    func(ctx context.Context, c C, v cloud.Verb, targets []cloud.Target) []error
	scale  func(ctx context.Context, c C, uid string, want cloud.Capacity) error
	// readAutoscaling and setAutoscaling are as cloud.Autoscaler has them; nil of a kind that AWS does not scale.
	readAutoscaling func(ctx context.Context, c C, uid string) (cloud.Autoscaling, error)
	setAutoscaling  func(ctx context.Context, c C, uid string, want cloud.Autoscaling) error
	// counted are the limits of the resources that an act is on, where AWS counts those besides the calls.
	counted map[cloud.Verb]string
	// dryRun asks AWS whether the action would be allowed; nil where AWS has no way to ask.
	dryRun func(ctx context.Context, c C, action string) error
}

// needs are the permissions that each capability takes, the first of discover being the one that a listing begins with.
type needs struct{ discover, startStop, scale []string }

// operator is a kind, whatever its client is.
type operator interface {
	describe() cloud.Kind
	// open returns the operations in the region of cfg, for the account of a number.
	open(cfg sdk.Config, account string) operations
}

// operations are what can be asked of a kind in one region.
type operations interface {
	List(ctx context.Context, page string) (cloud.ResourcePage, error)
	Read(ctx context.Context, uids []string) ([]cloud.State, error)
	Verify(ctx context.Context, uids []string) ([]cloud.State, error)
	Act(ctx context.Context, v cloud.Verb, targets []cloud.Target) []error
	Scale(ctx context.Context, uid string, want cloud.Capacity) error
	ReadAutoscaling(ctx context.Context, uid string) (cloud.Autoscaling, error)
	SetAutoscaling(ctx context.Context, uid string, want cloud.Autoscaling) error
	DryRun(ctx context.Context, action string) error
	Kind() cloud.Kind
	Needs() needs
	Counted(v cloud.Verb) string
}

// bound is a kind with a client of one region.
type bound[C any] struct {
	kind   kind[C]
	client C
}

// catalogueKind takes a kind's description from the catalogue, which API functions read without this package.
func catalogueKind(kind string) cloud.Kind {
	k, _ := cloud.KindOf(kind)
	return k
}

func (k kind[C]) describe() cloud.Kind { return k.Kind }

func (k kind[C]) open(cfg sdk.Config, account string) operations {
	if k.clientOf != nil {
		return bound[C]{k, k.clientOf(cfg, account)}
	}
	return bound[C]{k, k.client(cfg)}
}

func (b bound[C]) Kind() cloud.Kind { return b.kind.describe() }
func (b bound[C]) Needs() needs     { return b.kind.needs }

func (b bound[C]) Counted(v cloud.Verb) string { return b.kind.counted[v] }

func (b bound[C]) List(ctx context.Context, page string) (cloud.ResourcePage, error) {
	return b.kind.list(ctx, b.client, page)
}

func (b bound[C]) Read(ctx context.Context, uids []string) ([]cloud.State, error) {
	return b.kind.read(ctx, b.client, uids)
}

func (b bound[C]) Verify(ctx context.Context, uids []string) ([]cloud.State, error) {
	return b.kind.verify(ctx, b.client, uids)
}

func (b bound[C]) Act(ctx context.Context, v cloud.Verb, targets []cloud.Target) []error {
	return b.kind.act(ctx, b.client, v, targets)
}

func (b bound[C]) Scale(ctx context.Context, uid string, want cloud.Capacity) error {
	if b.kind.scale == nil {
		return errUnsupported("%s has no size to set", b.kind.Name)
	}
	return b.kind.scale(ctx, b.client, uid, want)
}

func (b bound[C]) ReadAutoscaling(ctx context.Context, uid string) (cloud.Autoscaling, error) {
	if b.kind.readAutoscaling == nil {
		return cloud.Autoscaling{}, errUnsupported("%s is not scaled by AWS", b.kind.Name)
	}
	return b.kind.readAutoscaling(ctx, b.client, uid)
}

func (b bound[C]) SetAutoscaling(ctx context.Context, uid string, want cloud.Autoscaling) error {
	if b.kind.setAutoscaling == nil {
		return errUnsupported("%s is not scaled by AWS", b.kind.Name)
	}
	return b.kind.setAutoscaling(ctx, b.client, uid, want)
}

func (b bound[C]) DryRun(ctx context.Context, action string) error {
	if b.kind.dryRun == nil {
		return errNoDryRun
	}
	return b.kind.dryRun(ctx, b.client, action)
}

// actOneByOne makes the act of a kind that AWS acts on one by one.
func actOneByOne[C any](act func(ctx context.Context, c C, v cloud.Verb, t cloud.Target) error) func(context.Context, C,
	cloud.Verb, []cloud.Target) []error {
	return func(ctx context.Context, c C, v cloud.Verb, targets []cloud.Target) []error {
		errs := make([]error, len(targets))
		for i, t := range targets {
			errs[i] = act(ctx, c, v, t)
		}
		return errs
	}
}

// readOneByOne makes the read of a kind that AWS describes one by one; what does not exist is left out.
func readOneByOne[C any](read func(ctx context.Context, c C, uid string) (cloud.State, error)) func(context.Context, C,
	[]string) ([]cloud.State, error) {
	return func(ctx context.Context, c C, uids []string) ([]cloud.State, error) {
		var states []cloud.State
		for _, u := range uids {
			s, err := read(ctx, c, u)
			switch {
			case err == nil:
				states = append(states, s)
			case cloud.ClassOf(classifyError(err)) != cloud.NotFound:
				return nil, err
			}
		}
		return states, nil
	}
}
