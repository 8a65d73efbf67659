package gcptwin

import "slices"

// MachineType is a machine type in a zone.
type MachineType struct {
	Name, Zone   string
	CPUs, MB     int
	Disks        int
	Shared       bool
	Accelerators int
	Deprecated   string // the state of the withdrawal; "" of a type on offer
}

// AddMachineType adds a machine type.
func (c *Cloud) AddMachineType(m MachineType) {
	c.ChangeLocked(func() { c.machineTypes = append(c.machineTypes, m) })
}

func (m *MachineType) render() map[string]any {
	out := map[string]any{
		"kind": "compute#machineType", "name": m.Name, "zone": m.Zone, "guestCpus": m.CPUs, "memoryMb": m.MB,
		"maximumPersistentDisks": m.Disks, "isSharedCpu": m.Shared, "architecture": "X86_64",
	}
	if m.Accelerators > 0 {
		out["accelerators"] = []any{map[string]any{
			"guestAcceleratorType": "nvidia-tesla-a100", "guestAcceleratorCount": m.Accelerators,
		}}
	}
	if m.Deprecated != "" {
		out["deprecated"] = map[string]any{"state": m.Deprecated}
	}
	return out
}

// aggregateMachineTypes answers the machine types of all zones. Their zone is its name, not its address.
func (c *Cloud) aggregateMachineTypes(q request) (any, *failure) {
	if f := c.unreachableFailure(q); f != nil {
		return nil, f
	}
	var scopes []string
	var things []map[string]any
	for _, m := range slices.Clone(c.machineTypes) {
		if matchesFilter(q, map[string]string{"name": m.Name, "zone": m.Zone}) {
			scopes, things = append(scopes, "zones/"+m.Zone), append(things, m.render())
		}
	}
	return c.aggregateList(q, "machineTypes", scopes, things), nil
}
