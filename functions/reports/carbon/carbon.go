// Package carbon estimates the emissions of a running machine from published coefficients by instance family and
// region. The package contains the coefficients with their source and version. A machine without a coefficient has no
// estimate.
//
// The method is that of Cloud Carbon Footprint (cloudcarbonfootprint.org/docs/methodology). The power of a vCPU grows
// in proportion to its use, from a minimum when idle to a maximum at full use. A data centre draws a multiple of the
// power of its machines (PUE). The grid of a region emits a fixed amount for each kWh. The estimate does not include
// memory, storage, networks and the manufacture of machines.
package carbon

import (
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// Utilization is the assumed use of vCPUs in percent, the default of Cloud Carbon Footprint for machines without
// measurements.
const Utilization = 50

// Machine holds the properties of a machine that determine its emissions.
type Machine struct {
	Type   string // "aws-ec2", "azure-vm", "gcp-compute"; others have no estimate
	Class  string // "m5.large", "Standard_D2s_v3", "n2-standard-4"
	Region string // in the provider's spelling
	Inputs string // pricing.InputsOf its facts; for gcp, whether it has accelerators
}

// providers maps a machine type to the provider whose coefficients apply.
var providers = map[string]string{"aws-ec2": "aws", "azure-vm": "azure", "gcp-compute": "gcp"}

// effectiveness is the power usage effectiveness (PUE) by provider: the watts that a data centre draws for each watt
// of its machines. The values for aws and azure are those of Cloud Carbon Footprint. The value for gcp is Google's
// average of its fleet over twelve months (google.com/about/datacenters/efficiency).
var effectiveness = map[string]money.Amount{
	"aws": money.FromScaled(1135, 3), "azure": money.FromScaled(1185, 3),
	"gcp": money.FromScaled(110, 2),
}

// EstimateHourly returns the kilograms of CO2e that a machine emits in an hour of running. It returns false if its
// family, size or region has no coefficient.
func EstimateHourly(m Machine) (kg money.Amount, known bool) {
	provider := providers[m.Type]
	p, ok := powerOf(provider, m)
	grid, on := coefficients().grids[provider+" "+strings.ToLower(m.Region)]
	if !ok || !on {
		return kg, false
	}
	use := p.least.Add(p.most.Sub(p.least).MulInt(Utilization).DivInt(100))
	return use.MulInt(p.cores).Mul(effectiveness[provider]).Mul(grid).DivInt(1000), true
}

// power is the minimum and maximum power of one vCPU in watts, and the number of vCPUs of a machine.
type power struct {
	least, most money.Amount
	cores       int64
}

func powerOf(provider string, m Machine) (p power, known bool) {
	switch provider {
	case "aws":
		p, known = coefficients().machines["aws "+m.Class]
	case "azure":
		p, known = coefficients().machines["azure "+strings.TrimPrefix(m.Class, "Standard_")]
	case "gcp":
		return googlePower(m)
	}
	return p, known
}

// googlePower reads the number of cores from a machine type: "n2-standard-4", "n2-custom-4-16384", "custom-2-4096"
// (N1). It returns false for shared-core types, whose name has no number, and for machines that have or may have
// accelerators.
func googlePower(m Machine) (p power, known bool) {
	parts := strings.Split(m.Class, "-")
	if parts[0] == "custom" {
		parts = append([]string{"n1"}, parts...)
	}
	if len(parts) < 3 || !strings.Contains(";"+m.Inputs+";", ";gpu_count=0;") {
		return p, false
	}
	n, err := strconv.ParseInt(parts[2], 10, 16)
	p, known = coefficients().machines["gcp "+parts[0]]
	p.cores = n
	return p, known && err == nil && n > 0
}
