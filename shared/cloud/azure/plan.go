package azure

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

const (
	planType    = "Microsoft.Web/serverfarms"
	planVersion = "2023-12-01"
)

// webPlans are App Service plans. They are billed by their workers whether or not apps run on them, so it is their
// size that saves.
var webPlans = kind{
	Kind: catalogueKind(cloud.AzureAppServicePlan), arm: planType, version: planVersion, autoscaled: true,
	facts: planFacts, scale: scalePlan,
	needs: needs{
		discover: []string{planType + "/read", settingRead},
		scale:    []string{planType + "/write", settingWrite},
	},
}

// unsizedTiers are the tiers without a number of workers: shared tiers, and those that Functions scales by itself.
var unsizedTiers = []string{"free", "shared", "dynamic", "flexconsumption", "elasticpremium", "workflowstandard"}

func planFacts(r resource, s *setting) (facts, error) {
	p, err := decodeProperties[word](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{native: p.Status, status: statusOf(map[string]cloud.Status{
		"ready": cloud.Running, "pending": cloud.Pending, "creating": cloud.Pending,
	}, p.Status)}
	if r.SKU == nil {
		return f, nil
	}
	f.instanceType = r.SKU.Name
	now := size{desired: given64(r.SKU.Capacity, 0)}
	if s.isActive() {
		now.bounds = &s.bounds
	}
	f.capacity = now.capacityMap()
	return f, nil
}

func scalePlan(ctx context.Context, c *armClient, t target, want cloud.Capacity) error {
	raw, r, err := c.getResource(ctx, t.UID, planVersion, nil)
	if err != nil {
		return err
	}
	if r.SKU == nil || r.SKU.Capacity == nil || slices.Contains(unsizedTiers, strings.ToLower(r.SKU.Tier)) {
		return cloud.ErrUnsupported("%s has no workers to count: its tier is %s", r.Name, tierOf(r))
	}
	if want.Desired != nil && *want.Desired == 0 {
		return cloud.ErrInvalid("desired 0: an App Service plan has at least one worker")
	}
	to, err := scaleSetting(ctx, c, t.setting, *r.SKU.Capacity, want)
	if err != nil || want.Desired == nil {
		return err
	}
	whole, err := decodeEditable(raw)
	if err != nil {
		return err
	}
	partOf(whole, "sku")["capacity"] = to
	return c.callARM(ctx, call{method: http.MethodPut, path: t.UID, version: planVersion, body: whole}, nil)
}

func tierOf(r resource) string {
	if r.SKU == nil {
		return "not told"
	}
	return r.SKU.Tier
}
