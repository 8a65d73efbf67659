package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	interfaceType = "Microsoft.Network/networkInterfaces"
	sqlVMType     = "Microsoft.SqlVirtualMachine/sqlVirtualMachines"
	siteType      = "Microsoft.Web/sites"

	diskType       = "Microsoft.Compute/disks"
	volumeType     = "Microsoft.NetApp/netAppAccounts/capacityPools/volumes"
	solutionType   = "Microsoft.OperationsManagement/solutions"
	connectionType = "Microsoft.Network/connections"
	policyType     = "Microsoft.Network/firewallPolicies"
)

// neighbourTypes are, by kind, the types whose rows have data about its resources. One query reads those of a region.
var neighbourTypes = map[string][]string{
	cloud.AzureVM:             {interfaceType, sqlVMType},
	cloud.AzureAppServicePlan: {siteType},
	cloud.AzureFunctionApp:    {planType},
	cloud.AzureSQLDatabase:    {databaseType},
	cloud.AzureOthers: {
		machines.arm, diskType, databaseType, volumeType, solutionType, connectionType, policyType,
	},
}

// pointsAt reads, by type in lower case, the uid of the resource that a neighbour has data about.
var pointsAt = map[string]func(row) string{
	strings.ToLower(interfaceType): func(r row) string { return uidOf(r.textAt("virtualMachine.id")) },
	strings.ToLower(sqlVMType):     func(r row) string { return uidOf(r.textAt("virtualMachineResourceId")) },
	strings.ToLower(siteType):      func(r row) string { return uidOf(r.textAt("serverFarmId")) },
	strings.ToLower(databaseType):  func(r row) string { return serverOf(r.ID) },
	strings.ToLower(machines.arm):  func(r row) string { return uidOf(r.ID) },
	strings.ToLower(planType):      func(r row) string { return uidOf(r.ID) },
	strings.ToLower(policyType):    func(r row) string { return uidOf(r.ID) },
	strings.ToLower(diskType):      func(r row) string { return uidOf(r.ID) },
	strings.ToLower(volumeType): func(r row) string {
		pool, _, _ := strings.Cut(uidOf(r.ID), "/volumes/")
		return pool
	},
	strings.ToLower(solutionType):   func(r row) string { return uidOf(r.textAt("workspaceResourceId")) },
	strings.ToLower(connectionType): func(r row) string { return uidOf(r.textAt("virtualNetworkGateway1.id")) },
}

// neighbours are rows by the uid of the resource that they describe.
type neighbours map[string][]row

// neighboursOf returns the neighbours of one type of a resource.
func (n neighbours) neighboursOf(uid, armType string) []row {
	return slices.DeleteFunc(slices.Clone(n[uid]), func(r row) bool { return !strings.EqualFold(r.Type, armType) })
}

// neighbourCache keeps the neighbours of a region for the pages of one listing.
type neighbourCache struct {
	mu    sync.Mutex
	at    time.Time
	key   place
	known neighbours
}

// neighboursOf reads the neighbours of a kind's resources in a region; nil of a kind that has none.
func (c *conn) neighboursOf(ctx context.Context, kindType, region string) (neighbours, error) {
	types, key := neighbourTypes[kindType], place{kindType, region}
	if len(types) == 0 {
		return nil, nil //nolint:nilnil // see above
	}
	a := &c.acquaintance
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.key == key && c.clock.Now().Sub(a.at) <= overviewTTL {
		return a.known, nil
	}
	rows, err := askGraphAll[resource](ctx, c, typesInRegion(types, region))
	if err != nil {
		return nil, fmt.Errorf("read the neighbours of %s: %w", kindType, err)
	}
	found := neighbours{}
	for _, r := range rows {
		whole, err := decodeProperties[map[string]any](r)
		if err != nil {
			return nil, err
		}
		one := row{resource: r, whole: map[string]any{"properties": whole}}
		uid := pointsAt[strings.ToLower(r.Type)](one)
		found[uid] = append(found[uid], one)
	}
	a.at, a.key, a.known = c.clock.Now(), key, found
	return found, nil
}

// typesInRegion is the query for the resources of several types in a region.
func typesInRegion(types []string, region string) string {
	quoted := make([]string, len(types))
	for i, t := range types {
		quoted[i] = "'" + strings.ToLower(t) + "'"
	}
	return fmt.Sprintf("Resources | where type in~ (%s) | where location =~ '%s' | project %s | order by id asc",
		strings.Join(quoted, ", "), region, columns)
}

// serverOf is the uid of the server of a database.
func serverOf(id string) string {
	before, _, _ := strings.Cut(uidOf(id), "/databases/")
	return before
}

// hasPublicAddress looks at the network interfaces of a machine.
var hasPublicAddress fact = func(r row) (any, bool) {
	for _, n := range r.neighbours.neighboursOf(uidOf(r.ID), interfaceType) {
		for _, c := range n.objectsAt("ipConfigurations") {
			if p, _ := c["properties"].(map[string]any); p["publicIPAddress"] != nil {
				return true, true
			}
		}
	}
	return false, true
}

// The facts of a SQL Server on a machine, "" without one.
var (
	sqlEdition = sqlFact("sqlImageSku")
	sqlLicense = sqlFact("sqlServerLicenseType")
)

