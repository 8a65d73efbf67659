package checks

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/engine/table"
)

var update = flag.Bool("update", false, "write what is generated anew")

const dataModelFile = "../../../docs/data-model.md"

func readDataModel(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(dataModelFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// laptop are the partitions of the process on a laptop, which is no function: the embedded workflow engine, the change
// feed, and the mark of the pepper.
var laptop = []string{"WF#RUN", "WF#X#*", "FEED#mailer", "FEED#notifier", "KEYS#LAPTOP"}

// TestDataModel_HasThePartitionsThatFunctionsDeclare compares the tables of docs/data-model.md with the declarations,
// in both directions.
func TestDataModel_HasThePartitionsThatFunctionsDeclare(t *testing.T) {
	page := readDataModel(t)
	_, own, _ := strings.Cut(page, "## Partitions of an organization")
	own, system, _ := strings.Cut(own, "## Partitions of the system")
	system, _, _ = strings.Cut(system, "\n## ")
	documented := map[string]bool{}
	for _, name := range firstCells(own) {
		documented["ORG#*#"+name] = true
	}
	for _, name := range firstCells(system) {
		documented[name] = !slices.Contains(laptop, name)
	}
	if len(documented) < 40 {
		t.Fatalf("only %d partitions are documented", len(documented))
	}
	for _, p := range functions.Partitions(functions.All()) {
		if !documented[string(p)] {
			t.Errorf("%s is declared by %s and is not in docs/data-model.md", p, strings.Join(touching(p), ", "))
		}
		delete(documented, string(p))
	}
	for name, wanted := range documented {
		if wanted {
			t.Errorf("%s is in docs/data-model.md, and no function declares it", name)
		}
	}
}

// touching returns the names of the functions that declare a partition.
func touching(p table.Partition) []string {
	var out []string
	for _, f := range functions.All() {
		if slices.Contains(f.Access.All(), p) {
			out = append(out, f.Name)
		}
	}
	return out
}

var (
	firstCell = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|")
	quoted    = regexp.MustCompile("`([^`]+)`")
	variable  = regexp.MustCompile(`[<…0-9].*$`)
)

// firstCells returns the names in the first cells of a table's rows, as patterns: JOB#* of JOB#<job>, PENDING#* of
// PENDING#00.
func firstCells(page string) []string {
	var out []string
	for _, row := range firstCell.FindAllStringSubmatch(page, -1) {
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			out = append(out, variable.ReplaceAllString(name[1], "*"))
		}
	}
	return out
}

// TestDataModel_SaysWhoTouchesWhat compares the table of functions by partition with the declarations. With -update,
// as in `make registry`, it writes the table.
func TestDataModel_SaysWhoTouchesWhat(t *testing.T) {
	have := readDataModel(t)
	const begin, end = "<!-- made of the declarations by `make registry` -->\n", "<!-- so far -->\n"
	before, rest, ok := strings.Cut(have, begin)
	_, after, there := strings.Cut(rest, end)
	if !ok || !there {
		t.Fatal("docs/data-model.md has no place for the table of functions by partition")
	}
	want := before + begin + touchTable() + end + after
	if *update && want != have {
		if err := os.WriteFile(dataModelFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != have {
		t.Errorf("docs/data-model.md does not say what functions declare: run `make registry`; the difference "+
			"begins with\n%s", firstDifference(have, want))
	}
}

// touchTable returns a table with a row for each partition: the functions that only read it, that write it, and that
// only append to it.
func touchTable() string {
	var b strings.Builder
	b.WriteString("\n| PK | Read by | Written by | Appended to by |\n|---|---|---|---|\n")
	for _, p := range functions.Partitions(functions.All()) {
		var reads, writes, appends []string
		for _, f := range functions.All() {
			switch {
			case slices.Contains(f.Access.Writes, p):
				writes = append(writes, f.Name)
			case slices.Contains(f.Access.Appends, p):
				appends = append(appends, f.Name)
			case slices.Contains(f.Access.Reads, p):
				reads = append(reads, f.Name)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p, strings.Join(reads, " "), strings.Join(writes, " "),
			strings.Join(appends, " "))
	}
	b.WriteString("\n")
	return b.String()
}
