package rule

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/packedfile"
)

// The tables are embedded packed, because API functions have a limit of size: 0.1 MB instead of 0.45. They lie beside
// as *.csv for people, and a test holds both against each other (go test -run TestTables_ArePacked -update).
//
//go:embed rules.csv.gz
var ruleTable []byte

//go:embed facts.csv.gz
var factTable []byte

//go:embed metrics.csv.gz
var metricTable []byte

// unpack returns the rows of an embedded table without its header. The tables are part of the binary and checked by
// tests: one that cannot be read is a broken build.
func unpack(packed []byte) [][]string {
	rows, err := csv.NewReader(bytes.NewReader(packedfile.Read(packed))).ReadAll()
	if err != nil {
		panic(fmt.Errorf("read an embedded table of rules: %w", err))
	}
	return rows[1:]
}

type table struct {
	rules  []Rule
	byID   map[string]*Rule
	byType map[string][]*Rule
}

var readTable = sync.OnceValue(func() *table {
	rows := unpack(ruleTable)
	t := &table{make([]Rule, len(rows)), make(map[string]*Rule, len(rows)), map[string][]*Rule{}}
	for i, cells := range rows {
		r, err := parseRow(cells)
		if err != nil {
			panic(fmt.Errorf("read an embedded rule: %w", err))
		}
		t.rules[i] = r
		t.byID[r.ID] = &t.rules[i]
		t.byType[r.Type] = append(t.byType[r.Type], &t.rules[i])
	}
	return t
})

// All lists the built-in rules in a fixed order. Callers must not change them. The first call of a process reads the
// table.
func All() []Rule { return readTable().rules }

// ByID returns the built-in rule of an ID, or nil. Callers must not change it.
func ByID(id string) *Rule { return readTable().byID[id] }

// ForType lists the built-in rules for resources of a type, with those for every type of its provider.
func ForType(kind string) []*Rule {
	t := readTable()
	own := t.byType[kind]
	provider, _, _ := strings.Cut(kind, "-")
	every := t.byType[provider+anyType]
	return append(slices.Clip(own), every...)
}

// columns are the columns of rules.csv.
const columns = "id,provider,resource_type,category,severity,title,condition_cel,default_params,effort,risk," +
	"remediation,autonomous,source,version,verb,target,savings,confirm"

// parseRow reads a row of rules.csv. It checks the form of each cell; Check holds the names against the declarations.
func parseRow(c []string) (Rule, error) {
	r := Rule{
		ID: c[0], Provider: c[1], Type: c[2], Category: Category(c[3]), Title: c[5], Condition: c[6],
		Effort: Level(c[8]), Risk: Level(c[9]), Remediation: c[10], Autonomous: c[11] == "y", Source: c[12],
		Verb: Verb(c[14]), Confirm: strings.Fields(c[17]),
	}
	var errs [5]error
	r.Severity, errs[0] = ParseSeverity(c[4])
	r.Params, errs[1] = ParseParams(c[7])
	r.Version, errs[2] = strconv.Atoi(c[13])
	r.Target, errs[3] = ParseTarget(r.Verb, c[15])
	r.Savings, errs[4] = ParseSavings(c[16])
	for _, err := range errs {
		if err != nil {
			return Rule{}, fault.Wrap("read rule "+r.ID, err)
		}
	}
	return r, nil
}
