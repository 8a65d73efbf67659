package sizing

import (
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
)

// Limits that providers state by rule and not in their lists. They are lower than, or equal to, what a machine really
// gets, so that a target which they permit holds the use.
const (
	// azurePerVCPU is the least outgoing bandwidth of a vCPU in the tables of Azure's sizes, in Mbit/s: of the largest
	// sizes of the series M. Others have 250 and more.
	azurePerVCPU = 200
	// googlePerVCPU and googleMost are the outgoing bandwidth of Google's machines: 2 Gbit/s for each vCPU, up to 10
	// Gbit/s in all of these series, in Mbit/s. See "Network bandwidth" of Compute Engine.
	googlePerVCPU, googleMost = 2_000, 10_000
)

// googlePersistent are the series whose persistent disks share limits that follow from the number of vCPUs. Later
// series have other disks with other limits.
var googlePersistent = map[string]bool{
	"n1": true, "n2": true, "n2d": true, "e2": true, "t2d": true, "t2a": true, "c2": true, "c2d": true,
}

// complete adds the limits that follow from a rule. Other limits stay unknown.
func complete(provider string, s *cloud.MachineSize) {
	switch provider {
	case "azure":
		if s.Mbps == 0 {
			s.Mbps = s.VCPU * azurePerVCPU
		}
	case "gcp":
		shape, _ := pricing.ShapeOf(s.Name)
		if !googlePersistent[shape.Family] || s.Burstable {
			return
		}
		s.Mbps = min(s.VCPU*googlePerVCPU, googleMost)
		s.IOPS, s.MiBps = persistentLimits(s.VCPU)
	}
}

// persistentLimits returns the least operations and bytes a second of SSD and balanced persistent disks together, by
// the number of vCPUs. See "Performance by machine type and vCPU count" of Compute Engine.
func persistentLimits(vcpu float64) (iops, mibps float64) {
	switch {
	case vcpu < 2:
		return 0, 0
	case vcpu < 8:
		return 15_000, 240
	}
	return 15_000, 800
}

// amazonBaselines are the shares of a vCPU that machines with credits have all the time, by the size of the generations
// 3 and 4 of the family t. Those of t2 differ from the size xlarge on.
var amazonBaselines = map[string]float64{
	"nano": 0.05, "micro": 0.1, "small": 0.2, "medium": 0.2, "large": 0.3, "xlarge": 0.4, "2xlarge": 0.4,
}

// googleBaselines are the shares of two vCPUs that machines with a shared core have all the time.
var googleBaselines = map[string]float64{"e2-micro": 0.125, "e2-small": 0.25, "e2-medium": 0.5}

// baselineOf returns the share of its vCPUs that a burstable machine has all the time. It returns false if that is
// unknown: for Azure's series B, of which no list says it.
func baselineOf(provider, name string) (float64, bool) {
	switch provider {
	case "aws":
		family, size, _ := strings.Cut(name, ".")
		share, known := amazonBaselines[size]
		return share, known && (family == "t3" || family == "t3a" || family == "t4g")
	case "gcp":
		share, known := googleBaselines[name]
		return share, known
	}
	return 0, false
}
