package pricing

import (
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// Shape is the number of cores and the memory that a machine type of Google Cloud is charged for.
type Shape struct {
	Family   string
	Cores    money.Amount // for a shared core, the charged part
	GiB      money.Amount
	Extended money.Amount // the memory beyond the family's standard for that many cores
	Custom   bool
	Whole    bool // the machine type has its own price
}

// memoryPerCore is the memory per core of predefined machines, in thousandths of a gibibyte.
var memoryPerCore = map[string]map[string]int64{
	"n1":  {"standard": 3750, "highmem": 6500, "highcpu": 900},
	"n2":  {"standard": 4000, "highmem": 8000, "highcpu": 1000},
	"n2d": {"standard": 4000, "highmem": 8000, "highcpu": 1000},
	"e2":  {"standard": 4000, "highmem": 8000, "highcpu": 1000},
	"c2":  {"standard": 4000}, "c2d": {"standard": 4000, "highmem": 8000, "highcpu": 2000},
	"t2d": {"standard": 4000}, "t2a": {"standard": 4000}, "c3": {"standard": 4000, "highmem": 8000, "highcpu": 2000},
	"c3d": {"standard": 4000, "highmem": 8000, "highcpu": 2000},
	"n4":  {"standard": 4000, "highmem": 8000, "highcpu": 2000},
	"c4":  {"standard": 3750, "highmem": 7750, "highcpu": 2000},
	"c4a": {"standard": 4000, "highmem": 8000, "highcpu": 2000},
}

// irregular are machines whose memory is not proportional to their cores.
var irregular = map[string]int64{
	"n2-highmem-128": 864, "c4-standard-2": 7, "c4-highmem-2": 15,
	"c3d-highcpu-30": 59, "c3d-highcpu-60": 118, "c3d-highcpu-90": 177, "c3d-highcpu-180": 354, "c3d-highcpu-360": 708,
}

// sharedCores are the machines with a part of a core, in thousandths, and their memory in mebibytes.
var sharedCores = map[string][2]int64{"e2-micro": {250, 1024}, "e2-small": {500, 2048}, "e2-medium": {1000, 4096}}

// extendedFrom is the memory per core, in thousandths of a gibibyte, above which memory of a custom machine is
// extended memory.
var extendedFrom = map[string]int64{"n1": 6500, "n2": 8000, "n2d": 8000, "n4": 8000}

// ShapeOf parses the name of a machine type: "n2-standard-4", "n2-custom-4-16384", "custom-2-4096" (of N1),
// "e2-medium". It returns false for a name that it cannot parse.
func ShapeOf(name string) (Shape, bool) {
	if s, ok := sharedCores[name]; ok {
		return Shape{Family: "e2", Cores: money.FromScaled(s[0], 3), GiB: money.FromInt(s[1]).DivInt(1024)}, true
	}
	if name == "f1-micro" || name == "g1-small" {
		return Shape{Whole: true}, true
	}
	p := strings.Split(strings.TrimSuffix(name, "-ext"), "-")
	if p[0] == "custom" {
		p = append([]string{"n1"}, p...)
	}
	switch {
	case len(p) == 4 && p[1] == "custom":
		return customShape(p[0], p[2], p[3])
	case len(p) == 3:
		return predefinedShape(name, p)
	}
	return Shape{}, false
}

func customShape(family, cores, mebibytes string) (Shape, bool) {
	n, err := strconv.ParseInt(cores, 10, 32)
	m, err2 := strconv.ParseInt(mebibytes, 10, 64)
	if err != nil || err2 != nil || n <= 0 || m <= 0 || memoryPerCore[family] == nil {
		return Shape{}, false
	}
	s := Shape{Family: family, Cores: money.FromInt(n), GiB: money.FromInt(m).DivInt(1024), Custom: true}
	if from, extends := extendedFrom[family]; extends {
		if over := s.GiB.Sub(money.FromScaled(from*n, 3)); over.Sign() > 0 {
			s.Extended = over
		}
	}
	return s, true
}

func predefinedShape(name string, p []string) (Shape, bool) {
	n, err := strconv.ParseInt(p[2], 10, 32)
	per, known := memoryPerCore[p[0]][p[1]]
	if err != nil || n <= 0 || !known {
		return Shape{}, false
	}
	s := Shape{Family: p[0], Cores: money.FromInt(n), GiB: money.FromScaled(per*n, 3)}
	if gib, odd := irregular[name]; odd {
		s.GiB = money.FromInt(gib)
	}
	return s, true
}
