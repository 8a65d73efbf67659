package azuretwin

import (
	"context"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Fill adds one of everything to the region: resources that can be stopped, resources with sizes, and a machine that
// cannot be deallocated.
func (c *Cloud) Fill(region string) {
	c.AddVM("web-1", region, nil)
	c.AddVM("cache-1", region, func(r *Resource) {
		object(object(object(r.Properties(), "storageProfile"), "osDisk"), "diffDiskSettings")["option"] = "Local"
	})
	c.AddSetting(c.AddScaleSet("workers", region, 3, nil), region, 2, 9)
	cluster := c.AddCluster("prod", region, nil)
	c.AddPool(cluster, "system", 1, 0, 0).Properties()["mode"] = "System"
	c.AddPool(cluster, "batch", 3, 1, 5)
	c.AddServer("PostgreSQL", "orders", region)
	c.AddServer("MySQL", "shop", region)
	c.AddContainerApp("api", region, 1, 5, nil)
	c.AddSite("site", region)
	c.AddPlan("plan", region, "PremiumV3", 2)
	c.AddSQLPool("warehouse", region)
	c.AddManagedInstance("ledger", region, "GeneralPurpose")
	c.AddDatabase("billing", region, "v12.0,user,vcore",
		map[string]any{"name": "GP_Gen5", "tier": "GeneralPurpose", "family": "Gen5", "capacity": 2})
}

// Move completes all changes under way each time the pace has passed, until ctx ends.
func (c *Cloud) Move(ctx context.Context, at clock.Clock, pace time.Duration) {
	for at.Sleep(ctx, pace) == nil {
		c.SettleAll()
	}
}