func sqlFact(path string) fact {
	return func(r row) (any, bool) {
		for _, s := range r.neighbours.neighboursOf(uidOf(r.ID), sqlVMType) {
			return s.textAt(path), true
		}
		return "", true
	}
}

// runningApps counts the sites of a plan that run.
var runningApps fact = func(r row) (any, bool) {
	n := 0
	for _, s := range r.neighbours.neighboursOf(uidOf(r.ID), siteType) {
		if strings.EqualFold(s.textAt("state"), "Running") {
			n++
		}
	}
	return float64(n), true
}

// siblings counts the databases of the same server that have a size of their own, itself included.
var siblings fact = func(r row) (any, bool) {
	n := 0
	for _, d := range r.neighbours.neighboursOf(serverOf(r.ID), databaseType) {
		if !sqlDatabases.foreign(d.resource) && d.textAt("elasticPoolId") == "" {
			n++
		}
	}
	return float64(n), true
}

// ownerState is the power state of the machine that a disk is attached to, "" without one; a machine of another region
// is not known.
var ownerState fact = func(r row) (any, bool) {
	if r.ManagedBy == "" {
		return "", true
	}
	for _, m := range r.neighbours.neighboursOf(uidOf(r.ManagedBy), machines.arm) {
		return powerOf(m)
	}
	return nil, false
}

// sourceExists reports whether the disk that a snapshot was made of is there. The source of a copied snapshot, of an
// upload and in another subscription is not known.
var sourceExists fact = func(r row) (any, bool) {
	source := uidOf(r.textAt("creationData.sourceResourceId"))
	if !strings.Contains(source, "/disks/") || subscriptionIn(source) != subscriptionIn(uidOf(r.ID)) {
		return nil, false
	}
	return len(r.neighbours.neighboursOf(source, diskType)) > 0, true
}

// subscriptionIn returns the part of a uid that names its subscription.
func subscriptionIn(uid string) string {
	before, _, _ := strings.Cut(uid, "/resourcegroups/")
	return before
}

// poolMembers counts the databases of an elastic pool.
var poolMembers fact = func(r row) (any, bool) {
	server, _, _ := strings.Cut(uidOf(r.ID), "/elasticpools/")
	n := 0.0
	for _, d := range r.neighbours.neighboursOf(server, databaseType) {
		if strings.EqualFold(d.textAt("elasticPoolId"), r.ID) {
			n++
		}
	}
	return n, true
}

// volumeCount counts the volumes of a capacity pool.
var volumeCount fact = func(r row) (any, bool) {
	return float64(len(r.neighbours.neighboursOf(uidOf(r.ID), volumeType))), true
}

// allocatedTiB is the sum of the quotas of a capacity pool's volumes.
var allocatedTiB fact = func(r row) (any, bool) {
	sum := 0.0
	for _, v := range r.neighbours.neighboursOf(uidOf(r.ID), volumeType) {
		quota, told := scaledFact("usageThreshold", 1.0/(1<<40))(v)
		if !told {
			return nil, false
		}
		sum += quota.(float64)
	}
	return sum, true
}

// hasSentinel reports whether a workspace has the solution of Microsoft Sentinel.
var hasSentinel fact = func(r row) (any, bool) {
	return slices.ContainsFunc(r.neighbours.neighboursOf(uidOf(r.ID), solutionType), func(s row) bool {
		return strings.HasPrefix(strings.ToLower(s.Name), "securityinsights(")
	}), true
}

// gatewayConnections counts the connections of a network's gateway.
var gatewayConnections fact = func(r row) (any, bool) {
	return float64(len(r.neighbours.neighboursOf(uidOf(r.ID), connectionType))), true
}

// planTier is the tier of the plan that a function app runs in. A plan of another region or subscription is not known.
var planTier fact = func(r row) (any, bool) {
	for _, plan := range r.neighbours.neighboursOf(uidOf(r.textAt("serverFarmId")), planType) {
		return skuTier(plan)
	}
	return nil, false
}

// policyOf returns the policy of a firewall. A firewall without a policy has its rules in itself: then there is none,
// and that is known. A policy of another region or subscription is not known.
func policyOf(r row) (policy row, there, known bool) {
	id := uidOf(r.textAt("firewallPolicy.id"))
	if id == "" {
		return row{}, false, true
	}
	for _, p := range r.neighbours.neighboursOf(id, policyType) {
		return p, true, true
	}
	return row{}, false, false
}

// intrusionMode is how a firewall detects intrusions, "" if it does not. A policy inherits what it does not set.
var intrusionMode fact = func(r row) (any, bool) {
	policy, there, known := policyOf(r)
	mode := policy.textAt("intrusionDetection.mode")
	if !known || mode == "" && there && policy.valueAt("basePolicy") != nil {
		return nil, false
	}
	return mode, true
}

// inspectsTLS reports whether a firewall looks into encrypted traffic. A policy inherits what it does not set.
var inspectsTLS fact = func(r row) (any, bool) {
	policy, there, known := policyOf(r)
	set := there && policy.valueAt("transportSecurity") != nil
	if !known || !set && there && policy.valueAt("basePolicy") != nil {
		return nil, false
	}
	return set, true
}
