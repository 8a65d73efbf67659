package databases

import (
	"context"
	"encoding/json"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/opensearch"
)

// Domains are OpenSearch domains.
var Domains = resource.Source{
	Name: "domains", List: listDomains, Needs: []string{"es:ListDomainNames", "es:DescribeDomains", "tag:GetResources"},
}

// perDomainCall is the maximum number of domains in one call.
const perDomainCall = 5

func listDomains(ctx context.Context, at resource.Place, _ string) (cloud.ResourcePage, error) {
	api := opensearch.NewFromConfig(at.Cfg)
	list, err := api.ListDomainNames(ctx, &opensearch.ListDomainNamesInput{})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	var names []string
	for _, d := range list.DomainNames {
		names = append(names, sdk.ToString(d.DomainName))
	}
	parts := slices.Collect(slices.Chunk(names, perDomainCall))
	got, errs := make([]*opensearch.DescribeDomainsOutput, len(parts)), make([]error, len(parts))
	resource.AskEach(len(parts), func(i int) {
		got[i], errs[i] = api.DescribeDomains(ctx, &opensearch.DescribeDomainsInput{DomainNames: parts[i]})
	})
	var p cloud.ResourcePage
	for i, err := range errs {
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		for _, d := range got[i].DomainStatusList {
			p.Resources = append(p.Resources, domainResource(d))
		}
	}
	return p, resource.AddTags(ctx, at, p.Resources)
}

func domainResource(d opensearch.DomainStatus) cloud.Resource {
	r := cloud.Resource{
		UID: sdk.ToString(d.ARN), Name: sdk.ToString(d.DomainName), Type: "aws-opensearch",
		Status: cloud.Running, Facts: cloud.Facts{
			"vpc":         d.VPCOptions != nil && sdk.ToString(d.VPCOptions.VPCId) != "",
			"policy_open": isOpen(sdk.ToString(d.AccessPolicies)),
			"volume_type": "", "volume_gb": 0.0,
		},
	}
	if v := sdk.ToString(d.EngineVersion); v != "" {
		r.Facts["engine_version"] = v
	}
	switch {
	case sdk.ToBool(d.Deleted):
		r.Status = cloud.Terminated
	case !sdk.ToBool(d.Created):
		r.Status = cloud.Pending
	}
	if c := d.ClusterConfig; c != nil {
		r.InstanceType, r.Capacity = string(c.InstanceType),
			map[string]int64{"nodes": int64(sdk.ToInt32(c.InstanceCount))}
		r.Facts["data_nodes"], r.Facts["dedicated_masters"] = resource.Count32(c.InstanceCount),
			resource.Count32(c.DedicatedMasterCount)
		r.Facts["zone_aware"], r.Facts["warm_count"] = sdk.ToBool(c.ZoneAwarenessEnabled), resource.Count32(c.WarmCount)
	}
	if e := d.EBSOptions; e != nil && sdk.ToBool(e.EBSEnabled) {
		r.Facts["volume_type"], r.Facts["volume_gb"] = string(e.VolumeType), resource.Count32(e.VolumeSize)
	}
	return r
}

// isOpen reports whether a policy admits everybody from every address. A policy with a condition on the address is not
// open.
func isOpen(policy string) bool {
	var p struct {
		Statement []struct {
			Effect    string
			Principal any
			Condition map[string]any
		}
	}
	if policy == "" || json.Unmarshal([]byte(policy), &p) != nil {
		return false
	}
	for _, s := range p.Statement {
		if s.Effect == "Allow" && resource.IsEverybody(s.Principal) && len(s.Condition) == 0 {
			return true
		}
	}
	return false
}
