package condition

import (
	"slices"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"lamplighter.dev/shared/cloud"
)

// group holds the values of a layout, and which of them an evaluation missed.
type group struct {
	*layout
	values []ref.Val
	missed []int
	naming bool // a missing value is an unknown that names it
}

// someUnknown is a missing value of a first evaluation. It names nothing, so that cel need not merge names.
var someUnknown = &types.Unknown{}

func (g *group) begin(naming bool) {
	if g != nil {
		g.missed, g.naming = g.missed[:0], naming
	}
}

// miss notes that a value is missing and returns an unknown for it.
func (g *group) miss(at int) ref.Val {
	if !slices.Contains(g.missed, at) {
		g.missed = append(g.missed, at)
	}
	if g.naming {
		return g.unread[at]
	}
	return someUnknown
}

// keep removes the missed values that are not among the ids of an unknown.
func (g *group) keep(ids []int64) {
	g.missed = slices.DeleteFunc(g.missed, func(at int) bool {
		_, named := slices.BinarySearch(ids, g.unread[at].IDs()[0])
		return !named
	})
}

// Facts are the facts of one resource, or the settings of an organization. They are reused: Reset makes them empty.
type Facts struct {
	group
	reasons []Missing // why values are missing, for those that differ from NotReported
	known   *texts
	// the JSON of lists and maps that no condition has read, by number; few conditions read tags
	pending [][]byte
}

func newFacts(l *layout) *Facts {
	n := len(l.fields)
	return &Facts{group: group{layout: l, values: make([]ref.Val, n)}, known: newTexts(), pending: make([][]byte, n)}
}

// Reset removes all values.
func (f *Facts) Reset() {
	clear(f.values)
	clear(f.pending)
	f.reasons = f.reasons[:0]
}

// read returns a value.
func (f *Facts) read(at int) ref.Val {
	if v := f.value(at); v != nil {
		return v
	}
	return f.miss(at)
}

// value returns a value, nil for an unknown one.
func (f *Facts) value(at int) ref.Val {
	if f.values[at] == nil && f.pending[at] != nil {
		f.readPending(at)
	}
	return f.values[at]
}

// has reports whether a value is known. Collectors write empty values for known absence, so a missing value is
// unknown.
func (f *Facts) has(at int) ref.Val {
	if f.value(at) != nil {
		return types.True
	}
	return f.miss(at)
}

// Set sets a value: string, float64, bool, time.Time, []string or map[string]string, as the kind of the fact is. It
// reports whether the type has the fact and the value is of its kind; if not, the fact stays unknown.
func (f *Facts) Set(name string, value any) bool {
	at, declared := f.number[name]
	if !declared {
		return false
	}
	v := f.valueOf(f.fields[at].Kind, value)
	if v == nil {
		f.note(at, Unreadable, "its value is of another kind; a "+string(f.fields[at].Kind)+" was expected")
		return false
	}
	f.values[at] = v
	return true
}

// Miss notes why a fact is missing.
func (f *Facts) Miss(name string, why Reason, detail string) {
	if at, declared := f.number[name]; declared {
		f.note(at, why, detail)
	}
}

// Known reports whether a fact has a value.
func (f *Facts) Known(name string) bool {
	at, declared := f.number[name]
	return declared && f.value(at) != nil
}

// Value returns the value of a fact as plain Go, and nil for an unknown fact. It is meant for evidence.
func (f *Facts) Value(name string) any {
	at, declared := f.number[name]
	if !declared || f.value(at) == nil {
		return nil
	}
	v := f.value(at).Value()
	if t, is := v.(time.Time); is && t.Equal(latest) {
		return cloud.Never
	}
	return v
}

// note notes why a value is missing, and removes the value.
func (f *Facts) note(at int, why Reason, detail string) {
	f.values[at], f.pending[at] = nil, nil
	f.reasons = append(f.reasons, Missing{f.full[at], why, detail})
}

// why returns why a value is missing: the last noted reason.
func (f *Facts) why(at int) Missing {
	for _, m := range slices.Backward(f.reasons) {
		if m.Name == f.full[at] {
			return m
		}
	}
	return Missing{f.full[at], NotReported, ""}
}

// valueOf returns a value for cel, or nil if it is of another kind.
func (f *Facts) valueOf(k Kind, value any) ref.Val {
	v, is := f.kindOf(value)
	if is != k {
		return nil
	}
	return v
}

// kindOf returns a value for cel and its kind, or nil for a value that is too long.
func (f *Facts) kindOf(value any) (ref.Val, Kind) {
	switch v := value.(type) {
	case string:
		return unlessLonger(f.known.text(v), len(v), MaxText), Text
	case float64:
		return types.Double(v), Number
	case bool:
		return types.Bool(v), Bool
	case time.Time:
		return timeValue(v), Timestamp
	case []string:
		return unlessLonger(types.NewStringList(types.DefaultTypeAdapter, v), len(v), MaxItems), Texts
	case map[string]string:
		return unlessLonger(types.NewStringStringMap(types.DefaultTypeAdapter, v), len(v), MaxItems), TextMap
	}
	return nil, ""
}

func unlessLonger(v ref.Val, size, most int) ref.Val {
	if size > most {
		return nil
	}
	return v
}
