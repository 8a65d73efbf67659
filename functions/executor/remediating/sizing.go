package remediating

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// scaleVerb is the type of the claim of a workflow on a resource that it scales: neither a start nor a stop, so both
// wait for its end.
const scaleVerb cloud.Verb = "scale"

// sizing sets the sizes of a group, and sets the captured scaling again to undo that.
type sizing struct {
	subject
	scaler cloud.Autoscaler
}

var _ change = (*sizing)(nil)

func (s *sizing) read(ctx context.Context) (cloud.Autoscaling, error) {
	return s.scaler.ReadAutoscaling(ctx, s.t.ResourceType, s.t.Region, s.t.ResourceUID)
}

func (s *sizing) plan(ctx context.Context, _ inventory.Listed) (p remediation.Plan, native json.RawMessage, err error) {
	sizes, err := remediation.SizesOf(rule.ByID(s.t.RuleID), s.t.ResourceType, s.t.Parameters)
	if err != nil {
		return p, nil, err
	}
	live, err := s.read(ctx)
	if err != nil {
		return p, nil, err
	}
	if live.RunsNothing() {
		return p, nil, fault.New(fault.Conflict, "its group has 0 instances: start it first")
	}
	want := resized(live, sizes)
	if err = want.Check(); err != nil {
		return p, nil, fault.New(fault.Invalid, "parameters: %s", reasonOf(err))
	}
	if p.Before, p.After = changedSizes(live, want); len(p.After) == 0 {
		return p, nil, fault.New(fault.Conflict, "its group has these sizes already")
	}
	if want.RunsNothing() {
		return p, nil, fault.New(fault.Invalid, "parameters: desired 0 is a stop: stop the group instead")
	}
	p.Calls = []string{fmt.Sprintf("scale %s %s in %s: %s", s.t.ResourceType, s.t.ResourceUID, s.t.Region,
		sizesText(p.After))}
	p.Limits, p.Watch = []string{"instances that are removed do not come back: new ones replace them"}, watchTime
	native, err = json.Marshal(live)
	return p, native, err
}

// resized returns a scaling with other sizes. The desired size follows bounds that it would leave, and the bounds of a
// group of fixed size follow the desired one.
func resized(live cloud.Autoscaling, sizes map[remediation.Bound]int64) cloud.Autoscaling {
	out := live
	out.Native = nil
	low, hasMin := sizes[remediation.MinBound]
	high, hasMax := sizes[remediation.MaxBound]
	desired, hasDesired := sizes[remediation.DesiredBound]
	fixed := live.Min == live.Max
	if hasMin {
		out.Min = low
	}
	if hasMax {
		out.Max = high
	}
	if !hasDesired {
		out.Desired = min(max(out.Desired, out.Min), max(out.Max, out.Min))
		return out
	}
	out.Desired = desired
	if fixed && !hasMin {
		out.Min = desired
	}
	if fixed && !hasMax {
		out.Max = desired
	}
	return out
}

// changedSizes returns the sizes that differ, before and after.
func changedSizes(live, want cloud.Autoscaling) (before, after map[string]string) {
	before, after = map[string]string{}, map[string]string{}
	is, will := sizesOf(live), sizesOf(want)
	for name := range will {
		if is[name] != will[name] {
			before[name], after[name] = is[name], will[name]
		}
	}
	return before, after
}

func sizesOf(a cloud.Autoscaling) map[string]string {
	return map[string]string{
		string(remediation.MinBound):     strconv.FormatInt(a.Min, 10),
		string(remediation.MaxBound):     strconv.FormatInt(a.Max, 10),
		string(remediation.DesiredBound): strconv.FormatInt(a.Desired, 10),
	}
}

func sizesText(sizes map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		out = append(out, name+" "+sizes[name])
	}
	return strings.Join(out, ", ")
}

func (s *sizing) claim() []table.Write {
	return []table.Write{inventory.ClaimResource(s.org, s.t.ResourceUID, s.workflowID, scaleVerb)}
}

func (s *sizing) mark(*remediation.Target) []table.Write { return s.claim() }

