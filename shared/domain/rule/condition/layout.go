package condition

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// layout gives each name of a group ("res", "m", "org", "p") a number, so that an evaluation reads a value by its
// number. The common names have the same numbers in all types.
type layout struct {
	group  string
	fields []field
	number map[string]int
	full   []string         // the names with their group: "res.state"
	unread []*types.Unknown // by number: the unknown value that names it, for evaluations that look for names
}

// firstID is the id of the first value of a group in an unknown, so that the ids of the groups differ.
var firstID = map[string]int64{"res": 0, "m": 1 << 20, "org": 1 << 21}

func newLayout(group string, fields []field) *layout {
	l := &layout{group: group, number: map[string]int{}}
	for _, f := range fields {
		if _, twice := l.number[f.Name]; !twice {
			l.add(f)
		}
	}
	return l
}

func (l *layout) add(f field) {
	at := len(l.fields)
	l.fields, l.number[f.Name] = append(l.fields, f), at
	l.full = append(l.full, l.group+"."+f.Name)
	l.unread = append(l.unread, types.NewUnknown(firstID[l.group]+int64(at), types.NewAttributeTrail(l.group)))
}

// names returns the names of the fields.
func (l *layout) names() []string {
	out := make([]string, len(l.fields))
	for i, f := range l.fields {
		out[i] = f.Name
	}
	return out
}

// slots are the values of a group in an evaluation.
type slots interface {
	read(at int) ref.Val // the value, or an unknown
	has(at int) ref.Val  // whether it is known, or an unknown
}
