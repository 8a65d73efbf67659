package carbon

import (
	_ "embed" // the coefficients
	"strconv"
	"strings"
	"sync"

	"lamplighter.dev/shared/foundation/money"
)

//go:embed machines.csv
var machinesCSV string

//go:embed grids.csv
var gridsCSV string

// tables are the coefficients: the power of machines by provider and type (for gcp by family), and kilograms for each
// kWh by provider and region.
type tables struct {
	machines map[string]power
	grids    map[string]money.Amount
}

// coefficients reads the embedded tables once. It panics if they are malformed, which every test detects.
var coefficients = sync.OnceValue(func() tables {
	t := tables{map[string]power{}, map[string]money.Amount{}}
	for _, f := range rowsOf(machinesCSV) {
		t.addFamily(f)
	}
	for _, f := range rowsOf(gridsCSV) {
		t.grids[f[0]+" "+f[1]] = money.MustParse(f[2])
	}
	return t
})

// addFamily adds the machines of a family: "m5" and "large" are m5.large, "D*s_v3" and "2" are D2s_v3.
func (t *tables) addFamily(f []string) {
	p := power{least: money.MustParse(f[2]), most: money.MustParse(f[3])}
	if f[0] == "gcp" {
		t.machines["gcp "+f[1]] = p
		return
	}
	for size := range strings.FieldsSeq(f[4]) {
		name, cores, _ := strings.Cut(size, ":")
		n, err := strconv.ParseInt(cores, 10, 32)
		if err != nil {
			panic(err)
		}
		p.cores = n
		if f[0] == "aws" {
			t.machines["aws "+f[1]+"."+name] = p
			continue
		}
		t.machines["azure "+strings.Replace(f[1], "*", name, 1)] = p
	}
}

// rowsOf returns the lines of a table without its header.
func rowsOf(csv string) [][]string {
	var out [][]string
	for line := range strings.Lines(csv) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "provider,") {
			out = append(out, strings.Split(line, ","))
		}
	}
	return out
}

// Source describes the publication of the coefficients.
type Source struct {
	Name    string // "Cloud Carbon Footprint"
	Version string
	Licence string
	Date    string // of the version, "2026-08-18"
}

// Coefficients returns the source of the coefficients, read from the headers of the tables.
func Coefficients() Source {
	head := map[string]string{}
	for line := range strings.Lines(machinesCSV) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": "); ok && strings.HasPrefix(line, "# ") {
			head[name] = strings.TrimSpace(value)
		}
	}
	return Source{head["source"], head["version"], head["licence"], head["date"]}
}
