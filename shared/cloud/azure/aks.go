package azure

import (
	"encoding/json"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

const (
	clusterType    = "Microsoft.ContainerService/managedClusters"
	clusterVersion = "2024-09-01"
)

// managedClusters are AKS clusters. Azure keeps the state of a stopped one for 12 months, and its node counts with it.
var managedClusters = kind{
	Kind: catalogueKind(cloud.AzureAKS), arm: clusterType, version: clusterVersion, off: "stop", on: "start",
	facts: clusterFacts,
	needs: clusterNeeds(),
}

// clusterNeeds has the permission to be told a cluster's address beside those that stop and start it, and not beside
// those that read: of a cluster without Entra the answer opens everything in it.
func clusterNeeds() needs {
	n := verbNeeds(clusterType, "stop", "start")
	n.startStop = append(n.startStop, clusterType+"/"+credentialVerb+"/action")
	return n
}

type aksCluster struct {
	ProvisioningState string     `json:"provisioningState"`
	PowerState        powerState `json:"powerState"`
	Version           string     `json:"currentKubernetesVersion"`
	Pools             []aksPool  `json:"agentPoolProfiles"`
	Provisioning      struct {
		Mode string `json:"mode"`
	} `json:"nodeProvisioningProfile"`
	Entra  json.RawMessage `json:"aadProfile"` // absent where Entra opens nothing
	Access struct {
		Private bool `json:"enablePrivateCluster"`
	} `json:"apiServerAccessProfile"`
}

type powerState struct {
	Code string `json:"code,omitempty"`
}

// clusterStates are the provisioning states that say more than the power state.
var clusterStates = map[string]cloud.Status{
	"starting": cloud.Starting, "stopping": cloud.Stopping, "creating": cloud.Pending, "deleting": cloud.Terminated,
	// After a failed start (no capacity) the power state is the wanted one, not the present one.
	"failed": cloud.Unknown,
}

var clusterPower = map[string]cloud.Status{"running": cloud.Running, "stopped": cloud.Stopped}

func clusterFacts(r resource, _ *setting) (facts, error) {
	c, err := properties[aksCluster](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{native: c.PowerState.Code + ", " + c.ProvisioningState, unschedulable: tiedCluster(c)}
	if s, ok := clusterStates[strings.ToLower(c.ProvisioningState)]; ok {
		f.status = s
	} else {
		f.status = statusOf(clusterPower, c.PowerState.Code)
	}
	return f, nil
}

// tiedCluster returns why a cluster may not be stopped.
func tiedCluster(c aksCluster) string {
	if strings.EqualFold(c.Provisioning.Mode, "Auto") {
		return "its nodes are provisioned automatically: AKS cannot stop such a cluster"
	}
	i := slices.IndexFunc(c.Pools, func(p aksPool) bool { return strings.EqualFold(p.Type, "AvailabilitySet") })
	if i >= 0 {
		return "node pool " + c.Pools[i].Name + " is an availability set: AKS stops clusters of scale sets alone"
	}
	return ""
}
