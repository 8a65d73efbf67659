package fault_test

import (
	"errors"
	"fmt"

	"lamplighter.dev/shared/foundation/fault"
)

// A failure is made where it is known what was wrong; on its way up it gains operations and keeps its kind and its message. The
// client sees the message alone, the log the whole story.
func Example() {
	lost := errors.New("condition failed on write 0")
	err := fault.NewWithCause(fault.Conflict, lost, "name: a team named %.64q exists already; choose another name",
		"Web")
	err = fault.Wrap("create team team_1", err)

	fmt.Println(fault.Is(err, fault.Conflict), errors.Is(err, lost))
	fmt.Println(fault.Message(err))
	fmt.Println(err)
	fmt.Println(fault.Message(lost)) // of no kind, so a defect of ours
	// Output:
	// true true
	// name: a team named "Web" exists already; choose another name
	// create team team_1: name: a team named "Web" exists already; choose another name: condition failed on write 0
	// internal error
}
