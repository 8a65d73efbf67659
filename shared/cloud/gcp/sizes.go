package gcp

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// sizesNeed is the permission of the list of machine types.
const sizesNeed = "compute.machineTypes.list"

var _ cloud.Sizer = (*conn)(nil)

// Sizes lists the machine types of the zones of a region. Google states no limits of disks and networks in it: they
// follow from the series and the number of vCPUs.
func (c *conn) Sizes(ctx context.Context, region string) ([]cloud.MachineSize, error) {
	if !regionName.MatchString(region) {
		return nil, cloud.ErrInvalid("%.64q is not the name of a Google Cloud region", region)
	}
	p := place{c.session, region}
	found := map[string]*cloud.MachineSize{}
	list := googlerest.NewGet(sizesNeed, googlerest.Compute+"projects/{project}/aggregated/machineTypes", c.project).
		Set("filter", "zone eq "+region+"-.*").SetInt("maxResults", 500).Set(partialSuccess, "true")
	for page, n := "", 0; n < maxPages; n++ {
		out, err := call[googlerest.MachineTypeAggregatedList](ctx, c.session, list.Set("pageToken", page))
		if err == nil {
			err = p.missingZonesError(out.Unreachables)
		}
		if err != nil {
			return nil, classifyError(sizesNeed, err)
		}
		for _, scope := range sortedKeys(out.Items) {
			addSizes(found, region, out.Items[scope].MachineTypes)
		}
		if page = out.NextPageToken; page == "" {
			break
		}
	}
	var all []cloud.MachineSize
	for _, name := range sortedKeys(found) {
		all = append(all, *found[name])
	}
	return all, nil
}

// addSizes adds the machine types of a zone. A type that Google withdraws is left out.
func addSizes(found map[string]*cloud.MachineSize, region string, types []*googlerest.MachineType) {
	for _, t := range types {
		switch {
		case regionOf(t.Zone) != region, t.Deprecated != nil && t.Deprecated.State != "", len(found) >= cloud.MaxSizes:
			continue
		case found[t.Name] == nil:
			found[t.Name] = &cloud.MachineSize{
				Name: t.Name, VCPU: float64(t.GuestCPUs), GiB: float64(t.MemoryMB) / 1024, Burstable: t.IsSharedCPU,
				GPU: len(t.Accelerators) > 0, Arm: t.Architecture == "ARM64", Disks: float64(t.MaximumDisks),
				LocalDisk: strings.HasSuffix(t.Name, "lssd"),
			}
		}
		s := found[t.Name]
		if !slices.Contains(s.Zones, t.Zone) {
			s.Zones = append(s.Zones, t.Zone)
		}
	}
}
