package azure

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

// The kinds that Azure starts and stops with a verb, and whose state is one word.
var (
	postgresServers = newWordKind(cloud.AzurePostgreSQL, "Microsoft.DBforPostgreSQL/flexibleServers", "2024-08-01",
		serverStates)
	mysqlServers     = newWordKind(cloud.AzureMySQL, "Microsoft.DBforMySQL/flexibleServers", "2023-12-30", serverStates)
	managedInstances = newWordKind(cloud.AzureSQLMI, "Microsoft.Sql/managedInstances", "2023-08-01", instanceStates).
				refusing(otherTiers)
	// The plan of a stopped app stays billed: only a smaller plan saves money.
	webApps = newWordKind(cloud.AzureAppService, "Microsoft.Web/sites", "2023-12-01", appStates).
		leaving(isFunctionApp)
	functionApps = newWordKind(cloud.AzureFunctionApp, "Microsoft.Web/sites", "2023-12-01", appStates).
			leaving(func(r resource) bool { return !isFunctionApp(r) })
	sqlPools = newWordKind(cloud.AzureSynapseSQLPool, "Microsoft.Synapse/workspaces/sqlPools", "2021-06-01",
		poolStates).
		withVerbs("pause", "resume")
	dataExplorers = newWordKind(cloud.AzureDataExplorer, "Microsoft.Kusto/clusters", "2023-08-15", explorerStates)
	// A stopped gateway keeps its address, and serves nothing.
	appGateways = newWordKind(cloud.AzureAppGateway, "Microsoft.Network/applicationGateways", "2024-05-01",
		gatewayStates)
	analysisServers = newWordKind(cloud.AzureAnalysisServices, "Microsoft.AnalysisServices/servers", "2017-08-01",
		capacityStates).withVerbs("suspend", "resume")
	fabricCapacities = newWordKind(cloud.AzureFabricCapacity, "Microsoft.Fabric/capacities", "2023-11-01",
		capacityStates).withVerbs("suspend", "resume")
)

// otherTiers refuses managed instances that Azure cannot stop.
func otherTiers(r resource) string {
	if r.SKU == nil || strings.EqualFold(r.SKU.Tier, "GeneralPurpose") {
		return ""
	}
	return "its tier is " + r.SKU.Tier + ": Azure stops managed instances of tier GeneralPurpose alone"
}

// serverStates are the states of flexible servers.
var serverStates = map[string]cloud.Status{
	"ready": cloud.Running, "stopped": cloud.Stopped, "starting": cloud.Starting, "stopping": cloud.Stopping,
	"updating": cloud.Pending, "provisioning": cloud.Pending, "dropping": cloud.Terminated,
}

var instanceStates = map[string]cloud.Status{
	"ready": cloud.Running, "stopped": cloud.Stopped, "starting": cloud.Starting, "stopping": cloud.Stopping,
	"updating": cloud.Pending, "creating": cloud.Pending, "deleting": cloud.Terminated,
}

var appStates = map[string]cloud.Status{"running": cloud.Running, "stopped": cloud.Stopped}

// poolStates: a pause ends the queries that run; while a pool is scaled Azure accepts neither pause nor resume.
var poolStates = map[string]cloud.Status{
	"online": cloud.Running, "paused": cloud.Stopped, "pausing": cloud.Stopping, "resuming": cloud.Starting,
	"scaling":  cloud.Pending,
	"creating": cloud.Pending, "deleting": cloud.Terminated,
}

var explorerStates = map[string]cloud.Status{
	"running": cloud.Running, "stopped": cloud.Stopped, "starting": cloud.Starting, "stopping": cloud.Stopping,
	"updating": cloud.Pending,
	"creating": cloud.Pending, "deleting": cloud.Terminated, "deleted": cloud.Terminated,
}

var gatewayStates = map[string]cloud.Status{
	"running": cloud.Running, "stopped": cloud.Stopped, "starting": cloud.Starting, "stopping": cloud.Stopping,
}

// capacityStates are the states of capacities that can be suspended. Analysis Services calls a running one Succeeded,
// Fabric calls it Active.
var capacityStates = map[string]cloud.Status{
	"succeeded": cloud.Running, "active": cloud.Running, "paused": cloud.Stopped, "suspended": cloud.Stopped,
	"pausing": cloud.Stopping, "suspending": cloud.Stopping, "resuming": cloud.Starting, "preparing": cloud.Pending,
	"provisioning": cloud.Pending, "updating": cloud.Pending, "scaling": cloud.Pending, "deleting": cloud.Terminated,
}

// word is the field of a kind's state: state of servers and apps, status of pools, operationalState of gateways.
type word struct {
	State            string `json:"state"`
	Status           string `json:"status"`
	OperationalState string `json:"operationalState"`
}

// newWordKind makes a kind with the verbs stop and start.
func newWordKind(name, armType, version string, states map[string]cloud.Status) kind {
	k := kind{Kind: catalogueKind(name), arm: armType, version: version}
	k.facts = func(r resource, _ *setting) (facts, error) {
		w, err := decodeProperties[word](r)
		if err != nil {
			return facts{}, err
		}
		f := facts{native: w.State + w.Status + w.OperationalState}
		if f.status = statusOf(states, f.native); r.SKU != nil {
			f.instanceType = r.SKU.Name
		}
		return f, nil
	}
	return k.withVerbs("stop", "start")
}

func (k kind) withVerbs(off, on string) kind {
	k.off, k.on, k.needs = off, on, verbNeeds(k.arm, off, on)
	return k
}

// leaving leaves rows of the type to another kind.
func (k kind) leaving(foreign func(resource) bool) kind {
	k.foreign = foreign
	return k
}

// isFunctionApp: Azure writes "functionapp,linux".
func isFunctionApp(r resource) bool { return strings.Contains(strings.ToLower(r.Kind), "functionapp") }

// refusing adds why resources of the kind may not be stopped.
func (k kind) refusing(why func(resource) string) kind {
	read := k.facts
	k.facts = func(r resource, s *setting) (facts, error) {
		f, err := read(r, s)
		f.unschedulable = why(r)
		return f, err
	}
	return k
}
