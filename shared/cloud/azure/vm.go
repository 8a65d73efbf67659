package azure

import (
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// machines are virtual machines. A stop deallocates. A machine that is only powered off (by its own shutdown, or by
// the verb powerOff) keeps its hardware and stays billed, so it is neither running nor stopped.
var machines = kind{
	Kind: catalogueKind(cloud.AzureVM), arm: "Microsoft.Compute/virtualMachines", version: "2024-07-01",
	query: url.Values{"$expand": {"instanceView"}}, off: "deallocate", on: "start", facts: machineFacts,
	needs: verbNeeds("Microsoft.Compute/virtualMachines", "deallocate", "start"),
}

var powerStates = map[string]cloud.Status{
	"running": cloud.Running, "starting": cloud.Starting, "stopping": cloud.Stopping, "deallocating": cloud.Stopping,
	"deallocated": cloud.Stopped,
}

// poweredOff is the power state of a machine that is off and billed.
const poweredOff = "stopped"

type machine struct {
	ProvisioningState string       `json:"provisioningState"`
	TimeCreated       time.Time    `json:"timeCreated"`
	InstanceView      instanceView `json:"instanceView"`
	Extended          struct {     // in the Resource Graph
		InstanceView struct {
			PowerState struct{ Code string } `json:"powerState"`
		} `json:"instanceView"`
	} `json:"extended"`
	HardwareProfile struct{ VMSize string } `json:"hardwareProfile"`
	StorageProfile  struct {
		OSDisk struct {
			DiffDiskSettings struct{ Option string } `json:"diffDiskSettings"`
		} `json:"osDisk"`
	} `json:"storageProfile"`
}

type instanceView struct {
	Statuses []instanceStatus `json:"statuses"`
}

// instanceStatus is one of "PowerState/running", "ProvisioningState/failed/AllocationFailed", ….
type instanceStatus struct{ Code, Message string }

func machineFacts(r resource, _ *setting) (facts, error) {
	m, err := decodeProperties[machine](r)
	if err != nil {
		return facts{}, err
	}
	power := m.powerState()
	f := facts{
		status: statusOf(powerStates, power), native: power, instanceType: m.HardwareProfile.VMSize,
		created: m.TimeCreated.UTC(),
	}
	switch {
	case strings.EqualFold(m.ProvisioningState, "Deleting"):
		f.status = cloud.Terminated
	case power == "" && strings.EqualFold(m.ProvisioningState, "Creating"):
		f.status, f.native = cloud.Pending, m.ProvisioningState
	case power == poweredOff:
		f.reason = "it is powered off and billed on: not deallocated"
	default:
		code, message := m.failure()
		f.reason, f.noCapacity = strings.Trim(code+": "+message, ": "), codes[code] == cloud.NoCapacity
	}
	if strings.EqualFold(m.StorageProfile.OSDisk.DiffDiskSettings.Option, "Local") {
		f.unschedulable = "its OS disk is ephemeral and would be lost: Azure cannot deallocate it"
	}
	return f, nil
}

// powerState is the power state without its prefix.
func (m machine) powerState() string {
	const prefix = "powerstate/"
	for _, s := range m.InstanceView.Statuses {
		if state, ok := strings.CutPrefix(strings.ToLower(s.Code), prefix); ok {
			return state
		}
	}
	return strings.TrimPrefix(strings.ToLower(m.Extended.InstanceView.PowerState.Code), prefix)
}

// failure is why the last operation did not succeed: "AllocationFailed", and in words.
func (m machine) failure() (code, message string) {
	for _, s := range m.InstanceView.Statuses {
		parts := strings.Split(s.Code, "/")
		if len(parts) > 1 && strings.EqualFold(parts[0], "ProvisioningState") && strings.EqualFold(parts[1], "failed") {
			return strings.Join(parts[2:], "/"), s.Message
		}
	}
	return "", ""
}
