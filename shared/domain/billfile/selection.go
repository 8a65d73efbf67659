package billfile

import (
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// selection is a layout of some FOCUS columns.
type selection struct{ focusLayout }

// newSelection binds only the requested columns.
func newSelection(columns []string, t table) (layout, error) {
	l := &selection{}
	all := l.bindings(nil)
	bound := make([]binding, 0, len(columns))
	for _, name := range columns {
		i := slices.IndexFunc(all, func(b binding) bool { return b.names[0] == name })
		if i < 0 {
			return nil, fault.New(fault.Invalid, "%.64q is none of the columns of FOCUS that are read", name)
		}
		bound = append(bound, all[i])
	}
	names, open := t.columns()
	if err := place(bound, names, open); err != nil {
		return nil, err
	}
	return l, t.bind(bound)
}

// emit passes on the row without a check, because only some columns were read. Exact amounts, if they were read,
// replace the rounded ones.
func (l *selection) emit(to *reading) error {
	l.out = l.row
	if l.exact != "" {
		if err := l.setExact(); err != nil {
			return err
		}
	}
	to.taken = to.take(&l.out)
	return to.taken
}
