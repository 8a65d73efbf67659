package azure

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
)

const (
	// width is the number of concurrent calls of one call of ours. The limiter paces them.
	width                = 8
	subscriptionsPath    = "/subscriptions"
	subscriptionsVersion = "2022-12-01"
)

var regionName = regexp.MustCompile(`^[a-z0-9]{2,64}$`)

// conn is a connection to one subscription.
type conn struct {
	cloud.OpenChange
	account cloud.Account
	client  *armClient
	tokens  azcore.TokenCredential
	metrics metricClient
	storage runtime.Pipeline
	// storageEndpoint is the custom endpoint; "" if storage accounts have hosts of their own
	storageEndpoint string
	clock           clock.Clock
	stranger        azcore.TokenCredential // a token that must not open the account; nil when that is not tested
	overview        overview
	acquaintance    neighbourCache
	mu              sync.Mutex
	found           string // the subscription of an account that names none
}

// subscriptionID returns the id of the subscription. An account that names none has to have one alone.
func (c *conn) subscriptionID(ctx context.Context) (string, error) {
	if c.account.NativeID != "" {
		return strings.ToLower(c.account.NativeID), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != "" {
		return c.found, nil
	}
	all, err := listAll[subscriptionRow](ctx, c.client, subscriptionsPath, subscriptionsVersion)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", &cloud.Error{
			Class: cloud.Refused, Code: "NoSubscription",
			Message: "the application sees no subscription: assign it the role in the subscription that is to be " +
				"connected",
		}
	case len(all) > 1:
		return "", cloud.ErrInvalid(
			"the application sees %d subscriptions: name one as the account's id, such as %s", len(all), all[0].ID)
	}
	c.found = strings.ToLower(all[0].ID)
	return c.found, nil
}

type subscriptionRow struct {
	ID    string            `json:"subscriptionId"`
	Name  string            `json:"displayName"`
	State string            `json:"state"` // Enabled, Warned, PastDue, Disabled, Deleted
	Tags  map[string]string `json:"tags"`
}

// Identify returns the id of the subscription, once Azure has shown it to the credentials.
func (c *conn) Identify(ctx context.Context) (string, error) {
	if err := c.demandAudience(ctx); err != nil {
		return "", err
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return "", err
	}
	var got subscriptionRow
	err = c.client.callARM(ctx,
		call{method: http.MethodGet, path: subscriptionsPath + "/" + id, version: subscriptionsVersion}, &got)
	return strings.ToLower(got.ID), err
}

