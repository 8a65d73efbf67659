package sizing

import (
	"fmt"
	"slices"

	"lamplighter.dev/shared/domain/pricing"
)

// googleSeries are the numbers of vCPUs of the machine types of series that can replace others, by series and kind.
var googleSeries = map[string]map[string][]int{
	"n2": {
		"standard": {2, 4, 8, 16, 32, 48, 64, 80, 96, 128}, "highmem": {2, 4, 8, 16, 32, 48, 64, 80, 96, 128},
		"highcpu": {2, 4, 8, 16, 32, 48, 64, 80, 96},
	},
	"n2d": {
		"standard": {2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224}, "highmem": {2, 4, 8, 16, 32, 48, 64, 80, 96},
		"highcpu": {2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224},
	},
	"e2": {"standard": {2, 4, 8, 16, 32}, "highmem": {2, 4, 8, 16}, "highcpu": {2, 4, 8, 16, 32}},
	"t2a": {
		"standard": {1, 2, 4, 8, 16, 32, 48},
	},
	"c4a": {
		"standard": {1, 2, 4, 8, 16, 32, 48, 64, 72}, "highmem": {1, 2, 4, 8, 16, 32, 48, 64, 72},
		"highcpu": {1, 2, 4, 8, 16, 32, 48, 64, 72},
	},
}

// googleReplacements are, by what is wanted, the series that replace a series. A later series whose machines take other
// disks or other drivers (C3, C4, N4) does not replace an earlier one: its machine type alone cannot be changed. A move
// to another architecture makes a new machine in any case, so it may go to C4A.
var googleReplacements = map[Wanted]map[string][]string{
	Newer: {"n1": {"n2", "n2d"}},
	Economical: {
		"n1": {"e2"}, "n2": {"e2"}, "n2d": {"e2"},
	},
	Arm: {
		"n1": {"t2a", "c4a"}, "n2": {"t2a", "c4a"}, "n2d": {"t2a", "c4a"}, "e2": {"t2a", "c4a"}, "t2d": {"t2a", "c4a"},
		"c2": {"c4a"}, "c2d": {"c4a"}, "c3": {"c4a"}, "c3d": {"c4a"}, "n4": {"c4a"}, "c4": {"c4a"},
	},
}

// googleEquivalents returns the machine types that can replace one of Google. Custom machines and those with a shared
// core have none.
func googleEquivalents(class string, w Wanted) ([]string, bool) {
	size, known := FindSize("gcp", class)
	if !known {
		return nil, false
	}
	shape, _ := pricing.ShapeOf(class)
	if shape.Custom || size.Shared {
		return nil, true
	}
	var out []string
	for _, series := range googleReplacements[w][shape.Family] {
		for kind, cores := range googleSeries[series] {
			name := fmt.Sprintf("%s-%s-%d", series, kind, int(size.VCPU))
			if other, _ := FindSize("gcp", name); slices.Contains(cores, int(size.VCPU)) && isEnough(&size, &other) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out, true
}
