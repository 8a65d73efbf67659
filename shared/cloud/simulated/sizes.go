package simulated

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// sizes are the machine types of this cloud, the same in all its regions: types of AWS with the limits that AWS
// documents for them.
//
//go:embed sizes.csv
var sizes string

var _ cloud.Sizer = (*conn)(nil)

// Sizes lists the machine types of the simulated cloud: one call.
func (c *conn) Sizes(ctx context.Context, region string) ([]cloud.MachineSize, error) {
	var out []cloud.MachineSize
	r := request{method: "Sizes", op: "ec2:DescribeInstanceTypes", region: region, capability: discover}
	err := c.simulateCall(ctx, r, func(context.Context) (err error) { out, err = readSizes(); return err })
	return out, err
}

func readSizes() ([]cloud.MachineSize, error) {
	var out []cloud.MachineSize
	_, lines, _ := strings.Cut(sizes, "\n") // behind the header
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 8 {
			return nil, fmt.Errorf("sizes.csv: %q has not 8 columns", line)
		}
		var n [5]float64
		for i, text := range f[3:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("sizes.csv: %s: %w", f[0], err)
			}
			n[i] = v
		}
		out = append(out, cloud.MachineSize{
			Name: f[0], Arm: f[1] == "arm", Burstable: f[2] == "y", VCPU: n[0], GiB: n[1], IOPS: n[2], MiBps: n[3],
			Mbps: n[4], Hypervisor: "nitro", Drivers: []string{"ena", "nvme"},
		})
	}
	return out, nil
}
