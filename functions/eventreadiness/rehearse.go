package eventreadiness

import (
	"cmp"
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// EventRehearsalInput is the body of POST /event-readiness/{eventID}/rehearse.
type EventRehearsalInput struct {
	LaunchSeconds int64 `json:"launchSeconds,omitempty" minimum:"1" maximum:"3600" default:"300" doc:"The longest time that a machine needs to come into service; each group takes between half of it and all of it"`
}

// EventRehearsal is the result of a rehearsal.
type EventRehearsal struct {
	EventID string                 `json:"eventId"`
	Status  readiness.Status       `json:"status" enum:"completed,failed" doc:"That the plan had in the end"`
	Ready   bool                   `json:"ready" doc:"Whether every target had its capacity at eventStart and got its original size back"`
	Targets []RehearsedEventTarget `json:"targets"`
	Log     []EventPlanLine        `json:"log" doc:"Oldest first, at the times that the plan names"`
}

// RehearsedEventTarget is the result for one target in a rehearsal.
type RehearsedEventTarget struct {
	PolicyID          string     `json:"policyId"`
	Original          GroupSize  `json:"original"`
	Scaled            GroupSize  `json:"scaled"`
	SecondsToCapacity *int64     `json:"secondsToCapacity" doc:"From scaleUpAt until all machines were in service; null if they never were"`
	ReachedAt         *time.Time `json:"reachedAt" doc:"null if they never were"`
	Shortfall         int64      `json:"shortfall" doc:"Machines that were missing when the event began"`
	Restored          bool       `json:"restored" doc:"Whether it got exactly its original size back"`
	Problem           *string    `json:"problem" doc:"Why the target cannot be ready, or why that is not known; null when readiness-check finds no problem. A target that cannot be ready is not raised in the rehearsal; an unknown one is rehearsed as if it ran"`
}

// rehearsalTime is the time limit of a rehearsal, which takes a second or two.
const rehearsalTime = 20 * time.Second

func (s *service) rehearsePlan(ctx context.Context, in *struct {
	EventPlanPath
	Body *EventRehearsalInput `required:"false"`
},
) (EventRehearsal, error) {
	p, err := s.plans.Get(ctx, identity.CallerOrg(ctx), in.EventID)
	if err != nil {
		return EventRehearsal{}, err
	}
	launch := 300 * time.Second
	if in.Body != nil {
		launch = time.Duration(in.Body.LaunchSeconds) * time.Second
	}
	limited, cancel := context.WithTimeout(ctx, rehearsalTime)
	defer cancel()
	found, err := s.findTargets(limited, &p)
	if err != nil {
		return EventRehearsal{}, err
	}
	call, err := readiness.RehearsalCall(rehearsalOf(p, found, launch))
	if err != nil {
		return EventRehearsal{}, err
	}
	var got readiness.Rehearsed
	if err = s.p.Workers.RunTask(limited, readiness.Executor, call, &got); err != nil {
		return EventRehearsal{},
			fault.NewWithCause(fault.Unavailable, err, "the rehearsal did not come to its end: try again")
	}
	out := rehearsed(p, got)
	out.addProblems(found)
	return out, nil
}

// rehearsalOf returns the rehearsal of a plan with the findings on its targets. Stopped targets are stopped when it
// begins. Targets that cannot be ready are not raised.
func rehearsalOf(p readiness.Plan, found []finding, launch time.Duration) readiness.RehearsalInput {
	in := readiness.RehearsalInput{Org: p.Org, Plan: p, Launch: launch, Blocked: map[string]string{}}
	for i := range found {
		policyID := p.Targets[i].PolicyID
		if found[i].stopped {
			in.Stopped = append(in.Stopped, policyID)
		}
		if why := found[i].problem(); why != "" {
			in.Blocked[policyID] = why
		}
	}
	return in
}

// addProblems adds to each target why it cannot be ready, or why that is not known. With such a target the plan is
// not ready.
func (r *EventRehearsal) addProblems(found []finding) {
	for i := range found {
		if why := cmp.Or(found[i].problem(), found[i].message(unknown)); why != "" {
			r.Targets[i].Problem, r.Ready = &why, false
		}
	}
}

func rehearsed(p readiness.Plan, got readiness.Rehearsed) EventRehearsal {
	out := EventRehearsal{
		EventID: p.ID, Status: got.Status, Ready: got.Status == readiness.Completed,
		Log: []EventPlanLine{}, Targets: make([]RehearsedEventTarget, len(got.Targets)),
	}
	for i, t := range got.Targets {
		out.Targets[i] = RehearsedEventTarget{
			PolicyID: t.PolicyID, Original: GroupSize(t.Original), Scaled: GroupSize(t.Scaled),
			ReachedAt: rest.Optional(t.ReachedAt), Shortfall: t.Shortfall, Restored: t.Restored,
		}
		if !t.ReachedAt.IsZero() {
			seconds := int64(t.ReachedAt.Sub(p.ScaleUpAt()) / time.Second)
			out.Targets[i].SecondsToCapacity = &seconds
		}
		out.Ready = out.Ready && t.Restored && t.Shortfall == 0
	}
	for _, l := range got.Log {
		out.Log = append(out.Log, shownLine(l))
	}
	return out
}
