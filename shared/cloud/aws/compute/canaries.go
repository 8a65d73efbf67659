package compute

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/synthetics"
)

// Canaries are canaries of CloudWatch Synthetics; the uid is the ARN. A stopped canary runs no checks, and its alarms
// have no data.
var Canaries = resource.Kind[*synthetics.Client]{
	Kind: resource.CatalogueKind(cloud.AWSCanary),
	Needs: resource.Needs{
		Discover:  []string{"synthetics:DescribeCanaries", "synthetics:GetCanary"},
		StartStop: []string{"synthetics:StartCanary", "synthetics:StopCanary"},
	},
	Client: synthetics.NewFromConfig,
	List:   listCanaries,
	Read:   resource.ReadOneByOne(readCanary),
	Act:    resource.ActOneByOne(actCanary),
}

// canaryStates are the statuses by Synthetics' states. A ready canary was never started.
var canaryStates = map[synthetics.CanaryState]cloud.Status{
	synthetics.CanaryStateRunning: cloud.Running, synthetics.CanaryStateReady: cloud.Stopped,
	synthetics.CanaryStateStopped:  cloud.Stopped,
	synthetics.CanaryStateStarting: cloud.Starting, synthetics.CanaryStateStopping: cloud.Stopping,
	synthetics.CanaryStateCreating: cloud.Pending,
	synthetics.CanaryStateUpdating: cloud.Pending, synthetics.CanaryStateDeleting: cloud.Terminated,
}

func canaryName(uid string) string { return resource.NameIn(uid, "synthetics", "canary:") }

// canaryUID returns the ARN of a canary, derived from the ARN of its function, because Synthetics returns no other; ""
// while it has no function.
func canaryUID(c synthetics.Canary) string {
	f := strings.Split(sdk.ToString(c.EngineArn), ":")
	if len(f) < 5 {
		return ""
	}
	return strings.Join([]string{"arn", f[1], "synthetics", f[3], f[4], "canary", sdk.ToString(c.Name)}, ":")
}

func listCanaries(ctx context.Context, c *synthetics.Client, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeCanaries(ctx,
		&synthetics.DescribeCanariesInput{MaxResults: sdk.Int32(20), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, k := range out.Canaries {
		r := cloud.Resource{UID: canaryUID(k), Name: sdk.ToString(k.Name), Tags: k.Tags, Status: canaryStatus(k)}
		if r.Tags == nil {
			r.Tags = map[string]string{}
		}
		if k.Timeline != nil {
			r.CreatedAt = k.Timeline.Created.Value().UTC()
		}
		if r.UID != "" {
			p.Resources = append(p.Resources, r)
		}
	}
	return p, nil
}

func canaryStatus(c synthetics.Canary) cloud.Status {
	if c.Status == nil {
		return cloud.Unknown
	}
	return resource.NativeStatus(canaryStates, c.Status.State)
}

func readCanary(ctx context.Context, c *synthetics.Client, uid string) (cloud.State, error) {
	name := canaryName(uid)
	if name == "" {
		return cloud.State{}, cloud.ErrNotFound("%q is not the ARN of a canary", uid)
	}
	out, err := c.GetCanary(ctx, &synthetics.GetCanaryInput{Name: &name})
	if err != nil {
		return cloud.State{}, err
	}
	s := cloud.State{UID: uid, Status: canaryStatus(*out.Canary)}
	if out.Canary.Status != nil {
		s.Native, s.Reason = string(out.Canary.Status.State), sdk.ToString(out.Canary.Status.StateReason)
	}
	return s, nil
}

func actCanary(ctx context.Context, c *synthetics.Client, v cloud.Verb, t cloud.Target) error {
	name := canaryName(t.UID)
	if name == "" {
		return cloud.ErrNotFound("%q is not the ARN of a canary", t.UID)
	}
	if v == cloud.Start {
		_, err := c.StartCanary(ctx, &synthetics.StartCanaryInput{Name: &name})
		return err
	}
	_, err := c.StopCanary(ctx, &synthetics.StopCanaryInput{Name: &name})
	return err
}