func (s *sizing) call(ctx context.Context) error {
	live, err := s.read(ctx)
	if err != nil {
		return err
	}
	want, err := withSizes(live, s.t.Plan.After)
	if err != nil {
		return err
	}
	return s.scaler.SetAutoscaling(ctx, s.t.ResourceType, s.t.Region, s.t.ResourceUID, want)
}

// withSizes returns a scaling with the sizes of a plan.
func withSizes(live cloud.Autoscaling, sizes map[string]string) (cloud.Autoscaling, error) {
	out := live
	out.Native = nil
	for name, to := range map[remediation.Bound]*int64{
		remediation.MinBound: &out.Min, remediation.MaxBound: &out.Max, remediation.DesiredBound: &out.Desired,
	} {
		text, there := sizes[string(name)]
		if !there {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return out, fmt.Errorf("read the planned %s %q: %w", name, text, err)
		}
		*to = n
	}
	return out, nil
}

// hasSizes reports whether a group has sizes. The provider may move the desired size between the bounds by itself.
func hasSizes(live cloud.Autoscaling, sizes map[string]string, withDesired bool) bool {
	is := sizesOf(live)
	for name, n := range sizes {
		if name == string(remediation.DesiredBound) && (!withDesired || live.SizedByProvider) {
			continue
		}
		if is[name] != n {
			return false
		}
	}
	return true
}

func (s *sizing) look(ctx context.Context) (progress, error) {
	live, err := s.read(ctx)
	switch {
	case err != nil:
		return progress{}, err
	case hasSizes(live, s.t.Plan.After, s.t.ReachedAt.IsZero()):
		return progress{reached: true}, nil
	case !s.t.ReachedAt.IsZero():
		return progress{broken: "validation: somebody has set its sizes to " + sizesText(sizesOf(live))}, nil
	case s.r.Clock.Now().Sub(s.t.CalledAt) < patience:
		return progress{}, nil
	}
	return progress{
		broken: "the call had no effect for " + patience.String() + ", and was not repeated: the sizes are " +
			sizesText(sizesOf(live)),
		unchanged: hasSizes(live, s.t.Plan.Before, true),
	}, nil
}

func (s *sizing) markUndo(*remediation.Target) []table.Write { return s.claim() }

func (s *sizing) undo(ctx context.Context, c remediation.Capture) error {
	var want cloud.Autoscaling
	if err := json.Unmarshal(c.Native, &want); err != nil {
		return fmt.Errorf("read the captured scaling of %s: %w", c.ResourceUID, err)
	}
	return s.scaler.SetAutoscaling(ctx, s.t.ResourceType, s.t.Region, s.t.ResourceUID, want)
}

// back also asks for the captured scaling again if it is not there a minute after the first request: to set it twice is
// to set it once, and without that a process that dies would leave the group as it is.
func (s *sizing) back(ctx context.Context, c remediation.Capture) (progress, error) {
	live, err := s.read(ctx)
	if err != nil {
		return progress{}, err
	}
	asked, waited := !s.t.UndoneAt.IsZero(), s.r.Clock.Now().Sub(s.t.UndoneAt)
	switch {
	case hasSizes(live, c.Before, true):
		return progress{reached: true}, nil
	case !ownSizes(live, &s.t.Plan):
		return progress{
			broken: "somebody else has set its sizes to " + sizesText(sizesOf(live)) + ": nothing was set",
		}, nil
	case !asked || waited < undoAgain:
		return progress{}, nil
	case waited < patience:
		return progress{}, s.undo(ctx, c)
	}
	return progress{
		broken: "it had no effect for " + patience.String() + ": the sizes are " + sizesText(sizesOf(live)),
	}, nil
}

// undoAgain is how long after a request to set the captured scaling it is repeated.
const undoAgain = time.Minute

// ownSizes reports whether each changed bound of a group has its value before or after the change.
func ownSizes(live cloud.Autoscaling, p *remediation.Plan) bool {
	is := sizesOf(live)
	for name := range p.After {
		if name != string(remediation.DesiredBound) && is[name] != p.Before[name] && is[name] != p.After[name] {
			return false
		}
	}
	return true
}
