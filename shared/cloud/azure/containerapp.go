package azure

import (
	"context"
	"net/http"
	"strings"

	"lamplighter.dev/shared/cloud"
)

const (
	containerAppType    = "Microsoft.App/containerApps"
	containerAppVersion = "2024-03-01"
)

// containerApps are Container Apps. Their desired size is the minimum number of replicas. Load adds replicas above it,
// and rules for CPU and memory never reach 0 without a stop.
var containerApps = kind{
	Kind: catalogueKind(cloud.AzureContainerApp), arm: containerAppType, version: containerAppVersion, off: "stop",
	on:    "start",
	facts: containerAppFacts, scale: scaleContainerApp,
	needs: needs{
		discover:  []string{containerAppType + "/read"},
		startStop: []string{containerAppType + "/stop/action", containerAppType + "/start/action"},
		scale:     []string{containerAppType + "/write"},
	},
}

// defaultMaxReplicas is the maximum of an app that names none.
const defaultMaxReplicas = 10

type containerApp struct {
	RunningStatus     string `json:"runningStatus"`
	ProvisioningState string `json:"provisioningState"`
	Configuration     struct {
		RevisionsMode string `json:"activeRevisionsMode"`
	} `json:"configuration"`
	Template struct {
		Scale struct {
			Min *int64 `json:"minReplicas"`
			Max *int64 `json:"maxReplicas"`
		} `json:"scale"`
	} `json:"template"`
	WorkloadProfile string `json:"workloadProfileName"`
}

var appRunning = map[string]cloud.Status{
	"running": cloud.Running, "ready": cloud.Running, "stopped": cloud.Stopped, "progressing": cloud.Pending,
}

func containerAppFacts(r resource, _ *setting) (facts, error) {
	a, err := decodeProperties[containerApp](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{status: statusOf(appRunning, a.RunningStatus), native: a.RunningStatus, instanceType: a.WorkloadProfile}
	if strings.EqualFold(a.ProvisioningState, "Deleting") {
		f.status, f.native = cloud.Terminated, a.ProvisioningState
	}
	least, most := a.replicas()
	f.capacity = map[string]int64{"desired": least, "max": most}
	return f, nil
}

func (a containerApp) replicas() (least, most int64) {
	return given64(a.Template.Scale.Min, 0), given64(a.Template.Scale.Max, defaultMaxReplicas)
}

// scaleContainerApp writes both bounds: a 0 that is left out would be taken for the default.
func scaleContainerApp(ctx context.Context, c *armClient, t target, want cloud.Capacity) error {
	_, r, err := c.getResource(ctx, t.UID, containerAppVersion, nil)
	if err != nil {
		return err
	}
	a, err := decodeProperties[containerApp](r)
	if err != nil {
		return err
	}
	if strings.EqualFold(a.Configuration.RevisionsMode, "Multiple") {
		return cloud.ErrUnsupported("%s keeps several revisions active: a change of size would be a new one "+
			"without traffic",
			r.Name)
	}
	least, most := a.replicas()
	if want.Desired == nil {
		want.Desired = want.Min
	}
	if want.Min != nil && *want.Min != *want.Desired {
		return cloud.ErrInvalid("minimum %d and desired %d differ: of a Container App they are the same", *want.Min,
			*want.Desired)
	}
	to, err := size{least, &bounds{0, most}}.withCapacity(cloud.Capacity{Max: want.Max, Desired: want.Desired})
	if err != nil {
		return err
	}
	if to.bounds.Max < 1 {
		return cloud.ErrInvalid("maximum 0: a Container App may have at least one replica; stop it instead")
	}
	body := map[string]any{"properties": map[string]any{"template": map[string]any{
		"scale": map[string]any{"minReplicas": to.desired, "maxReplicas": to.bounds.Max},
	}}}
	return c.callARM(ctx, call{method: http.MethodPatch, path: t.UID, version: containerAppVersion, body: body}, nil)
}
