package network

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancing"
	"lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancingv2"
)

// LoadBalancers are load balancers for applications, networks and gateways, ClassicBalancers those of the first
// generation.
var (
	LoadBalancers = resource.Source{
		Name: "loadbalancers", List: listBalancers, Needs: []string{
			"elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeTargetGroups",
			"elasticloadbalancing:DescribeTargetHealth", "elasticloadbalancing:DescribeListeners",
			"elasticloadbalancing:DescribeLoadBalancerAttributes",
			"tag:GetResources",
		},
	}
	ClassicBalancers = resource.Source{
		Name: "classic", List: listClassic, Needs: []string{
			"elasticloadbalancing:DescribeLoadBalancers", "elasticloadbalancing:DescribeInstanceHealth",
			"elasticloadbalancing:DescribeLoadBalancerAttributes", "tag:GetResources",
		},
	}
)

var balancerStatuses = map[elasticloadbalancingv2.LoadBalancerStateEnum]cloud.Status{
	elasticloadbalancingv2.LoadBalancerStateEnumProvisioning:   cloud.Pending,
	elasticloadbalancingv2.LoadBalancerStateEnumActive:         cloud.Running,
	elasticloadbalancingv2.LoadBalancerStateEnumActiveImpaired: cloud.Running,
	elasticloadbalancingv2.LoadBalancerStateEnumFailed:         cloud.Stopped,
}

func listBalancers(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := elasticloadbalancingv2.NewFromConfig(at.Cfg)
	out, err := api.DescribeLoadBalancers(ctx,
		&elasticloadbalancingv2.DescribeLoadBalancersInput{
			PageSize: sdk.Int32(100),
			Marker:   resource.OptionalString(page),
		})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextMarker)}
	for _, b := range out.LoadBalancers {
		r := cloud.Resource{
			UID: sdk.ToString(b.LoadBalancerArn), Name: sdk.ToString(b.LoadBalancerName), Type: "aws-elb",
			Status:    cloud.Unknown,
			CreatedAt: b.CreatedTime.Value().UTC(),
			Facts:     cloud.Facts{"lb_type": string(b.Type), "scheme": string(b.Scheme)},
		}
		if b.State != nil {
			r.Status = resource.NativeStatus(balancerStatuses, b.State.Code)
		}
		p.Resources = append(p.Resources, r)
	}
	if page == "" && p.Next == "" {
		countNeighbours(out.LoadBalancers, p.Resources)
	}
	resource.AskEach(len(p.Resources), func(i int) {
		addTargets(ctx, api, &p.Resources[i])
		addListeners(ctx, api, &p.Resources[i])
		addAttributes(ctx, api, &p.Resources[i])
	})
	return p, resource.AddTags(ctx, at, p.Resources)
}

// addTargets adds the numbers of targets and of healthy targets of a load balancer, unless they cannot be read.
func addTargets(ctx context.Context, api *elasticloadbalancingv2.Client, r *cloud.Resource) {
	groups, err := api.DescribeTargetGroups(ctx,
		&elasticloadbalancingv2.DescribeTargetGroupsInput{LoadBalancerArn: &r.UID})
	if err != nil {
		resource.NoteMissing(r.Facts, err, "elasticloadbalancing:DescribeTargetGroups", "healthy_count", "target_count")
		return
	}
	targets, healthy := 0, 0
	for _, g := range groups.TargetGroups {
		out, err := api.DescribeTargetHealth(ctx,
			&elasticloadbalancingv2.DescribeTargetHealthInput{TargetGroupArn: g.TargetGroupArn})
		if err != nil {
			resource.NoteMissing(r.Facts, err, "elasticloadbalancing:DescribeTargetHealth", "healthy_count",
				"target_count")
			return
		}
		for _, h := range out.TargetHealthDescriptions {
			if targets++; h.TargetHealth != nil &&
				h.TargetHealth.State == elasticloadbalancingv2.TargetHealthStateEnumHealthy {
				healthy++
			}
		}
	}
	r.Facts["target_count"], r.Facts["healthy_count"] = float64(targets), float64(healthy)
}

func listClassic(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := elasticloadbalancing.NewFromConfig(at.Cfg)
	out, err := api.DescribeLoadBalancers(ctx,
		&elasticloadbalancing.DescribeLoadBalancersInput{
			PageSize: sdk.Int32(100),
			Marker:   resource.OptionalString(page),
		})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextMarker)}
	for _, b := range out.LoadBalancerDescriptions {
		name := sdk.ToString(b.LoadBalancerName)
		p.Resources = append(p.Resources, cloud.Resource{
			UID: "arn:" + resource.PartitionOf(at.Region) + ":elasticloadbalancing:" + at.Region + ":" + at.Account +
				":loadbalancer/" + name,
			Name: name, Type: "aws-elb", Status: cloud.Running, CreatedAt: b.CreatedTime.Value().UTC(),
			Facts: cloud.Facts{
				"lb_type": "classic", "scheme": sdk.ToString(b.Scheme),
				"target_count": float64(len(b.Instances)),
			},
		})
	}
	resource.AskEach(len(p.Resources), func(i int) {
		addClassicListeners(out.LoadBalancerDescriptions[i], &p.Resources[i])
		addClassicHealth(ctx, api, out.LoadBalancerDescriptions[i], &p.Resources[i])
		addClassicAttributes(ctx, api, &p.Resources[i])
	})
	return p, resource.AddTags(ctx, at, p.Resources)
}

func addClassicHealth(ctx context.Context, api *elasticloadbalancing.Client,
	b elasticloadbalancing.LoadBalancerDescription,
	r *cloud.Resource,
) {
	if len(b.Instances) == 0 {
		r.Facts["healthy_count"] = 0.0
		return
	}
	out, err := api.DescribeInstanceHealth(ctx,
		&elasticloadbalancing.DescribeInstanceHealthInput{LoadBalancerName: b.LoadBalancerName})
	if err != nil {
		resource.NoteMissing(r.Facts, err, "elasticloadbalancing:DescribeInstanceHealth", "healthy_count")
		return
	}
	healthy := 0
	for _, s := range out.InstanceStates {
		if sdk.ToString(s.State) == "InService" {
			healthy++
		}
	}
	r.Facts["healthy_count"] = float64(healthy)
}
