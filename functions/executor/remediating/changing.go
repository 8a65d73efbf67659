package remediating

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// changeVerb is the type of the claim of a workflow on a resource whose values it sets: starts and stops wait for it.
const changeVerb cloud.Verb = "change"

// copyPatience is how long a snapshot may take, and busyPatience how long a resource may be between two states.
const (
	copyPatience = 24 * time.Hour
	busyPatience = 24 * time.Hour
)

// rolloutPatience is how long the pods of a changed workload may take to be replaced.
const rolloutPatience = time.Hour

// changing sets values of a resource, or removes it in several steps, by a cloud.Changer.
type changing struct {
	subject
	changer cloud.Changer
	number  int // of the target in its workflow
	seen    remediation.Observed
	copied  string // the snapshot that the present step has taken, once it was seen
}

var _ stepped = (*changing)(nil)

// openChange returns the change of a target by a cloud.Changer.
func (s subject) openChange() (change, error) {
	changer, ok := s.conn.(cloud.Changer)
	if !ok {
		return nil, cloud.ErrUnsupported("resources of %s are not changed", s.t.Provider)
	}
	return &changing{subject: s, changer: changer}, nil
}

// target returns the change in the words of the cloud.
func (s *changing) target() cloud.Change {
	c := cloud.Change{
		Verb: cloud.ChangeVerb(s.t.Verb), Kind: s.t.ResourceType, Region: s.t.Region, UID: s.t.ResourceUID,
	}
	if s.workflowID != "" {
		c.Token = remediation.TokenOf(s.workflowID, s.number)
	}
	if r := rule.ByID(s.t.RuleID); r != nil && c.Verb.RemovesResource() {
		c.Steps = r.Target.Steps
	}
	return c
}

func (s *changing) plan(ctx context.Context, _ inventory.Listed) (p remediation.Plan, native json.RawMessage,
	err error,
) {
	c, r := s.target(), rule.ByID(s.t.RuleID)
	if c.Want, err = remediation.ValuesOf(r, s.seen, s.t.Parameters); err != nil {
		return p, nil, err
	}
	if err = s.checkPermissions(ctx, c); err != nil {
		return p, nil, err
	}
	got, err := s.changer.PlanChange(ctx, c)
	if err != nil {
		return p, nil, s.explainDenial(err)
	}
	p = remediation.Plan{Calls: got.Calls, Before: got.Before, After: got.After, Limits: got.Limits}
	switch c.Verb { //nolint:exhaustive // the others set values
	case cloud.Delete:
		wait := fmt.Sprintf("wait %d days, and read it again", s.t.WaitBeforeDelete()/(24*time.Hour))
		p.Calls = slices.Insert(p.Calls, len(p.Calls)-1, wait)
	case cloud.Release:
	default:
		p.Watch = max(watchTime, r.Target.Validate)
	}
	return p, got.Native, nil
}

// steps returns the steps of the approved plan.
func (s *changing) steps() []cloud.ChangeStep { return s.target().Calls(s.t.Plan.After) }

// present returns the call of the present step.
func (s *changing) present() cloud.ChangeCall {
	all := s.steps()
	return cloud.ChangeCall{Change: s.target(), Set: all[min(s.t.Step, len(all)-1)].Set}
}

func (s *changing) more() bool { return s.t.Step < len(s.steps())-1 }

// dueAt returns when the next step begins: the removal after the waiting period since the mark, others at once.
func (s *changing) dueAt() time.Time {
	now := s.r.Clock.Now()
	if s.t.Step+1 < len(s.steps())-1 {
		return now
	}
	marked := s.t.MarkedAt
	if marked.IsZero() {
		marked = now
	}
	return marked.Add(s.t.WaitBeforeDelete())
}

func (s *changing) claim() []table.Write {
	return []table.Write{inventory.ClaimResource(s.org, s.t.ResourceUID, s.workflowID, changeVerb)}
}

func (s *changing) mark(*remediation.Target) []table.Write { return s.claim() }

func (s *changing) call(ctx context.Context) error {
	if err := s.checkCopy(ctx); err != nil {
		return err
	}
	return s.explainDenial(s.changer.ApplyChange(ctx, s.present()))
}

// checkCopy refuses to remove a resource whose snapshot is not complete any more.
func (s *changing) checkCopy(ctx context.Context) error {
	all := s.steps()
	if s.t.Step == 0 || s.t.Step != len(all)-1 || all[s.t.Step-1].Name != cloud.StepCopy {
		return nil
	}
	reached, now, err := s.changer.CheckChange(ctx,
		cloud.ChangeCall{Change: s.target(), Set: all[s.t.Step-1].Set})
	if err == nil && !reached {
		return fault.New(fault.Conflict, "its snapshot is gone or incomplete (%q)", now[cloud.CopyValue])
	}
	return err
}

