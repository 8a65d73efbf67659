package costquery

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
)

func TestBoundTo_LimitsTheResourcesOfOneQuestion(t *testing.T) {
	uids := func(n, size int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("%0*d", size, i)
		}
		return out
	}
	for name, c := range map[string]struct {
		uids []string
		kind fault.Kind
	}{
		"none is denied":                   {nil, fault.Denied},
		"more than a thousand are refused": {uids(MaxResources+1, 4), fault.Invalid},
		"ids that are too long together":   {uids(MaxResources, 200), fault.Invalid},
	} {
		if _, err := (Query{}).BoundTo(c.uids); !fault.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := Query{Measures: []string{"BilledCost"}, Filters: make([]Filter, 1, 8)}
	bound, err := asked.BoundTo(uids(MaxResources, 100))
	if err != nil || len(bound.Filters) != 2 || len(asked.Filters) != 1 {
		t.Fatalf("%v: %d filters, the question itself %d", err, len(bound.Filters), len(asked.Filters))
	}
	if sql := bound.SQL("org_1", nil); len(sql) > 256<<10 || !strings.Contains(sql, "COALESCE(ResourceId, '') IN (") {
		t.Errorf("%d bytes of SQL: %.200s", len(sql), sql)
	}
}

// TestFilter_WithManyValuesMeetsAsWithFew checks that a set of values matches like a linear search.
func TestFilter_WithManyValuesMeetsAsWithFew(t *testing.T) {
	values := make([]string, manyValues+1)
	for i := range values {
		values[i] = fmt.Sprint("i-", i)
	}
	for _, operator := range []Operator{Is, IsNot, StartsWith, Contains} {
		f := Filter{Column: resourceColumn, Operator: operator, Values: values}
		for _, v := range []string{"", "i-0", "i-16", "i-17", "x i-3", "z"} {
			if f.test()(v) != f.meets(v) {
				t.Errorf("%s %q: %v", operator, v, f.test()(v))
			}
		}
	}
}
