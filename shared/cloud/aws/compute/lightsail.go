package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/lightsail"
)

// LightsailInstances are instances of Lightsail. The uid is the ARN; calls need the instance's name instead, which is
// looked up. A stopped instance stays billed, and its public address changes unless it is a static one: a stop is for
// instances that must not run, not to save money.
var LightsailInstances = resource.Kind[*lightsail.Client]{
	Kind: resource.CatalogueKind(cloud.AWSLightsail),
	Needs: resource.Needs{
		Discover:  []string{"lightsail:GetInstances"},
		StartStop: []string{"lightsail:StartInstance", "lightsail:StopInstance"},
	},
	Client: lightsail.NewFromConfig,
	List:   listLightsail,
	Read:   readLightsail,
	Act:    actLightsail,
}

var lightsailStates = map[string]cloud.Status{
	"pending": cloud.Starting, "starting": cloud.Starting, "running": cloud.Running, "stopping": cloud.Stopping,
	"stopped":       cloud.Stopped,
	"shutting-down": cloud.Terminated, "terminated": cloud.Terminated,
}

func lightsailState(i lightsail.Instance) string {
	if i.State == nil {
		return ""
	}
	return sdk.ToString(i.State.Name)
}

func listLightsail(ctx context.Context, c *lightsail.Client, page string) (cloud.ResourcePage, error) {
	out, err := c.GetInstances(ctx, &lightsail.GetInstancesInput{PageToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextPageToken)}
	for _, i := range out.Instances {
		r := cloud.Resource{
			UID: sdk.ToString(i.Arn), Name: sdk.ToString(i.Name), Tags: map[string]string{},
			Status:       resource.NativeStatus(lightsailStates, lightsailState(i)),
			InstanceType: sdk.ToString(i.BundleId), CreatedAt: i.CreatedAt.Value().UTC(),
		}
		for _, t := range i.Tags {
			r.Tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
		}
		p.Resources = append(p.Resources, r)
	}
	return p, nil
}

// findLightsail returns all instances of the region by their ARNs.
func findLightsail(ctx context.Context, c *lightsail.Client) (map[string]lightsail.Instance, error) {
	found := map[string]lightsail.Instance{}
	for page := ""; ; {
		out, err := c.GetInstances(ctx, &lightsail.GetInstancesInput{PageToken: resource.OptionalString(page)})
		if err != nil {
			return nil, err
		}
		for _, i := range out.Instances {
			found[sdk.ToString(i.Arn)] = i
		}
		if page = sdk.ToString(out.NextPageToken); page == "" {
			return found, nil
		}
	}
}

func readLightsail(ctx context.Context, c *lightsail.Client, uids []string) ([]cloud.State, error) {
	found, err := findLightsail(ctx, c)
	if err != nil {
		return nil, err
	}
	var states []cloud.State
	for _, u := range uids {
		if i, ok := found[u]; ok {
			states = append(states,
				cloud.State{
					UID: u, Status: resource.NativeStatus(lightsailStates, lightsailState(i)),
					Native: lightsailState(i),
				})
		}
	}
	return states, nil
}

func actLightsail(ctx context.Context, c *lightsail.Client, v cloud.Verb, targets []cloud.Target) []error {
	errs := make([]error, len(targets))
	found, err := findLightsail(ctx, c)
	for n, t := range targets {
		i, ok := found[t.UID]
		switch {
		case err != nil:
			errs[n] = err
		case !ok:
			errs[n] = cloud.ErrNotFound("there is no Lightsail instance %s", t.UID)
		case v == cloud.Start:
			_, errs[n] = c.StartInstance(ctx, &lightsail.StartInstanceInput{InstanceName: i.Name})
		default:
			_, errs[n] = c.StopInstance(ctx, &lightsail.StopInstanceInput{InstanceName: i.Name})
		}
	}
	return errs
}
