// Package carbon estimates what running a machine emits, from published coefficients by instance family and region, which it carries with
// their source and version. What has no coefficient has no estimate: nothing is guessed.
//
// The method is that of Cloud Carbon Footprint (cloudcarbonfootprint.org/docs/methodology): a vCPU draws between so much at rest and so much
// at full use, in proportion to its use; a data centre draws so many times more than its machines (PUE); a kWh of the grid emits so much.
// Memory, storage, networks and the making of the machines are not in it.
package carbon

import (
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// Utilization is the use of vCPUs in percent that is assumed, as Cloud Carbon Footprint does where it is not measured.
const Utilization = 50

// Machine is what of a machine its emissions depend on.
type Machine struct {
	Type   string // "aws-ec2", "azure-vm", "gcp-compute"; others have no estimate
	Class  string // "m5.large", "Standard_D2s_v3", "n2-standard-4"
	Region string // as the provider calls it
	Inputs string // pricing.InputsOf its facts: of gcp, whether it has accelerators
}

// providers are, by type, whose coefficients hold.
var providers = map[string]string{"aws-ec2": "aws", "azure-vm": "azure", "gcp-compute": "gcp"}

// effectiveness is how much power a data centre takes for each watt of its machines: by Cloud Carbon Footprint for aws and azure, by Google
// of its fleet in twelve months (google.com/about/datacenters/efficiency).
var effectiveness = map[string]money.Amount{"aws": money.FromScaled(1135, 3), "azure": money.FromScaled(1185, 3),
	"gcp": money.FromScaled(110, 2)}

// Hourly returns how many kilograms of CO2e a machine emits in an hour in which it runs; false where its family, its size or its region
// has no coefficient.
func Hourly(m Machine) (kg money.Amount, known bool) {
	provider := providers[m.Type]
	p, ok := powerOf(provider, m)
	grid, on := coefficients().grids[provider+" "+strings.ToLower(m.Region)]
	if !ok || !on {
		return kg, false
	}
	use := p.least.Add(p.most.Sub(p.least).MulInt(Utilization).DivInt(100))
	return use.MulInt(p.cores).Mul(effectiveness[provider]).Mul(grid).DivInt(1000), true
}

// power is what the vCPUs of a machine draw, in watts each.
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

// googlePower reads the cores out of the name of a machine type: "n2-standard-4", "n2-custom-4-16384", "custom-2-4096" (of N1). Those that
// share a core have no number in theirs, and no estimate; neither has one with accelerators, or of which it is not known.
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
