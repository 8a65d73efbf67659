package gcptwin

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Fill adds one of everything to europe-west1: resources that can be stopped, resources with sizes, and resources that
// are refused.
func (c *Cloud) Fill() {
	const region, zone = "europe-west1", "europe-west1-b"
	c.AddPolicy("nightly", true)
	c.AddInstance(Instance{Name: "web-1", Zone: zone, Labels: map[string]string{"team": "shop"}})
	c.AddInstance(Instance{Name: "web-2", Zone: zone, Policies: []string{"nightly"}})
	c.AddInstance(Instance{Name: "cache-1", Zone: zone, LocalSSDs: 1})
	c.AddGroup(Group{Name: "workers", Zone: zone, Size: 3, Scaler: &Scaler{Min: 2, Max: 9, Mode: "ON"}})
	c.AddGroup(Group{Name: "jobs", Region: region, Size: 2})
	c.AddDatabase(Database{Name: "orders", Region: region})
	c.AddDatabase(Database{Name: "main", Region: region, Replicas: []string{"copy"}})
	c.AddDatabase(Database{Name: "copy", Region: region, ReplicaOf: "main"})
	prod := c.AddCluster(Cluster{Name: "prod", Location: region, Endpoint: "203.0.113.7"})
	c.AddPool(prod, Pool{
		Name: "batch", Zones: []string{zone},
		Scaling: map[string]any{"enabled": true, "minNodeCount": 1, "maxNodeCount": 5},
	}, 3)
	c.AddService(Service{Name: "shop", Region: region, Min: 2, Max: 9})
	c.AddService(Service{Name: "hook", Region: region})
	c.AddWorkstation(region, "ada")
	c.AddWorkbench(zone, "study")
	c.AddSparkCluster(region, "sparks", 0, 0)
	c.AddAlloyInstance(region, "ledger", "main", "PRIMARY")
	c.AddAsset(Asset{
		Name:      "//compute.googleapis.com/projects/" + Project + "/zones/" + zone + "/disks/forgotten",
		AssetType: "compute.googleapis.com/Disk",
		Location:  zone, Created: "2026-03-01T16:00:00Z", Thing: `{"sizeGb":"500","type":"pd-ssd"}`,
	})
}

// Move completes all changes under way each time the pace has passed, until ctx ends.
func (c *Cloud) Move(ctx context.Context, at clock.Clock, pace time.Duration) {
	for at.Sleep(ctx, pace) == nil {
		c.SettleAll()
	}
}

// ServeKey answers with a key of the twin's service account, as a JSON string that holds the text of the file: it can
// be put into a request as it is.
func ServeKey(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(KeyFile())
}
