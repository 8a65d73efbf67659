package eventreadiness

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// EventRehearsalInput is the body of POST /event-readiness/{eventID}/rehearse.
type EventRehearsalInput struct {
	LaunchSeconds int64 `json:"launchSeconds,omitempty" minimum:"1" maximum:"3600" default:"300" doc:"How long a machine needs at most to boot, warm up and be found healthy; each group takes between half of it and all"`
}

// EventRehearsal is how a rehearsal went.
type EventRehearsal struct {
	EventID string                 `json:"eventId"`
	Status  readiness.Status       `json:"status" enum:"completed,failed" doc:"That the plan had in the end"`
	Ready   bool                   `json:"ready" doc:"Whether every target had its capacity when the event began, and was given back what it had"`
	Targets []RehearsedEventTarget `json:"targets"`
	Log     []EventPlanLine        `json:"log" doc:"Oldest first, at the times that the plan names"`
}

// RehearsedEventTarget is how a target fared in a rehearsal.
type RehearsedEventTarget struct {
	PolicyID          string     `json:"policyId"`
	Original          GroupSize  `json:"original"`
	Scaled            GroupSize  `json:"scaled"`
	SecondsToCapacity *int64     `json:"secondsToCapacity" doc:"From the time to scale up until all machines were in service; null if they never were"`
	ReachedAt         *time.Time `json:"reachedAt" doc:"null if they never were"`
	Shortfall         int64      `json:"shortfall" doc:"Machines that were missing when the event began"`
	Restored          bool       `json:"restored" doc:"Whether it had in the end exactly what it had before"`
}

// rehearsalTime bounds a rehearsal, which takes a second or two.
const rehearsalTime = 20 * time.Second

func (s *service) rehearse(ctx context.Context, in *struct {
	EventPlanPath
	Body *EventRehearsalInput `required:"false"`
},
) (EventRehearsal, error) {
	p, err := s.plans.Get(ctx, callerOrg(ctx), in.EventID)
	if err != nil {
		return EventRehearsal{}, err
	}
	launch := 300 * time.Second
	if in.Body != nil {
		launch = time.Duration(in.Body.LaunchSeconds) * time.Second
	}
	limited, cancel := context.WithTimeout(ctx, rehearsalTime)
	defer cancel()
	call, err := readiness.RehearsalCall(readiness.RehearsalInput{Org: p.Org, Plan: p, Launch: launch})
	if err != nil {
		return EventRehearsal{}, err
	}
	var got readiness.Rehearsed
	if err = s.p.Workers.RunTask(limited, readiness.Executor, call, &got); err != nil {
		return EventRehearsal{}, fault.NewWithCause(fault.Unavailable, err, "the rehearsal did not come to its end: try again")
	}
	return rehearsed(p, got), nil
}

func rehearsed(p readiness.Plan, got readiness.Rehearsed) EventRehearsal {
	out := EventRehearsal{EventID: p.ID, Status: got.Status, Ready: got.Status == readiness.Completed, Log: []EventPlanLine{}, Targets: make([]RehearsedEventTarget, len(got.Targets))}
	for i, t := range got.Targets {
		out.Targets[i] = RehearsedEventTarget{
			PolicyID: t.PolicyID, Original: GroupSize(t.Original), Scaled: GroupSize(t.Scaled), ReachedAt: rest.Optional(t.ReachedAt), Shortfall: t.Shortfall, Restored: t.Restored,
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
