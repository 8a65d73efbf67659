package azuretwin

import (
	"net/http"
	"strings"
)

// The types that the twin has.
const (
	typeMachine      = "Microsoft.Compute/virtualMachines"
	typeScaleSet     = "Microsoft.Compute/virtualMachineScaleSets"
	typeSetting      = "Microsoft.Insights/autoscaleSettings"
	typeCluster      = "Microsoft.ContainerService/managedClusters"
	typePool         = "Microsoft.ContainerService/managedClusters/agentPools"
	typePostgres     = "Microsoft.DBforPostgreSQL/flexibleServers"
	typeMySQL        = "Microsoft.DBforMySQL/flexibleServers"
	typeInstance     = "Microsoft.Sql/managedInstances"
	typeDatabase     = "Microsoft.Sql/servers/databases"
	typeSQLPool      = "Microsoft.Synapse/workspaces/sqlPools"
	typeContainerApp = "Microsoft.App/containerApps"
	typeSite         = "Microsoft.Web/sites"
	typePlan         = "Microsoft.Web/serverfarms"
	typeGroup        = "Microsoft.ContainerInstance/containerGroups"
	typeExplorer     = "Microsoft.Kusto/clusters"
	typeGateway      = "Microsoft.Network/applicationGateways"
	typeAnalysis     = "Microsoft.AnalysisServices/servers"
	typeFabric       = "Microsoft.Fabric/capacities"
	typeJob          = "Microsoft.StreamAnalytics/streamingjobs"
	typeWorkspace    = "Microsoft.MachineLearningServices/workspaces"
	typeCompute      = typeWorkspace + "/computes"
)

// types are ordered so that a type comes before those that it begins with.
var types = []string{
	typeMachine, typeScaleSet, typeSetting, typePool, typeCluster, typePostgres, typeMySQL, typeInstance, typeDatabase,
	typeSQLPool,
	typeContainerApp, typeSite, typePlan, typeGroup, typeExplorer, typeGateway, typeAnalysis, typeFabric, typeJob,
	typeCompute, typeWorkspace,
}

// verb is a verb of a type: the states that it goes through.
type verb struct{ during, after string }

var servers = map[string]verb{"stop": {"Stopping", "Stopped"}, "start": {"Starting", "Ready"}}

var verbs = map[string]map[string]verb{
	typeMachine: {
		"deallocate": {"deallocating", "deallocated"}, "start": {"starting", "running"},
		"poweroff": {"stopping", "stopped"},
	},
	typeCluster:      {"stop": {"Stopping", "Stopped"}, "start": {"Starting", "Running"}},
	typePostgres:     servers,
	typeMySQL:        servers,
	typeInstance:     servers,
	typeSQLPool:      {"pause": {"Pausing", "Paused"}, "resume": {"Resuming", "Online"}},
	typeContainerApp: {"stop": {"Progressing", "Stopped"}, "start": {"Progressing", "Running"}},
	typeSite:         {"stop": {"", "Stopped"}, "start": {"", "Running"}},
	typeGroup:        {"stop": {"", "Stopped"}, "start": {"Pending", "Running"}},
	typeExplorer:     {"stop": {"Stopping", "Stopped"}, "start": {"Starting", "Running"}},
	typeGateway:      {"stop": {"Stopping", "Stopped"}, "start": {"Starting", "Running"}},
	typeAnalysis:     {"suspend": {"Pausing", "Paused"}, "resume": {"Resuming", "Succeeded"}},
	typeFabric:       {"suspend": {"Pausing", "Paused"}, "resume": {"Resuming", "Active"}},
	typeJob:          {"stop": {"Stopping", "Stopped"}, "start": {"Starting", "Running"}},
	typeCompute:      {"stop": {"Stopping", "Stopped"}, "start": {"Starting", "Running"}},
}

