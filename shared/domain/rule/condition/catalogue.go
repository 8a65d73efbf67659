package condition

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
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

// Field is a fact or a metric.
type Field struct {
	Name string
	Kind Kind
}

// Common is the type whose facts and metrics every type has.
const Common = "*"

// Settings are the settings of an organization that conditions read as "org".
var Settings = []Field{{"allowed_regions", Texts}, {"min_log_days", Number}, {"required_tags", Texts}}

// Catalogue knows the facts and metrics of all types of resources. Any number of goroutines may use it.
type Catalogue struct {
	facts, metrics map[string][]Field
	org            *layout
	language       func() (*cel.Env, error)

	mu      sync.Mutex
	schemas map[string]*schema
}

// schema is what conditions on one type may read.
type schema struct {
	kind                string
	facts, metrics, org *layout
}

// NewCatalogue returns a catalogue of the facts and metrics of types, given by type. Those of Common belong to every
// type.
func NewCatalogue(facts, metrics map[string][]Field) (*Catalogue, error) {
	for kind, fields := range facts {
		for _, f := range fields {
			if _, err := f.Kind.cel(); err != nil {
				return nil, fmt.Errorf("fact %s of %s: %w", f.Name, kind, err)
			}
		}
	}
	return &Catalogue{
		facts: facts, metrics: metrics, org: newLayout("org", Settings), language: sync.OnceValues(newLanguage),
		schemas: map[string]*schema{},
	}, nil
}

// schema returns the schema of a type. A pattern like "aws-*" has the common facts and metrics only.
func (c *Catalogue) schema(kind string) (*schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.schemas[kind]; ok {
		return s, nil
	}
	if !c.knows(kind) {
		return nil, fmt.Errorf("resource type %q is unknown%s", kind, suggest(kind, c.kinds()))
	}
	s := &schema{
		kind:    kind,
		facts:   newLayout("res", slices.Concat(c.facts[Common], c.facts[kind])),
		metrics: newLayout("m", slices.Concat(c.metrics[Common], c.metrics[kind])),
		org:     c.org,
	}
	c.schemas[kind] = s
	return s, nil
}

// knows reports whether a type, or a type of a pattern, has facts or metrics.
func (c *Catalogue) knows(kind string) bool {
	prefix, pattern := strings.CutSuffix(kind, "*")
	return slices.ContainsFunc(c.kinds(), func(k string) bool {
		return k == kind || pattern && strings.HasPrefix(k, prefix)
	})
}

// kinds returns the types in order.
func (c *Catalogue) kinds() []string {
	var out []string
	for _, of := range []map[string][]Field{c.facts, c.metrics} {
		for kind := range of {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cel returns the type of a kind in CEL.
func (k Kind) cel() (*types.Type, error) {
	switch k {
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
	return nil, fmt.Errorf("kind %q is unknown; use string, number, bool, timestamp, list(string) or map(string,string)",
		string(k))
}

// kindOf names a type of CEL in the words of this package.
func kindOf(t *types.Type) string {
	switch t.Kind() {
	case types.DoubleKind, types.IntKind:
		return string(Number)
	case types.StructKind:
		return "group of values"
	}
	return t.String()
}
