package azure

import (
	"context"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// listOthers reads a page of the resources of a region that have no kind, with the facts that the waste rules read.
// Resources without a region are in the region "global", which is also Azure's word.
func (c *conn) listOthers(ctx context.Context, region, page string) (cloud.ResourcePage, error) {
	there, err := c.overview.has(ctx, c, place{"", region})
	if err != nil || !there {
		return cloud.ResourcePage{}, err
	}
	got, err := askGraph[resource](ctx, c, othersInRegion(region), page)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	beside, err := c.neighboursOf(ctx, cloud.AzureOthers, region)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	out := cloud.ResourcePage{Next: got.Skip}
	for _, row := range got.Data {
		found, err := newOther(row)
		if err == nil {
			err = addKindFacts(&found, row, nil, beside)
		}
		if err != nil {
			return cloud.ResourcePage{}, err
		}
		found.Region = region
		out.Resources = append(out.Resources, found)
	}
	return out, nil
}

// newOther makes the resource of a row. A type without a name in the catalogue is "azure-other", with Azure's type in
// its facts.
func newOther(r resource) (cloud.Resource, error) {
	out, err := kind{arm: r.Type, facts: otherFacts}.found(r, nil)
	if err != nil {
		return out, err
	}
	if out.Type = cloud.TypeOf(Name, r.Type+"#"+r.Kind); out.Type == "" {
		out.Type = cloud.TypeOf(Name, r.Type)
	}
	if out.Type == "" {
		out.Type, out.Facts = cloud.OtherType(Name), cloud.Facts{cloud.NativeType: strings.ToLower(r.Type)}
		return out, nil
	}
	tell := wasteFacts[out.Type]
	if tell == nil {
		return out, nil
	}
	out.Facts, err = tell(r)
	if size, ok := out.Facts["size_gb"].(float64); ok {
		out.Capacity = map[string]int64{"sizeGiB": int64(size)}
	}
	if r.ManagedBy != "" {
		out.ParentUID = uidOf(r.ManagedBy)
	}
	return out, err
}

// otherFacts returns the facts that most types have.
func otherFacts(r resource, _ *setting) (facts, error) {
	p, err := properties[struct {
		ProvisioningState string    `json:"provisioningState"`
		Created           time.Time `json:"timeCreated"`
	}](r)
	if err != nil { // types write these in forms of their own: the rest of the row is as good
		return facts{status: cloud.Running}, nil //nolint:nilerr // see above
	}
	f := facts{status: cloud.Running, native: p.ProvisioningState, created: p.Created.UTC()}
	if strings.EqualFold(p.ProvisioningState, "Deleting") {
		f.status = cloud.Terminated
	}
	if r.SKU != nil {
		f.instanceType = r.SKU.Name
	}
	return f, nil
}

// wasteFacts read, by type, the facts of facts.csv that a row tells.
var wasteFacts = map[string]func(resource) (cloud.Facts, error){
	"azure-disk": diskFacts, "azure-snapshot": snapshotFacts, "azure-publicip": addressFacts,
	"azure-loadbalancer": balancerFacts,
	"azure-nic":          interfaceFacts, "azure-natgateway": gatewayFacts,
}

func diskFacts(r resource) (cloud.Facts, error) {
	d, err := properties[struct {
		State string    `json:"diskState"`
		Size  float64   `json:"diskSizeGB"`
		IOPS  float64   `json:"diskIOPSReadWrite"`
		MBps  float64   `json:"diskMBpsReadWrite"`
		Owned time.Time `json:"LastOwnershipUpdateTime"`
	}](r)
	_, pvc := r.Tags["kubernetes.io-created-for-pvc-name"]
	f := cloud.Facts{
		"disk_state": d.State, "managed_by_vm": uidOf(r.ManagedBy), "sku": skuName(r), "size_gb": d.Size,
		"tier_iops": d.IOPS,
		"tier_mbps": d.MBps, "pvc": pvc, "unattached_since": cloud.Never,
	}
	switch {
	case r.ManagedBy != "":
	case d.Owned.IsZero():
		f["unattached_since"] = cloud.Since{}
	default:
		f["unattached_since"] = d.Owned.UTC()
	}
	return f, err
}

func snapshotFacts(r resource) (cloud.Facts, error) {
	s, err := properties[struct {
		Incremental bool    `json:"incremental"`
		Size        float64 `json:"diskSizeGB"`
	}](r)
	return cloud.Facts{"sku": skuName(r), "incremental": s.Incremental, "size_gb": s.Size}, err
}

func addressFacts(r resource) (cloud.Facts, error) {
	a, err := properties[struct {
		Allocation string `json:"publicIPAllocationMethod"`
		Interface  *named `json:"ipConfiguration"`
		NAT        *named `json:"natGateway"`
		Prefix     *named `json:"publicIPPrefix"`
		DDoS       struct {
			Mode string `json:"protectionMode"`
		} `json:"ddosSettings"`
	}](r)
	attached := a.Interface != nil || a.NAT != nil || a.Prefix != nil
	f := cloud.Facts{
		"sku": skuName(r), "allocation": a.Allocation, "attached": attached, "ddos_mode": a.DDoS.Mode,
		"unattached_since": cloud.Never,
	}
	if !attached {
		f["unattached_since"] = cloud.Since{}
	}
	return f, err
}

// named is something that a resource refers to.
type named struct {
	ID string `json:"id"`
}

func balancerFacts(r resource) (cloud.Facts, error) {
	b, err := properties[struct {
		Pools []struct {
			Properties struct {
				Interfaces []named `json:"backendIPConfigurations"`
				Addresses  []any   `json:"loadBalancerBackendAddresses"`
			} `json:"properties"`
		} `json:"backendAddressPools"`
		Rules    []any `json:"loadBalancingRules"`
		Outbound []any `json:"outboundRules"`
		NAT      []any `json:"inboundNatRules"`
	}](r)
	backends := 0
	for _, p := range b.Pools {
		backends += max(len(p.Properties.Interfaces), len(p.Properties.Addresses))
	}
	return cloud.Facts{
		"sku": skuName(r), "backend_count": float64(backends), "rule_count": float64(len(b.Rules) + len(b.Outbound)),
		"nat_rule_count": float64(len(b.NAT)),
	}, err
}

func interfaceFacts(r resource) (cloud.Facts, error) {
	n, err := properties[struct {
		Machine  *named `json:"virtualMachine"`
		Endpoint *named `json:"privateEndpoint"`
		Service  *named `json:"privateLinkService"`
		Hosted   []any  `json:"hostedWorkloads"`
	}](r)
	return cloud.Facts{"attached": n.Machine != nil || n.Endpoint != nil || n.Service != nil || len(n.Hosted) > 0}, err
}

func gatewayFacts(r resource) (cloud.Facts, error) {
	g, err := properties[struct {
		Subnets []named `json:"subnets"`
	}](r)
	return cloud.Facts{"subnet_count": float64(len(g.Subnets))}, err
}

func skuName(r resource) string {
	if r.SKU == nil {
		return ""
	}
	return r.SKU.Name
}