// Regions lists the regions of the subscription: of the account's named regions, or all.
func (c *conn) Regions(ctx context.Context) ([]string, error) {
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return nil, err
	}
	type location struct {
		Name     string
		Metadata struct{ RegionType string }
	}
	all, err := listAll[location](ctx, c.client, subscriptionsPath+"/"+id+"/locations", subscriptionsVersion)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range all {
		named := len(c.account.Regions) == 0 || slices.Contains(c.account.Regions, l.Name)
		if named && l.Metadata.RegionType == "Physical" {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func kindOf(name, region string) (kind, error) {
	i := slices.IndexFunc(registry, func(k kind) bool { return k.Type == name })
	switch {
	case i < 0:
		return kind{}, cloud.ErrInvalid("Azure has no resource type %.64q here", name)
	case !regionName.MatchString(region):
		return kind{}, cloud.ErrInvalid("%.64q is not the name of an Azure region", region)
	}
	return registry[i], nil
}

// List reads one page of a kind from the Resource Graph.
func (c *conn) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	if kind == cloud.AzureOthers && regionName.MatchString(region) {
		return c.listOthers(ctx, region, page)
	}
	k, err := kindOf(kind, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	return c.listPage(ctx, k, region, page)
}

// Read returns the live states, each from the resource's own answer. Uids of another region or subscription do not
// exist here.
func (c *conn) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	k, err := kindOf(kind, region)
	if err != nil {
		return nil, err
	}
	targets := make([]cloud.Target, len(uids))
	for i, u := range uids {
		targets[i].UID = u
	}
	here, err := c.resolveTargets(ctx, k, targets)
	if err != nil {
		return nil, err
	}
	states, errs := make([]*cloud.State, len(here)), make([]error, len(here))
	cloud.InParallel(len(here), width, func(i int) {
		if here[i].err == nil {
			states[i], errs[i] = c.readOne(ctx, k, region, here[i].target)
		}
	})
	var out []cloud.State
	for i := range here {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if states[i] != nil {
			out = append(out, *states[i])
		}
	}
	return out, nil
}

// readOne returns the state of one resource; nil when it is not there.
func (c *conn) readOne(ctx context.Context, k kind, region string, t target) (*cloud.State, error) {
	_, r, err := c.client.getResource(ctx, t.UID, k.version, k.query)
	if err != nil && cloud.ClassOf(err) == cloud.NotFound || err == nil && r.Location != "" &&
		regionOf(r.Location) != region {
		return nil, nil //nolint:nilnil // absence is no failure: it is missing from the answer
	}
	if err != nil {
		return nil, err
	}
	f, err := k.facts(r, t.setting)
	if err != nil {
		return nil, err
	}
	return &cloud.State{
		UID: t.UID, Status: f.status, Native: f.native, Reason: f.reason, Unschedulable: f.unschedulable,
		Snapshot:   f.snapshot,
		NoCapacity: f.noCapacity,
	}, nil
}

// resolvedTarget is a target that may be acted on, or why it may not.
type resolvedTarget struct {
	target
	err error
}

// resolveTargets separates the targets that are not of the kind or the subscription, and adds the autoscale settings
// of the others, which it reads once for all.
func (c *conn) resolveTargets(ctx context.Context, k kind, targets []cloud.Target) ([]resolvedTarget, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return nil, err
	}
	var known settings
	if k.autoscaled {
		if known, err = c.readSettings(ctx, id); err != nil {
			return nil, err
		}
	}
	out := make([]resolvedTarget, len(targets))
	for i, t := range targets {
		out[i].target = target{t, known[uidOf(t.UID)]}
		if !isOf(t.UID, id, k.arm) {
			out[i].err = cloud.ErrNotFound("%.256s is no %s of this subscription", t.UID, k.Name)
		}
	}
	return out, nil
}

// Act starts or stops.
func (c *conn) Act(ctx context.Context, v cloud.Verb, kind, region string, targets []cloud.Target) []cloud.Result {
	out := make([]cloud.Result, len(targets))
	k, err := kindOf(kind, region)
	var here []resolvedTarget
	if err == nil {
		here, err = c.resolveTargets(ctx, k, targets)
	}
	cloud.InParallel(len(targets), width, func(i int) {
		switch out[i].UID = targets[i].UID; {
		case err != nil:
			out[i].Err = err
		case here[i].err != nil:
			out[i].Err = here[i].err
		default:
			out[i].Err = k.actOn(withRegion(ctx, region), c.client, v, here[i].target)
		}
	})
	return out
}

// Scale sets a size. A minimum, a desired size and a maximum that contradict each other are class Invalid.
func (c *conn) Scale(ctx context.Context, kind, region, uid string, want cloud.Capacity) error {
	k, err := kindOf(kind, region)
	if err != nil {
		return err
	}
	t, err := c.resolveOne(ctx, k, uid)
	if err != nil {
		return err
	}
	return k.scaleTo(ctx, c.client, t, want)
}

// resolveOne is resolve for one resource.
func (c *conn) resolveOne(ctx context.Context, k kind, uid string) (target, error) {
	here, err := c.resolveTargets(ctx, k, []cloud.Target{{UID: uid}})
	if err != nil {
		return target{}, err
	}
	return here[0].target, here[0].err
}

var _ cloud.Autoscaler = (*conn)(nil)

// ReadAutoscaling returns how a set is scaled.
func (c *conn) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	k, t, err := c.autoscaledResource(ctx, kind, region, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return k.readAutoscaling(ctx, c.client, t)
}

// SetAutoscaling sets how a set is scaled.
func (c *conn) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	k, t, err := c.autoscaledResource(ctx, kind, region, uid)
	if err != nil {
		return err
	}
	return k.setAutoscaling(ctx, c.client, t, want)
}

// autoscaledResource finds a resource of a kind that Azure scales.
func (c *conn) autoscaledResource(ctx context.Context, kindType, region, uid string) (kind, target, error) {
	k, err := kindOf(kindType, region)
	if err != nil {
		return k, target{}, err
	}
	if k.readAutoscaling == nil {
		return k, target{}, cloud.ErrUnsupported("%s is not scaled by Azure Monitor", k.Name)
	}
	t, err := c.resolveOne(ctx, k, uid)
	return k, t, err
}
