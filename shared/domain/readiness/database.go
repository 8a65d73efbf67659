package readiness

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/domain/pricing"
)

// Class is an instance class of databases.
type Class struct {
	Name      string `json:"name"` // "db.m5.large"
	Family    string `json:"-"`    // classes of one family can replace each other
	VCPUs     int64  `json:"vCPUs"`
	MemoryMiB int64  `json:"memoryMiB"` // 0 when unknown
}

// DatabaseTypes are the types of resources with an instance class that StepUp can raise.
var DatabaseTypes = []string{"aws-rds", "azure-mysql-flexible", "azure-postgresql-flexible", "gcp-cloudsql"}

// classKeys are the prefixes of price keys, by type.
var classKeys = map[string]string{
	"aws-rds": "rds/", "azure-mysql-flexible": "mysql/", "azure-postgresql-flexible": "postgres/",
}

// memoryOf is the memory per vCPU of RDS classes in MiB, by the letter of the family.
var memoryOf = map[byte]int64{'c': 2048, 'm': 4096, 'r': 8192}

// ClassOf parses the name of a database class of a type. It returns false for an unknown name.
func ClassOf(kind, name string) (Class, bool) {
	switch {
	case kind == "aws-rds":
		return relationalClass(name)
	case strings.HasPrefix(kind, "azure-"):
		return flexibleClass(name)
	case kind == "gcp-cloudsql":
		return cloudSQLClass(name)
	}
	return Class{}, false
}

// relationalClass parses "db.m5.large": large has 2 vCPUs, xlarge 4, 2xlarge 8.
func relationalClass(name string) (Class, bool) {
	p := strings.Split(name, ".")
	if len(p) != 3 || p[0] != "db" || p[1] == "" {
		return Class{}, false
	}
	c := Class{Name: name, Family: p[1]}
	switch times, big := strings.CutSuffix(p[2], "xlarge"); {
	case big && times == "":
		c.VCPUs = 4
	case big:
		n, err := strconv.ParseInt(times, 10, 32)
		if err != nil || n < 1 {
			return Class{}, false
		}
		c.VCPUs = 4 * n
	case slices.Contains([]string{"micro", "small", "medium", "large"}, p[2]):
		c.VCPUs = 2
	default:
		return Class{}, false
	}
	c.MemoryMiB = c.VCPUs * memoryOf[p[1][0]]
	if p[1][0] == 't' {
		c.MemoryMiB = map[string]int64{
			"micro": 1024, "small": 2048, "medium": 4096, "large": 8192, "xlarge": 16384,
			"2xlarge": 32768,
		}[p[2]]
	}
	return c, true
}

// flexibleClass parses "Standard_D4ds_v4". The family is the letters before the number and the text after it.
func flexibleClass(name string) (Class, bool) {
	tier, rest, _ := strings.Cut(name, "_")
	from := strings.IndexAny(rest, "0123456789")
	if from < 1 {
		return Class{}, false
	}
	to := from
	for to < len(rest) && rest[to] >= '0' && rest[to] <= '9' {
		to++
	}
	n, err := strconv.ParseInt(rest[from:to], 10, 32)
	if err != nil || n < 1 {
		return Class{}, false
	}
	c := Class{Name: name, Family: tier + "_" + rest[:from] + rest[to:], VCPUs: n}
	c.MemoryMiB = n * map[byte]int64{'D': 4096, 'E': 8192}[rest[0]]
	return c, true
}

// cloudSQLClass parses "db-custom-2-7680" and "db-n1-standard-2".
func cloudSQLClass(name string) (Class, bool) {
	shape, ok := pricing.ShapeOf(strings.TrimPrefix(name, "db-"))
	cores, whole := shape.Cores.Scaled(0)
	if !ok || !whole || cores < 1 {
		return Class{}, false
	}
	mebibytes, _ := shape.GiB.MulInt(1024).Scaled(0)
	return Class{Name: name, Family: "custom", VCPUs: cores, MemoryMiB: mebibytes}, true
}

// ClassesIn returns the classes of a type that have a price in a table, the smallest first.
func ClassesIn(t *pricing.Table, kind string) []Class {
	seen := map[string]Class{}
	for _, key := range t.Keys() {
		tail, ok := strings.CutPrefix(key, classKeys[kind])
		if classKeys[kind] == "" || !ok {
			continue
		}
		name, _, _ := strings.Cut(tail, "/")
		if c, ok := ClassOf(kind, name); ok {
			seen[name] = c
		}
	}
	out := make([]Class, 0, len(seen))
	for _, c := range seen {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.VCPUs, b.VCPUs), cmp.Compare(a.MemoryMiB, b.MemoryMiB), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// StepUp returns the smallest class of the current family for f times the current load, measured in vCPUs. offered
// must be sorted by size. It returns false when no offered class is large enough. For Cloud SQL it returns a custom
// class of the needed size.
func StepUp(current Class, f Factor, offered []Class) (Class, bool) {
	needed := max(f.times(current.VCPUs), current.VCPUs)
	if needed == current.VCPUs {
		return current, true
	}
	if current.Family == "custom" {
		needed += needed % 2 // more than one vCPU requires an even number
		memory := current.MemoryMiB * needed / current.VCPUs
		memory += (256 - memory%256) % 256
		name := "db-custom-" + strconv.FormatInt(needed, 10) + "-" + strconv.FormatInt(memory, 10)
		return Class{name, current.Family, needed, memory}, needed <= 96
	}
	for _, c := range offered {
		if c.Family == current.Family && c.VCPUs >= needed {
			return c, true
		}
	}
	return Class{}, false
}
