package remediation

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// Status is the status of a workflow.
type Status string

// The statuses.
const (
	Pending          Status = "pending"           // requested, its precondition is being checked
	AwaitingApproval Status = "awaiting_approval" // another person decides
	Running          Status = "running"           // the executor changes or validates
	Succeeded        Status = "succeeded"         // all targets were changed and validated
	Failed           Status = "failed"            // a target was not changed, or some were given back
	Cancelled        Status = "cancelled"         // rejected, withdrawn, or stopped with everything given back
	Expired          Status = "expired"           // nobody decided in time
	RolledBack       Status = "rolled_back"       // everything is as it was before
)

// Statuses are all statuses, in the order of a workflow's life.
var Statuses = []Status{
	Pending, AwaitingApproval, Running, Succeeded, Failed, Cancelled, Expired, RolledBack,
}

// next contains all permitted transitions.
var next = map[Status][]Status{
	Pending:          {AwaitingApproval, Running, Failed, Cancelled},
	AwaitingApproval: {Running, Cancelled, Expired},
	Running:          {Succeeded, Failed, Cancelled, RolledBack},
	Succeeded:        {RolledBack},
	Failed:           {RolledBack},
}

// Permits reports whether a workflow may change from status s to another one.
func (s Status) Permits(to Status) bool { return slices.Contains(next[s], to) }

// Check returns fault.Conflict for a transition that is not in the table.
func (s Status) Check(to Status) error {
	if s.Permits(to) {
		return nil
	}
	if len(next[s]) == 0 {
		return fault.New(fault.Conflict, "status: the workflow is %s, which is its end: request a new one", s)
	}
	words := make([]string, len(next[s]))
	for i, n := range next[s] {
		words[i] = string(n)
	}
	return fault.New(fault.Conflict, "status: a workflow that is %s cannot become %s; it can become one of %s", s, to,
		strings.Join(words, ", "))
}

// IsOpen reports whether a workflow in this status holds its resources against other workflows.
func (s Status) IsOpen() bool { return s == Pending || s == AwaitingApproval || s == Running }
