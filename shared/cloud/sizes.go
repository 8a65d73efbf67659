package cloud

import (
	"context"
	"slices"
)

// MachineSize is a machine type of a provider in a region, as the provider describes it. Limits are those that hold all
// the time, not those of bursts. A limit of 0 is unknown.
type MachineSize struct {
	Name      string  `json:"n"`
	VCPU      float64 `json:"c"`
	GiB       float64 `json:"m"`
	Arm       bool    `json:"a,omitempty"`
	GPU       bool    `json:"g,omitempty"` // it has accelerators
	LocalDisk bool    `json:"l,omitempty"` // it has disks that are lost when it stops
	Burstable bool    `json:"b,omitempty"` // its processors may be used in full for a part of the time
	Old       bool    `json:"o,omitempty"` // the provider counts it to a previous generation
	// Hypervisor is "xen", "nitro" or "" for a machine without one, or if the provider does not say.
	Hypervisor string `json:"h,omitempty"`
	// Drivers are the drivers without which an image does not start on it: "ena", "nvme".
	Drivers []string `json:"d,omitempty"`
	IOPS    float64  `json:"i,omitempty"` // of its network disks together, in operations a second
	MiBps   float64  `json:"t,omitempty"` // of the same
	Mbps    float64  `json:"w,omitempty"` // of its network, in Mbit/s in one direction
	Disks   float64  `json:"k,omitempty"` // the most network disks
	NICs    float64  `json:"f,omitempty"` // the most network interfaces
	// Zones are the zones of the region that offer it. None is every zone, or unknown.
	Zones []string `json:"z,omitempty"`
}

// MaxSizes limits the machine types of a region. The largest region has some 1,300.
const MaxSizes = 10_000

// Sizer is a Conn of a provider that describes its machine types. An account may be refused types that others get, so
// the list is that of the account.
type Sizer interface {
	// Sizes returns the machine types that the account may use in a region, each once.
	Sizes(ctx context.Context, region string) ([]MachineSize, error)
}

// sizedTypes are the types of resources whose size is a machine type of their region.
var sizedTypes = []string{
	AWSEC2, AWSASG, AWSRDS, AWSAurora, "aws-elasticache", "aws-opensearch", "azure-vm", AzureVMSS, GCPCompute, GCPMIG,
}

// IsSized reports whether the size of resources of a type is a machine type of their region.
func IsSized(kind string) bool { return slices.Contains(sizedTypes, kind) }

// Sizes returns the Conn's; class Unsupported when the Conn has none.
func (d discreet) Sizes(ctx context.Context, region string) ([]MachineSize, error) {
	s, ok := d.conn.(Sizer)
	if !ok {
		return nil, &Error{Class: Unsupported, Message: "machine types are not read from this provider"}
	}
	all, err := s.Sizes(ctx, region)
	return all, d.s.hide(err)
}

var _ Sizer = discreet{}
