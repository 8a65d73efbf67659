package table

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// UniqueNames is a set of names that are unique regardless of case, for example the names of the budgets of an
// organization. Each name in use has an item, its claim, which is only written if it does not exist yet.
type UniqueNames struct {
	PK     string // partition key of the claims
	Prefix string // start of the sort key of a claim, if the partition also holds other items
	Noun   string // a record that has a name, as error messages call it: "budget"
	IDAttr string // attribute of a claim that holds the ID of the record; "id" if empty
}

// FoldName returns the form of a name that is compared. Two names are equal if their folded forms are.
func FoldName(name string) string { return strings.ToLower(name) }

// Key returns the key of the claim to name.
func (u UniqueNames) Key(name string) Key { return Key{PK: u.PK, SK: u.Prefix + FoldName(name)} }

// Claim returns the write that claims name for the record with the given ID. It fails if the name is claimed already.
func (u UniqueNames) Claim(name, id string) (Write, error) {
	it, err := NewItem(u.Key(name), map[string]string{cmp.Or(u.IDAttr, "id"): id})
	return Put(it, Absent()), err
}

// Release returns the write that deletes the claim to name.
func (u UniqueNames) Release(name string) Write { return Delete(u.Key(name)) }

// Rename returns the writes that claim next for the record with the given ID, and release its previous name. It returns
// none if both names have the same claim. The previous name of a new record is empty.
func (u UniqueNames) Rename(previous, next, id string) ([]Write, error) {
	if previous != "" && u.Key(previous) == u.Key(next) {
		return nil, nil
	}
	claim, err := u.Claim(next, id)
	if previous == "" {
		return []Write{claim}, err
	}
	return []Write{claim, u.Release(previous)}, err
}

// Refusal returns a fault.Conflict if err says that a write failed because name is claimed already, else nil.
func (u UniqueNames) Refusal(err error, name string) error {
	lost, ok := errors.AsType[*ConditionError](err)
	if !ok {
		return nil
	}
	if slices.ContainsFunc(lost.Failed, func(f Failure) bool { return f.Old.Key == u.Key(name) }) {
		return u.Taken(name)
	}
	return nil
}

// Taken returns the fault.Conflict that says that another record has the name.
func (u UniqueNames) Taken(name string) error {
	return fault.New(fault.Conflict,
		"name: another %s is named %.64q already, regardless of case; choose a different name",
		u.Noun, name)
}
