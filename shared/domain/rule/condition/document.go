package condition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// CheckDocument checks own rules and overrides: the conditions compile and are within the limit of cost, each fixture
// has its result, and everything that package rule checks. An error is of kind fault.Invalid. It names the rule, and in
// a condition the place and the nearest name.
func (c *Catalogue) CheckDocument(d *rule.Document, now time.Time) error {
	compiled := make([]*Condition, len(d.Rules))
	for i := range d.Rules {
		r, err := d.Rules[i].Draft(1)
		if err != nil {
			return err
		}
		if compiled[i], err = c.Compile(r); err != nil {
			return err
		}
	}
	if err := d.Check(); err != nil {
		return err
	}
	for i := range d.Rules {
		if err := c.CheckFixtures(compiled[i], d.Rules[i].Fixtures, now); err != nil {
			return err
		}
	}
	return c.checkExcludes(d)
}

// checkExcludes compiles the excludes of overrides. They read no parameters.
func (c *Catalogue) checkExcludes(d *rule.Document) error {
	for i := range d.Overrides {
		o := &d.Overrides[i]
		for n, text := range o.Excludes {
			of := rule.ByID(o.Rule)
			if _, err := c.Compile(&rule.Rule{ID: of.ID, Type: of.Type, Condition: text}); err != nil {
				return fault.New(fault.Invalid, "override for %s, excludes[%d]: %s",
					strings.TrimSpace(o.Scope+" "+o.ScopeID), n, fault.Message(err))
			}
		}
	}
	return nil
}

// ReadDocument reads a document in YAML or JSON. An error is of kind fault.Invalid: the text is neither, or has a field
// that documents do not have.
func ReadDocument(text []byte) (d rule.Document, err error) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] != '{' {
		if text, err = yamlToJSON(text); err != nil {
			return d, err
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&d); err != nil {
		return d, fault.New(fault.Invalid, "the document has rules and overrides in YAML or JSON: %s",
			fault.CleanText(strings.TrimPrefix(err.Error(), "json: "), maxMessage))
	}
	return d, nil
}

// maxNodes is how many values a document in YAML has at most, with those that aliases repeat.
const maxNodes = 200_000

// yamlToJSON returns YAML as JSON. Keys are texts, whatever YAML takes them for: true and false are fixtures.
func yamlToJSON(text []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fault.New(fault.Invalid, "the document is no YAML: %s", fault.CleanText(err.Error(), maxMessage))
	}
	c := yamlConverter{}
	out, err := json.Marshal(c.value(&root))
	if c.err == nil && err != nil {
		c.err = fault.NewWithCause(fault.Invalid, err, "the document has a value that JSON does not have")
	}
	return out, c.err
}

// yamlConverter converts nodes of YAML to values for encoding/json.
type yamlConverter struct {
	nodes int
	err   error // the first
}

func (c *yamlConverter) fail(n *yaml.Node, format string, args ...any) any {
	if c.err == nil {
		c.err = fault.New(fault.Invalid, "line %d: %s", n.Line, fmt.Sprintf(format, args...))
	}
	return nil
}

func (c *yamlConverter) value(n *yaml.Node) any {
	if c.nodes++; c.nodes > maxNodes || c.err != nil {
		return c.fail(n, "the document has more than %d values; split it", maxNodes)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return c.value(n.Content[0])
	case yaml.AliasNode:
		return c.value(n.Alias)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = c.value(item)
		}
		return out
	case yaml.MappingNode:
		return c.object(n)
	default:
		return c.scalar(n)
	}
}

func (c *yamlConverter) object(n *yaml.Node) any {
	out := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, twice := out[key.Value]; twice || key.Kind != yaml.ScalarNode {
			return c.fail(key, "key %q occurs twice, or is no text", show(key.Value))
		}
		out[key.Value] = c.value(n.Content[i+1])
	}
	return out
}

func (c *yamlConverter) scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
		if err != nil {
			return c.fail(n, "%q is no number in decimal digits", show(n.Value))
		}
		return v
	}
	return n.Value
}
