package remediating

import (
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// managed is the error for a target whose resource is made from code: the change is made there.
type managed struct {
	error
	patch remediation.CodePatch
}

// Unwrap returns the fault.
func (m *managed) Unwrap() error { return m.error }

// planPatch sets the plan of a target whose resource is made from code, and returns the error that has its patch.
func planPatch(t *remediation.Target, p remediation.Plan, code remediation.CodeOwner) error {
	patch := remediation.NewPatch(code, remediation.PatchSubject{
		Type: t.ResourceType, UID: t.ResourceUID, Name: t.ResourceName, Verb: t.Verb, After: p.After,
	})
	p.Calls = []string{"apply the patch in " + code.String() + ": the resource itself is not changed"}
	p.Undo, p.Watch = "take the patch back there", 0
	t.SetPlan(p)
	return &managed{fault.New(fault.Conflict,
		"its resource is managed by %s, which would undo the change: make the change there; the plan of a dry run has "+
			"the patch", code), patch}
}
