package azure

import (
	"strings"

	"lamplighter.dev/shared/cloud"
)

const workspaceType = "Microsoft.MachineLearningServices/workspaces"

// mlComputes are the computes of Machine Learning workspaces. Instances are stopped and started; clusters scale to
// their own minimum. The Resource Graph has no rows of computes, so each workspace is queried.
var mlComputes = kind{
	Kind: catalogueKind(cloud.AzureMLCompute), arm: workspaceType + "/computes", version: "2024-04-01",
	parent: workspaceType, collection: "computes", facts: mlComputeFacts,
}.withVerbs("stop", "start")

type mlCompute struct {
	ComputeType string `json:"computeType"`
	Properties  struct {
		State  string `json:"state"`
		VMSize string `json:"vmSize"`
	} `json:"properties"`
}

// mlComputeStates are the states of instances. An instance whose set-up failed runs, and is billed.
var mlComputeStates = map[string]cloud.Status{
	"running": cloud.Running, "jobrunning": cloud.Running, "setupfailed": cloud.Running,
	"usersetupfailed": cloud.Running,
	"stopped":         cloud.Stopped, "starting": cloud.Starting, "stopping": cloud.Stopping,
	"restarting": cloud.Pending,
	"resizing":   cloud.Pending,
	"creating":   cloud.Pending, "settingup": cloud.Pending, "usersettingup": cloud.Pending,
	"systemsettingup": cloud.Pending,
	"deleting":        cloud.Terminated,
}

func mlComputeFacts(r resource, _ *setting) (facts, error) {
	c, err := decodeProperties[mlCompute](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{
		status: statusOf(mlComputeStates, c.Properties.State), native: c.Properties.State,
		instanceType: c.Properties.VMSize,
	}
	if !strings.EqualFold(c.ComputeType, "ComputeInstance") {
		f.status, f.unschedulable = cloud.Running,
			"a compute of type "+c.ComputeType+": Azure stops compute instances alone"
	}
	return f, nil
}
