package platform

// Kind is a kind of record that a function owns and that clients refer to by ID.
type Kind struct {
	Name   string // its name in error messages: "resource group"
	Prefix string // of its IDs; "" if they have another form
	Delete string // the operation that deletes one; "" if there is none
}

// Outcome is the effect of deleting a record on the records that refer to it.
type Outcome string

// The outcomes.
const (
	// Refused: the deletion answers 409 and lists the referring records.
	Refused Outcome = "refused"
	// Ended: the referring records are deleted too.
	Ended Outcome = "ended"
	// Detached: the referring records stay, without the reference.
	Detached Outcome = "detached"
	// Kept: the referring records stay unchanged, as history.
	Kept Outcome = "kept"
)

// Reference declares that records of the kind From can refer to records of the kind To, and the effect of deleting the
// latter. TestReferences_* in cmd/lamplighter/references creates both records of each reference over HTTP, deletes the
// referenced one, and compares the outcome.
type Reference struct {
	From, To string
	Fields   []string // fields of request bodies that set the ID; none if a path or an operation sets it
	OnDelete Outcome
	// OnDetach is the outcome of a deletion with detach=true; "" if the deletion has no such parameter.
	OnDetach Outcome
}
