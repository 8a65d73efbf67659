package azure

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	databaseType    = "Microsoft.Sql/servers/databases"
	databaseVersion = "2023-08-01"
)

// sqlDatabases are databases of Azure SQL. They have no stop: serverless ones pause by themselves, the others are made
// smaller. Their size is the number of virtual cores.
var sqlDatabases = kind{
	Kind: catalogueKind(cloud.AzureSQLDatabase), arm: databaseType, version: databaseVersion, facts: databaseFacts,
	scale: scaleDatabase,
	foreign: func(r resource) bool {
		return strings.EqualFold(r.Name, "master") || strings.Contains(strings.ToLower(r.Kind), "datawarehouse")
	},
	needs: sizeNeeds(databaseType),
}

// byDTU are the tiers that are sized by transaction units, whose steps have names of their own.
var byDTU = []string{"basic", "standard", "premium"}

var databaseStates = map[string]cloud.Status{
	"online": cloud.Running, "autoclosed": cloud.Running, "paused": cloud.Stopped, "pausing": cloud.Stopping,
	"resuming": cloud.Starting,
	"scaling":  cloud.Pending, "creating": cloud.Pending,
}

func databaseFacts(r resource, _ *setting) (facts, error) {
	p, err := decodeProperties[struct {
		Status  string
		Created time.Time `json:"creationDate"`
	}](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{status: statusOf(databaseStates, p.Status), native: p.Status, created: p.Created.UTC()}
	if r.SKU != nil {
		f.instanceType = r.SKU.Name
		f.capacity = size{desired: given64(r.SKU.Capacity, 0)}.capacityMap()
	}
	return f, nil
}

func scaleDatabase(ctx context.Context, c *armClient, t target, want cloud.Capacity) error {
	_, r, err := c.getResource(ctx, t.UID, databaseVersion, nil)
	if err != nil {
		return err
	}
	switch {
	case r.SKU == nil || r.SKU.Capacity == nil || strings.EqualFold(r.SKU.Name, "ElasticPool"):
		return cloud.ErrUnsupported("%s has no size of its own: it is in an elastic pool", r.Name)
	case slices.Contains(byDTU, strings.ToLower(r.SKU.Tier)):
		return cloud.ErrUnsupported("%s is sized by transaction units (tier %s), not by virtual cores", r.Name,
			r.SKU.Tier)
	}
	to, err := size{desired: *r.SKU.Capacity}.withCapacity(want)
	if err != nil || want.Desired == nil {
		return err
	}
	if to.desired == 0 {
		return cloud.ErrInvalid("desired 0: a database has at least one virtual core")
	}
	body := map[string]any{"sku": sku{Name: r.SKU.Name, Tier: r.SKU.Tier, Family: r.SKU.Family, Capacity: &to.desired}}
	return c.callARM(ctx, call{method: http.MethodPatch, path: t.UID, version: databaseVersion, body: body}, nil)
}
