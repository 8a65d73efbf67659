package condition

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// at is the time of all evaluations in the tests.
var at = time.Date(2026, 3, 31, 6, 0, 0, 0, time.UTC)

// readTable reads a CSV file of the shared rules, row by row, by its header.
func readTable(name string) ([]map[string]string, error) {
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "rules", name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		one := map[string]string{}
		for i, name := range rows[0] {
			one[name] = row[i]
		}
		out = append(out, one)
	}
	return out, nil
}

// builtIn is the catalogue and the rules of the product.
type builtIn struct {
	*Catalogue
	rules      []Rule
	conditions []*Condition
	byType     map[string][]*Condition
}

var load = sync.OnceValues(func() (*builtIn, error) {
	b := &builtIn{byType: map[string][]*Condition{}}
	var err error
	if b.Catalogue, err = loadCatalogue(); err != nil {
		return nil, err
	}
	if b.rules, err = loadRules(); err != nil {
		return nil, err
	}
	for _, r := range b.rules {
		c, err := b.Compile(r)
		if err != nil {
			return nil, err
		}
		b.conditions = append(b.conditions, c)
		b.byType[r.Type] = append(b.byType[r.Type], c)
	}
	return b, nil
})

func loadCatalogue() (*Catalogue, error) {
	facts, metrics := map[string][]Field{}, map[string][]Field{}
	rows, err := readTable("facts.csv")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		facts[r["resource_type"]] = append(facts[r["resource_type"]], Field{r["fact"], Kind(r["type"])})
	}
	if rows, err = readTable("metrics.csv"); err != nil {
		return nil, err
	}
	for _, r := range rows {
		metrics[r["resource_type"]] = append(metrics[r["resource_type"]], Field{r["name"], Number})
	}
	return NewCatalogue(facts, metrics)
}

func loadRules() ([]Rule, error) {
	rows, err := readTable("rules.csv")
	if err != nil {
		return nil, err
	}
	var out []Rule
	for _, r := range rows {
		one := Rule{ID: r["id"], Type: r["resource_type"], Text: r["condition_cel"]}
		if err := json.Unmarshal([]byte(r["default_params"]), &one.Params); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// rules returns the rules of the product with their conditions.
func rules(t testing.TB) *builtIn {
	t.Helper()
	b, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// subject returns a subject of a type without facts.
func (b *builtIn) subject(t testing.TB, kind string) *Subject {
	t.Helper()
	facts, err := b.NewFacts(kind)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := b.NewMetrics(kind)
	if err != nil {
		t.Fatal(err)
	}
	return &Subject{Facts: facts, Metrics: metrics, Org: b.NewSettings(), Now: at}
}
