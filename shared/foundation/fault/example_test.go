package fault_test

import (
	"errors"
	"fmt"

	"lamplighter.dev/shared/foundation/fault"
)

// The code that detects a failure makes the error. Callers add operations; kind and message stay. Clients see only the
// message, logs see everything.
func Example() {
	lost := errors.New("condition failed on write 0")
	err := fault.NewWithCause(fault.Conflict, lost, "name: a team named %.64q exists already; choose another name",
		"Web")
	err = fault.Wrap("create team team_1", err)

	fmt.Println(fault.Is(err, fault.Conflict), errors.Is(err, lost))
	fmt.Println(fault.Message(err))
	fmt.Println(err)
	fmt.Println(fault.Message(lost)) // it has no kind, so it counts as a defect of the service
	// Output:
	// true true
	// name: a team named "Web" exists already; choose another name
	// create team team_1: name: a team named "Web" exists already; choose another name: condition failed on write 0
	// internal error
}
