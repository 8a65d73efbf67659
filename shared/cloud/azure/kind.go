package azure

import (
	"context"
	"net/http"
	"net/url"

	"lamplighter.dev/shared/cloud"
)

// kind is one kind of resource: its type in Azure Resource Manager, and its particular calls.
type kind struct {
	cloud.Kind
	arm     string     // the type: "Microsoft.Compute/virtualMachines"
	version string     // of the API
	query   url.Values // besides the version, when one is read
	needs   needs
	// off and on are the verbs of kinds that have them; other kinds act by a function.
	off, on string
	// facts reads the facts of a resource. Autoscaled kinds get the autoscale setting of the resource, or nil.
	facts func(r resource, s *setting) (facts, error)
	// autoscaled kinds may have an autoscale setting, a resource of its own.
	autoscaled bool
	act        func(ctx context.Context, c *armClient, v cloud.Verb, t target) error
	scale      func(ctx context.Context, c *armClient, t target, want cloud.Capacity) error
	// readAutoscaling and setAutoscaling are as cloud.Autoscaler has them; nil of a kind that Azure does not scale.
	readAutoscaling func(ctx context.Context, c *armClient, t target) (cloud.Autoscaling, error)
	setAutoscaling  func(ctx context.Context, c *armClient, t target, want cloud.Autoscaling) error
	// parent and inside are of kinds that the Resource Graph does not list, but as parts of another type.
	parent string
	inside func(r resource) ([]resource, error)
	// collection is the path of the parent's listing, for kinds that the parent does not hold in its own row.
	collection string
	// foreign reports whether a row of the type belongs to another kind, or to no kind.
	foreign func(r resource) bool
}

// needs are the permissions that each capability takes.
type needs struct{ discover, startStop, scale []string }

// target is a resource to act on, with the autoscale setting that points at it.
type target struct {
	cloud.Target
	setting *setting
}

// catalogueKind takes a kind's description from the catalogue, which API functions read without this package.
func catalogueKind(kind string) cloud.Kind {
	k, _ := cloud.KindOf(kind)
	return k
}

// verbNeeds are the permissions of a kind that has verbs.
func verbNeeds(armType, off, on string) needs {
	return needs{
		discover:  []string{armType + "/read"},
		startStop: []string{armType + "/" + off + "/action", armType + "/" + on + "/action"},
	}
}

// sizeNeeds are the permissions of a kind that is changed by writing it.
func sizeNeeds(armType string) needs {
	return needs{discover: []string{armType + "/read"}, scale: []string{armType + "/write"}}
}

// listedType is the type that the Resource Graph has rows of.
func (k kind) listedType() string {
	if k.parent != "" {
		return k.parent
	}
	return k.arm
}

// actOn starts or stops one resource.
func (k kind) actOn(ctx context.Context, c *armClient, v cloud.Verb, t target) error {
	if k.act != nil {
		return k.act(ctx, c, v, t)
	}
	if !k.Actionable {
		return cloud.ErrUnsupported("%s cannot be started and stopped", k.Name)
	}
	verb := k.on
	if v == cloud.Stop {
		verb = k.off
	}
	return c.callARM(ctx, call{method: http.MethodPost, path: t.UID + "/" + verb, version: k.version}, nil)
}

// scaleTo sets the size of one resource.
func (k kind) scaleTo(ctx context.Context, c *armClient, t target, want cloud.Capacity) error {
	if k.scale == nil {
		return cloud.ErrUnsupported("%s has no size to set", k.Name)
	}
	return k.scale(ctx, c, t, want)
}
