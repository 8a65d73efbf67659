package platform

// Kind is a kind of record that a function owns and clients name by an id.
type Kind struct {
	Name   string // its noun as errors say it: "resource group"
	Prefix string // of its ids; "" for a kind whose ids are of another form
	Delete string // the operation that deletes one; "" for a kind that no operation deletes
}

// Outcome is what the deletion of a record does to the records that name it.
type Outcome string

// The outcomes.
const (
	// Refused means: the deletion answers 409 and lists the records that name it.
	Refused Outcome = "refused"
	// Ended means: the records that name it are deleted with it.
	Ended Outcome = "ended"
	// Detached means: the records that name it stay, and stop naming it.
	Detached Outcome = "detached"
	// Kept means: the records that name it stay as they are, as history.
	Kept Outcome = "kept"
)

// Reference declares that records of the kind From can name records of the kind To, and what a deletion of the named
// record does. TestReferences_* in cmd/lamplighter/references makes both records of each reference over HTTP, deletes the named
// one, and compares the outcome.
type Reference struct {
	From, To string
	Fields   []string // the fields of request bodies that set the id; none when a path or an operation sets it
	OnDelete Outcome
	// OnDetach is the outcome when the deletion is sent with detach=true; "" where the deletion takes no such
	// parameter.
	OnDetach Outcome
}
