package aws

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/synthetics"
	"github.com/aws/aws-sdk-go-v2/service/synthetics/types"

	"lamplighter.dev/shared/cloud"
)

// canaries are canaries of CloudWatch Synthetics; the uid is the ARN. One that is off runs no checks, and alarms on it have no data.
var canaries = kind[*synthetics.Client]{
	Kind: catalogueKind(cloud.AWSCanary),
	needs: needs{
		discover:  []string{"synthetics:DescribeCanaries", "synthetics:GetCanary"},
		startStop: []string{"synthetics:StartCanary", "synthetics:StopCanary"},
	},
	client: func(cfg sdk.Config) *synthetics.Client { return synthetics.NewFromConfig(cfg) },
	list:   listCanaries,
	read:   readOneByOne(readCanary),
	act:    actOneByOne(actCanary),
}

// canaryStates: one that is ready was never started.
var canaryStates = map[types.CanaryState]cloud.Status{
	types.CanaryStateRunning: cloud.Running, types.CanaryStateReady: cloud.Stopped,
	types.CanaryStateStopped:  cloud.Stopped,
	types.CanaryStateStarting: cloud.Starting, types.CanaryStateStopping: cloud.Stopping,
	types.CanaryStateCreating: cloud.Pending,
	types.CanaryStateUpdating: cloud.Pending, types.CanaryStateDeleting: cloud.Terminated,
}

func canaryName(uid string) string { return nameIn(uid, "synthetics", "canary:") }

// canaryUID makes the ARN of a canary of that of its function, which is all that Synthetics tells; "" while it has none.
func canaryUID(c types.Canary) string {
	f := strings.Split(sdk.ToString(c.EngineArn), ":")
	if len(f) < 5 {
		return ""
	}
	return strings.Join([]string{"arn", f[1], "synthetics", f[3], f[4], "canary", sdk.ToString(c.Name)}, ":")
}

func listCanaries(ctx context.Context, c *synthetics.Client, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeCanaries(ctx,
		&synthetics.DescribeCanariesInput{MaxResults: sdk.Int32(20), NextToken: optionalString(page)})
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
			r.CreatedAt = sdk.ToTime(k.Timeline.Created).UTC()
		}
		if r.UID != "" {
			p.Resources = append(p.Resources, r)
		}
	}
	return p, nil
}

func canaryStatus(c types.Canary) cloud.Status {
	if c.Status == nil {
		return cloud.Unknown
	}
	return nativeStatus(canaryStates, c.Status.State)
}

func readCanary(ctx context.Context, c *synthetics.Client, uid string) (cloud.State, error) {
	name := canaryName(uid)
	if name == "" {
		return cloud.State{}, notFound("%q is not the ARN of a canary", uid)
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
		return notFound("%q is not the ARN of a canary", t.UID)
	}
	if v == cloud.Start {
		_, err := c.StartCanary(ctx, &synthetics.StartCanaryInput{Name: &name})
		return err
	}
	_, err := c.StopCanary(ctx, &synthetics.StopCanaryInput{Name: &name})
	return err
}
