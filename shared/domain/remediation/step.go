package remediation

import "time"

// StepStatus is the status of a step.
type StepStatus string

// The statuses of a step.
const (
	StepPending   StepStatus = "pending"
	StepRunning   StepStatus = "running"
	StepSucceeded StepStatus = "succeeded"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
)

// Step is one of the four steps of a workflow.
type Step struct {
	Status  StepStatus `json:"status"`
	Message string     `json:"message,omitempty"`
	At      time.Time  `json:"at,omitzero"` // of the last change
}

// Steps are the steps of a workflow, in their order.
type Steps struct {
	Precondition Step `json:"precondition"`
	Approval     Step `json:"approval"`
	Action       Step `json:"action"`
	Validation   Step `json:"validation"`
}

// NamedStep is a step with its name.
type NamedStep struct {
	Name string
	Step
}

// Named returns the steps in their order.
func (s *Steps) Named() []NamedStep {
	return []NamedStep{
		{"precondition", s.Precondition},
		{"approval", s.Approval},
		{"action", s.Action},
		{"validation", s.Validation},
	}
}

func newSteps() Steps {
	waits := Step{Status: StepPending}
	return Steps{Precondition: waits, Approval: waits, Action: waits, Validation: waits}
}

// set changes a step unless it is so already.
func (s *Step) set(status StepStatus, message string, at time.Time) {
	if s.Status != status || s.Message != message {
		*s = Step{status, message, at}
	}
}

// skipRest skips the steps that have not ended, for a workflow that ends.
func (s *Steps) skipRest(at time.Time) {
	for _, one := range []*Step{&s.Precondition, &s.Approval, &s.Action, &s.Validation} {
		if one.Status == StepPending || one.Status == StepRunning {
			one.set(StepSkipped, one.Message, at)
		}
	}
}

// follow derives the steps action and validation from the targets of a running or ended workflow.
func (s *Steps) follow(w *Workflow, at time.Time) {
	if w.Count(Waiting, LeftAlone) == len(w.Targets) {
		return
	}
	s.followAction(w, at)
	s.followValidation(w, at)
}

func (s *Steps) followAction(w *Workflow, at time.Time) {
	refused := ""
	for i := range w.Targets {
		if t := &w.Targets[i]; t.ReachedAt.IsZero() && (t.State == Broken || t.State == Undone) {
			refused = t.Message
		}
	}
	switch {
	case w.Count(Waiting, Calling, Marked) > 0:
		s.Action.set(StepRunning, "", at)
	case refused != "":
		s.Action.set(StepFailed, refused, at)
	default:
		s.Action.set(StepSucceeded, "", at)
	}
}

func (s *Steps) followValidation(w *Workflow, at time.Time) {
	underWay := w.Count(Waiting, Calling, Marked, Watching) > 0
	switch {
	case !w.hasReached():
		return
	case underWay:
		s.Validation.set(StepRunning, "", at)
	case w.Count(Broken, Undoing, Undone) > 0:
		s.Validation.set(StepFailed, firstMessage(w), at)
	default:
		s.Validation.set(StepSucceeded, "", at)
	}
}

// hasReached reports whether a target has reached its state.
func (w *Workflow) hasReached() bool {
	for i := range w.Targets {
		if !w.Targets[i].ReachedAt.IsZero() {
			return true
		}
	}
	return false
}

// firstMessage returns why the first target that did not succeed is in its state.
func firstMessage(w *Workflow) string {
	for i := range w.Targets {
		if t := &w.Targets[i]; t.Message != "" && t.State != Done {
			return t.Message
		}
	}
	return ""
}
