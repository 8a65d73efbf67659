package network

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancing"
	"lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancingv2"
)

// countNeighbours adds the number of application load balancers in the network of each load balancer, and whether it is
// the first of them. It needs the whole list in one page.
func countNeighbours(all []elasticloadbalancingv2.LoadBalancer, found []cloud.Resource) {
	applications := groups{}
	for _, b := range all {
		if b.Type == elasticloadbalancingv2.LoadBalancerTypeEnumApplication {
			applications.add(sdk.ToString(b.VpcId), sdk.ToString(b.LoadBalancerArn))
		}
	}
	for i, b := range all {
		in := applications[sdk.ToString(b.VpcId)]
		found[i].Facts["vpc_lb_count"] = float64(in.count)
		found[i].Facts["first_of_group"] = in.first == sdk.ToString(b.LoadBalancerArn)
	}
}

// addListeners adds whether a listener accepts traffic without TLS, and the TLS policies of the others.
func addListeners(ctx context.Context, api *elasticloadbalancingv2.Client, r *cloud.Resource) {
	plain, policies := false, []string(nil)
	pages := wire.NewPages(api.DescribeListeners,
		&elasticloadbalancingv2.DescribeListenersInput{LoadBalancerArn: &r.UID})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			resource.NoteMissing(r.Facts, err, "elasticloadbalancing:DescribeListeners", "plain_http_forward",
				"tls_policies")
			return
		}
		for _, l := range out.Listeners {
			if p := sdk.ToString(l.SslPolicy); p != "" {
				policies = append(policies, p)
			}
			for _, a := range l.DefaultActions {
				plain = plain || sdk.ToInt32(l.Port) == 80 && a.Type == elasticloadbalancingv2.ActionTypeEnumForward
			}
		}
	}
	r.Facts["plain_http_forward"], r.Facts["tls_policies"] = plain, resource.SortTexts(policies)
}

func addAttributes(ctx context.Context, api *elasticloadbalancingv2.Client, r *cloud.Resource) {
	out, err := api.DescribeLoadBalancerAttributes(ctx,
		&elasticloadbalancingv2.DescribeLoadBalancerAttributesInput{LoadBalancerArn: &r.UID})
	if err != nil {
		resource.NoteMissing(r.Facts, err, attributesNeed, "access_logs", "deletion_protection")
		return
	}
	r.Facts["access_logs"], r.Facts["deletion_protection"] = false, false
	for _, a := range out.Attributes {
		switch sdk.ToString(a.Key) {
		case "deletion_protection.enabled":
			r.Facts["deletion_protection"] = sdk.ToString(a.Value) == "true"
		case "access_logs.s3.enabled":
			r.Facts["access_logs"] = sdk.ToString(a.Value) == "true"
		}
	}
}

const attributesNeed = "elasticloadbalancing:DescribeLoadBalancerAttributes"

// addClassicListeners adds the listeners of a classic load balancer, which forwards everything that it receives. The
// policy for its encryption has a name that the customer chose.
func addClassicListeners(b elasticloadbalancing.LoadBalancerDescription, r *cloud.Resource) {
	plain, policies := false, []string(nil)
	for _, l := range b.ListenerDescriptions {
		if l.Listener == nil {
			continue
		}
		protocol := strings.ToUpper(sdk.ToString(l.Listener.Protocol))
		if plain = plain || l.Listener.LoadBalancerPort == 80; protocol == "HTTPS" || protocol == "SSL" {
			policies = append(policies, l.PolicyNames...)
		}
	}
	r.Facts["plain_http_forward"], r.Facts["tls_policies"] = plain, resource.SortTexts(policies)
}

// addClassicAttributes adds the attributes of a classic load balancer. It has no deletion protection.
func addClassicAttributes(ctx context.Context, api *elasticloadbalancing.Client, r *cloud.Resource) {
	r.Facts["deletion_protection"] = false
	name := resource.LastPart(r.UID)
	out, err := api.DescribeLoadBalancerAttributes(ctx,
		&elasticloadbalancing.DescribeLoadBalancerAttributesInput{LoadBalancerName: &name})
	if err != nil {
		resource.NoteMissing(r.Facts, err, attributesNeed, "access_logs")
		return
	}
	a := out.LoadBalancerAttributes
	r.Facts["access_logs"] = a != nil && a.AccessLog != nil && a.AccessLog.Enabled
}
