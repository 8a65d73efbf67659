package remediation

import (
	"errors"

	"lamplighter.dev/shared/foundation/fault"
)

// Missing returns the error for a workflow that does not exist.
func Missing(workflowID string) error {
	return fault.New(fault.NotFound, "remediation workflow %.64q does not exist", workflowID)
}

func errParameter(field, value, wayOut string) error {
	return fault.New(fault.Invalid, "%s: %.64q is not accepted; %s", field, value, wayOut)
}

// errMoved means that the workflow was changed since it was read.
var errMoved = fault.New(fault.Conflict,
	"the workflow was changed at the same moment: read it again, and ask again if that is still wanted")

func errHeld(resourceID, workflowID string) error {
	return fault.New(fault.Conflict,
		"resource %s is held by remediation workflow %s: wait until it has ended, or cancel it", resourceID, workflowID)
}

// errDayUsed is the cause of the error for a change above the limit of a day.
var errDayUsed = errors.New("the changes of the day are used up")

func errDayLimit(day string) error {
	return fault.NewWithCause(fault.Conflict, errDayUsed,
		"the organization has used its %d changes of %s (UTC): approve again tomorrow", MaxDayChanges, day)
}
