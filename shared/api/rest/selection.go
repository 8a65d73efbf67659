package rest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lamplighter.dev/shared/foundation/fault"
)

// Selection is the query of an answer that can be restricted by dimensions that are not known beforehand:
// filter[region]=eu-west-1. Embed it in an operation's input.
type Selection struct{ by map[string][]string }

// The limits of a Selection.
const (
	MaxSelected       = 20  // dimensions
	MaxSelectedValues = 100 // of a dimension
)

const (
	selectionBegin = "filter["
	selectionEnd   = "]"
)

// Resolve reads the parameters.
func (s *Selection) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	s.by = map[string][]string{}
	for name, values := range u.Query() {
		rest, ok := strings.CutPrefix(name, selectionBegin)
		dim, closed := strings.CutSuffix(rest, selectionEnd)
		if !ok {
			continue
		}
		if !closed || dim == "" || len(dim) > 256 {
			return []error{fault.New(fault.Invalid, "%.64q: write filter[dimension]=value", name)}
		}
		if s.by[dim] = values; len(values) > MaxSelectedValues || len(s.by) > MaxSelected {
			return []error{fault.New(fault.Invalid,
				"%.64q: a filter has at most %d values, and there are at most %d filters", name, MaxSelectedValues,
				MaxSelected)}
		}
	}
	return nil
}

// Values returns the wanted values of each dimension, or nil if the answer is not restricted. The empty value stands
// for records without a value.
func (s *Selection) Values() map[string][]string {
	if len(s.by) == 0 {
		return nil
	}
	return maps.Clone(s.by)
}

// describeSelection documents the restriction of an operation.
func describeSelection(input reflect.Type, hop *huma.Operation) {
	if !slices.ContainsFunc(slices.Collect(inputFields(input)), func(f reflect.StructField) bool {
		return f.Anonymous && f.Type == reflect.TypeFor[Selection]()
	}) {
		return
	}
	explode := true
	hop.Parameters = append(hop.Parameters, &huma.Param{
		Name: "filter", In: "query", Style: "deepObject", Explode: &explode,
		Description: "filter[dimension]=value, also several times. A record must match one of the values of each " +
			"dimension. An empty value matches records without a value.",
		Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}},
	})
}