// statePlaces are where types keep their state that do not call it "state".
var statePlaces = map[string][]string{
	typeSQLPool: {"status"}, typeContainerApp: {"runningStatus"}, typeGroup: {"instanceView", "state"},
	typeGateway: {"operationalState"},
	typeJob:     {"jobState"}, typeCompute: {"properties", "state"},
}

// statePlace returns the object that holds the state, and its name there.
func (r *Resource) statePlace() (map[string]any, string) {
	p, path := r.Properties(), statePlaces[r.Type]
	if path == nil {
		path = []string{"state"}
	}
	for _, name := range path[:len(path)-1] {
		p = objectOf(p, name)
	}
	return p, path[len(path)-1]
}

// setState puts a word where the type keeps its state.
func (r *Resource) setState(word string) {
	p := r.Properties()
	switch r.Type {
	case typeMachine:
		r.Power = word
	case typeCluster:
		p["provisioningState"] = word
		if word == "Stopped" || word == "Running" {
			p["provisioningState"], p["powerState"] = "Succeeded", map[string]any{"code": word}
		}
	default:
		at, name := r.statePlace()
		at[name] = word
	}
}

func (r *Resource) stateWord() string {
	p := r.Properties()
	switch r.Type {
	case typeMachine:
		return r.Power
	case typeCluster:
		word, _ := objectOf(p, "powerState")["code"].(string)
		return word
	default:
		at, name := r.statePlace()
		return textOf(at, name)
	}
}

// actOn does a verb.
func (c *Cloud) actOn(q request, r *Resource, name string) (answer, *failure) {
	if r.Type == typeCluster && name == "listclusterusercredential" {
		return r.kubeconfigAnswer(q)
	}
	v, known := verbs[r.Type][name]
	if !known {
		return answer{}, newFailure(http.StatusNotFound, "NotFound", "No HTTP resource was found that matches the "+
			"request URI '%s'.", q.URL.Path)
	}
	if f := c.hindrance(r, name); f != nil {
		return answer{}, f
	}
	if r.stateWord() == v.after {
		if c.Strict {
			return answer{}, newFailure(http.StatusConflict, "Conflict", "The resource is %s already.", v.after)
		}
		return answer{status: http.StatusAccepted}, nil
	}
	if v.during == "" {
		r.setState(v.after)
		return answer{status: http.StatusOK}, nil
	}
	settled := r.stateWord()
	r.settledPower = settled
	a := c.acceptedAnswer(q, r, func() { r.setState(v.after) })
	r.setState(v.during)
	return a, nil
}

// hindrance returns why a resource takes no change now.
func (c *Cloud) hindrance(r *Resource, name string) *failure {
	p := r.Properties()
	switch {
	case r.Locked:
		return newFailure(http.StatusConflict, "ScopeLocked",
			"The scope '%s' cannot perform write operation because following scope(s) are locked: '%s'. Please "+
				"remove the lock and try again.", r.ID, r.ID)
	case r.next != nil && r.Type == typeCluster:
		return newFailure(http.StatusConflict, "OperationNotAllowed",
			"Operation is not allowed: Another operation (%v) is in progress, please wait for it to finish before "+
				"starting a new operation.", p["provisioningState"])
	case r.next != nil, p["status"] == "Scaling":
		return newFailure(http.StatusConflict, "Conflict", "Another operation on the resource is in progress.")
	case r.Type == typeMachine && name == "deallocate" && isEphemeral(p):
		return newFailure(http.StatusConflict, "OperationNotAllowed",
			"Operation 'deallocate' is not supported for VMs with an ephemeral OS disk.")
	case r.Type == typeInstance && !strings.EqualFold(textOf(objectOf(r.Body, "sku"), "tier"), "GeneralPurpose"):
		return newFailure(http.StatusBadRequest, "OperationNotSupportedOnTier",
			"Stop is not supported on this service tier.")
	}
	return nil
}

func isEphemeral(p map[string]any) bool {
	return textOf(objectOf(objectOf(objectOf(p, "storageProfile"), "osDisk"), "diffDiskSettings"), "option") == "Local"
}

func textOf(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}
