package condition

import (
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// Kind is the kind of a fact, in the words of the rules' facts.csv.
type Kind string

// The kinds of facts. Metrics are numbers.
const (
	Text      Kind = "string"
	Number    Kind = "number"
	Bool      Kind = "bool"
	Timestamp Kind = "timestamp"
	Texts     Kind = "list(string)"
	TextMap   Kind = "map(string,string)"
)

// field is a fact, a metric, a parameter or a setting.
type field struct {
	Name string
	Kind Kind
}

// settings are the settings of an organization that conditions read as "org".
var settings = []field{{"allowed_regions", Texts}, {"min_log_days", Number}, {"required_tags", Texts}}

// Catalogue knows what conditions on each type of resource may read, by the declarations of package rule. Any number of
// goroutines may use it.
type Catalogue struct {
	org      *layout
	language func() (*cel.Env, error)

	mu      sync.Mutex
	schemas map[string]*schema
}

// schema is what conditions on one type may read.
type schema struct{ facts, metrics, org *layout }

// NewCatalogue returns a catalogue. A process needs one.
func NewCatalogue() *Catalogue {
	return &Catalogue{
		org: newLayout("org", settings), language: sync.OnceValues(newLanguage), schemas: map[string]*schema{},
	}
}

// schema returns the schema of a type. A pattern like "aws-*" has the common facts and metrics only.
func (c *Catalogue) schema(kind string) (*schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.schemas[kind]; ok {
		return s, nil
	}
	if !isType(kind) {
		return nil, fault.New(fault.Invalid, "resource type %q is unknown%s", show(kind),
			rule.Nearest(kind, typeNames()))
	}
	facts, metrics := fieldsOf(kind)
	s := &schema{newLayout("res", facts), newLayout("m", metrics), c.org}
	c.schemas[kind] = s
	return s, nil
}

// isType reports whether a type, or the provider of a pattern, is known.
func isType(kind string) bool {
	provider, pattern := strings.CutSuffix(kind, "-*")
	if pattern {
		return len(cloud.KindsOf(provider)) > 0
	}
	_, known := cloud.KindOf(kind)
	return known
}

// typeNames returns the names of all types.
func typeNames() []string {
	var out []string
	for _, k := range cloud.Catalogue() {
		out = append(out, k.Type)
	}
	return out
}

// fieldsOf returns the facts and metrics of a type. Those of every type come first, so that they have the same numbers
// in each type.
func fieldsOf(kind string) (facts, metrics []field) {
	for _, of := range []string{anyType, kind} {
		for _, f := range rule.FactsOf(of) {
			if f.Origin != rule.OfChange {
				facts = append(facts, field{f.Name, Kind(f.Kind)})
			}
		}
		for _, m := range rule.MetricsOf(of) {
			metrics = append(metrics, field{m.Name, Number})
		}
	}
	return facts, metrics
}

// anyType has the facts and metrics of every type.
const anyType = "*"

// cel returns the type of a kind in CEL.
func (k Kind) cel() (*types.Type, error) {
	switch k { //nolint:exhaustive // the others are no kinds of facts
	case Text:
		return types.StringType, nil
	case Number:
		return types.DoubleType, nil
	case Bool:
		return types.BoolType, nil
	case Timestamp:
		return types.TimestampType, nil
	case Texts:
		return types.NewListType(types.StringType), nil
	case TextMap:
		return types.NewMapType(types.StringType, types.StringType), nil
	}
	return nil, fmt.Errorf("kind %q is unknown; use string, number, bool, timestamp, list(string) or "+
		"map(string,string)", string(k))
}

// kindOf names a type of CEL in the words of this package.
func kindOf(t *types.Type) string {
	switch t.Kind() { //nolint:exhaustive // the others have their own name
	case types.DoubleKind, types.IntKind:
		return string(Number)
	case types.StructKind:
		return "group of values"
	}
	return t.String()
}