func (s *changing) look(ctx context.Context) (progress, error) {
	c := s.present()
	reached, now, err := s.changer.CheckChange(ctx, c)
	waited := s.r.Clock.Now().Sub(s.t.CalledAt)
	switch {
	case err == nil && reached && c.Set[cloud.CopyValue] != "":
		return s.lookAtCopy(ctx)
	case err != nil || reached:
		return progress{reached: reached}, err
	case !s.t.ReachedAt.IsZero():
		return s.invalid(now), nil
	case now[cloud.CopyValue] == cloud.CopyFailed:
		return progress{broken: "its snapshot has failed"}, nil
	case now[cloud.RolloutValue] == cloud.RolloutFailed:
		return progress{broken: "its new pods did not become available: the rollout has failed"}, nil
	case mayTakeLonger(now, waited), waited < busyPatience && s.isBusy(ctx):
		return progress{}, nil
	}
	return progress{
		broken: "the call had no effect for " + waited.Truncate(time.Second).String() + ", and was not repeated: " +
			"its values are " + valuesText(now),
		unchanged: s.t.Step == 0 && s.isAsBefore(now),
	}, nil
}

// invalid returns why a change that had its effect is not valid any more.
func (s *changing) invalid(now cloud.Values) progress {
	if s.isChanged(now) {
		return progress{broken: "validation: its pods are not all available"}
	}
	return progress{broken: "validation: somebody has set its values to " + valuesText(now)}
}

// mayTakeLonger reports whether a call that has not had its effect yet may still have it, by the values now.
func mayTakeLonger(now cloud.Values, waited time.Duration) bool {
	return waited < patience || now[cloud.CopyValue] == cloud.CopyPending && waited < copyPatience ||
		now[cloud.RolloutValue] == cloud.RolloutProgressing && waited < rolloutPatience
}

// isBusy reports whether the provider is still changing the resource.
func (s *changing) isBusy(ctx context.Context) bool {
	d, err := s.changer.DescribeForChange(ctx, s.target())
	return err == nil && d.Busy != ""
}

// lookAtCopy reads which snapshot the step has taken.
func (s *changing) lookAtCopy(ctx context.Context) (progress, error) {
	d, err := s.changer.DescribeForChange(ctx, s.target())
	s.copied = d.CopyUID
	return progress{reached: err == nil}, err
}

// isAsBefore reports whether values are those before the first step. Before it there is no mark.
func (s *changing) isAsBefore(now cloud.Values) bool {
	for name, is := range now.Own() {
		if is != s.t.Plan.Before[name] {
			return false
		}
	}
	return true
}

// isChanged reports whether all values are those after the change, and only its pods are not.
func (s *changing) isChanged(now cloud.Values) bool {
	for name, is := range now.Own() {
		if is != s.t.Plan.After[name] {
			return false
		}
	}
	return now[cloud.RolloutValue] != ""
}

func valuesText(v cloud.Values) string { return sizesText(v) }

func (s *changing) markUndo(*remediation.Target) []table.Write { return s.claim() }

// wanted returns the values that give the change back, from a fresh read; none if everything is as before.
func (s *changing) wanted(d cloud.Description, before map[string]string) cloud.Values {
	switch {
	case !s.target().Verb.RemovesResource():
		return without(before, d.Values)
	case !d.Exists():
		return maps.Clone(before)
	case d.Values[cloud.MarkValue] == s.target().Token:
		return cloud.Values{cloud.MarkValue: ""}
	}
	return nil
}

// without returns before, or nil if the values are there already.
func without(before, now map[string]string) cloud.Values {
	for name, was := range before {
		if now[name] != was {
			return maps.Clone(before)
		}
	}
	return nil
}

func (s *changing) undo(ctx context.Context, c remediation.Capture) error {
	d, err := s.changer.DescribeForChange(ctx, s.target())
	if err != nil {
		return err
	}
	want := s.wanted(d, c.Before)
	if len(want) == 0 {
		return nil
	}
	return s.changer.ApplyChange(ctx, cloud.ChangeCall{Change: s.target(), Set: want, Native: c.Native})
}

// back also asks for the values again if they are not there a minute after the first request: to set them twice is to
// set them once.
func (s *changing) back(ctx context.Context, c remediation.Capture) (progress, error) {
	d, err := s.changer.DescribeForChange(ctx, s.target())
	if err != nil {
		return progress{}, err
	}
	asked, waited := !s.t.UndoneAt.IsZero(), s.r.Clock.Now().Sub(s.t.UndoneAt)
	switch {
	case isUnderWay(d) && (!asked || waited < busyPatience):
		return progress{waits: true}, nil // a change that is under way may still show the values before
	case len(s.wanted(d, c.Before)) == 0:
		return progress{reached: true}, nil
	case !s.hasOwnValues(d):
		return progress{
			broken: "somebody else has set its values to " + valuesText(d.Values) + ": nothing was set",
		}, nil
	case !d.FreeAt.IsZero():
		return progress{waits: true, until: d.FreeAt}, nil
	case !asked || waited < undoAgain:
		return progress{}, nil
	case waited < patience:
		return progress{}, s.undo(ctx, c)
	}
	return progress{
		broken: "it had no effect for " + patience.String() + ": its values are " + valuesText(d.Values),
	}, nil
}

// isUnderWay reports whether a provider is changing a resource. One that only rests after a change is not.
func isUnderWay(d cloud.Description) bool { return d.Busy != "" && d.FreeAt.IsZero() }

// hasOwnValues reports whether each changed value of a resource is the one before or after the change.
func (s *changing) hasOwnValues(d cloud.Description) bool {
	if s.target().Verb.RemovesResource() {
		return true
	}
	for name, after := range cloud.Values(s.t.Plan.After).Own() {
		if is := d.Values[name]; is != after && is != s.t.Plan.Before[name] {
			return false
		}
	}
	return true
}
