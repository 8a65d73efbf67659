package remediating

import (
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/remediation"
)

// StepsOf returns the calls of a planned change of a cloud.Changer, in their order; none for actions, attachments and
// scalings.
func StepsOf(t *remediation.Target) []cloud.ChangeStep {
	if remediation.UsesActions(t.Verb) {
		return nil
	}
	s := changing{subject: subject{t: t}}
	return s.steps()
}
