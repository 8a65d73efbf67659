package fault

import (
	"fmt"
	"strings"
)

// maxListedUses is how many uses InUse lists by id and name.
const maxListedUses = 10

// Use is a record that names another record.
type Use struct {
	Kind string // its noun, such as "schedule"
	ID   string
	Name string // "" for a record without a name, and for a reader who may not see it
	// Policy is the policy that a reader must hold in the whole organization to see Name.
	Policy string
}

// String returns the kind, the id and the name of the use.
func (u Use) String() string {
	if u.Name == "" {
		return u.Kind + " " + u.ID
	}
	return fmt.Sprintf("%s %s (%.64s)", u.Kind, u.ID, u.Name)
}

// InUse returns the Conflict error for the deletion of a record that uses name, or nil without uses. It lists the
// first ten uses by id and name, and counts the rest. The way out is a clause such as "delete them first".
func InUse(record string, uses []Use, wayOut string) error {
	if len(uses) == 0 {
		return nil
	}
	listed := make([]string, 0, maxListedUses+1)
	for _, u := range uses[:min(len(uses), maxListedUses)] {
		listed = append(listed, u.String())
	}
	if more := len(uses) - maxListedUses; more > 0 {
		listed = append(listed, fmt.Sprintf("%d more (%d in all)", more, len(uses)))
	}
	return New(Conflict, "%s is in use by %s: %s", record, strings.Join(listed, ", "), wayOut)
}
