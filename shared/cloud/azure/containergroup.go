package azure

import "lamplighter.dev/shared/cloud"

// containerGroups are groups of Container Instances. A stop releases their machine, so nothing is billed. A start
// pulls the images again and loses the data on the containers' own disks. The Resource Graph does not hold the running
// state: lists show unknown.
var containerGroups = kind{
	Kind: catalogueKind(cloud.AzureContainerGroup), arm: "Microsoft.ContainerInstance/containerGroups",
	version: "2023-05-01",
	facts:   containerGroupFacts,
}.withVerbs("stop", "start")

// containerGroupStates are the statuses by Azure's states. A group in the state Succeeded has run to its end, and is
// not billed.
var containerGroupStates = map[string]cloud.Status{
	"running": cloud.Running, "stopped": cloud.Stopped, "succeeded": cloud.Stopped, "terminated": cloud.Stopped,
	"pending": cloud.Starting, "creating": cloud.Starting, "repairing": cloud.Pending,
}

func containerGroupFacts(r resource, _ *setting) (facts, error) {
	g, err := decodeProperties[struct {
		ProvisioningState string `json:"provisioningState"`
		RestartPolicy     string `json:"restartPolicy"`
		InstanceView      struct {
			State string `json:"state"`
		} `json:"instanceView"`
	}](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{status: statusOf(containerGroupStates, g.InstanceView.State), native: g.InstanceView.State}
	switch g.ProvisioningState {
	case "Pending", "Creating":
		f.status, f.native = cloud.Starting, g.ProvisioningState
	case "Deleting":
		f.status, f.native = cloud.Terminated, g.ProvisioningState
	}
	return f, nil
}
