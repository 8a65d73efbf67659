// Package readiness is event readiness plans: what raises the capacity of autoscaler policies for the time of an event, and gives back
// exactly what was there before. A plan goes from status to status as the interface specification's table has it, each time on the
// condition that nobody else moved it, and leaves a line in its log. Who calls the clouds is functions/executor/rescaling.
package readiness

import (
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// The partitions of an organization's plans, of which windows hold which policy, of what was captured, and of the logs of the plans.
const (
	Partition        table.Partition = "ORG#*#EVENTPLAN"
	ClaimPartition   table.Partition = "ORG#*#EVENTCLAIM"
	CapturePartition table.Partition = "ORG#*#EVENTCAPTURE"
	LogPartition     table.Partition = "ORG#*#EVENTLOG"
)

// Bounds.
const (
	MostPlans   = 1000 // of an organization
	MostTargets = 20   // of a plan
	MostMinutes = 24 * 60
	// Farthest is how far ahead a plan may end: what waits for it lives at most a year.
	Farthest = 330 * 24 * time.Hour
	// Longest is how long a window may be.
	Longest = 31 * 24 * time.Hour
)

// Target is a policy whose capacity a plan raises, and what it was captured at: when the plan was made, and again before it was raised.
type Target struct {
	PolicyID        string `json:"policyId"`
	OriginalMin     int64  `json:"originalMin"`
	OriginalMax     int64  `json:"originalMax"`
	OriginalDesired int64  `json:"originalDesired"`
	// in hundredths of a percent, as measured when the plan was made or dispatched
	AverageCPU int64 `json:"averageCPU,omitempty"`
	TargetCPU  int64 `json:"targetCPU,omitempty"` // of the policy; 0 with AverageCPU 0: nothing was measured
}

// CPU returns what the target is scaled by: what was measured, or else the conservative defaults.
func (t Target) CPU() (c CPU, measured bool) {
	if t.AverageCPU > 0 && t.TargetCPU > 0 {
		return CPU{t.AverageCPU, t.TargetCPU}, true
	}
	return CPU{DefaultUse, DefaultTarget}, false
}

// Original returns what was captured.
func (t Target) Original() Size { return Size{t.OriginalMin, t.OriginalMax, t.OriginalDesired} }

// Plan is an event readiness plan.
type Plan struct {
	ID                 string     `json:"id"` // evt_…
	Org                string     `json:"orgId"`
	Name               string     `json:"name"`
	Description        string     `json:"description"`
	EventStart         time.Time  `json:"eventStart"`
	EventEnd           time.Time  `json:"eventEnd"`
	PreScaleMinutes    int64      `json:"preScaleMinutes"`
	PostEventMinutes   int64      `json:"postEventMinutes"`
	ExpectedMultiplier Multiplier `json:"expectedMultiplier"`
	Timezone           string     `json:"timezone"`
	Status             Status     `json:"status"`
	Targets            []Target   `json:"targets"`
	CreatedAt          time.Time  `json:"createdAt"`
	CreatedBy          string     `json:"createdBy"`
	UpdatedAt          time.Time  `json:"updatedAt"`
	Message            string     `json:"message,omitempty"` // why it failed, or what a restore found
	// how often it was dispatched: what an earlier dispatch still does is not of this one
	Run int64 `json:"run"`
	// of the executor for this run, by their ids: each is taken once
	Reports   []string  `json:"reports,omitempty"`
	Since     time.Time `json:"since"`  // when it came into its status
	Logged    int64     `json:"logged"` // lines of its log so far
	Version   int64     `json:"version"`
	DeletedAt time.Time `json:"deletedAt,omitzero"`
}

// ScaleUpAt is when capacity is raised.
func (p *Plan) ScaleUpAt() time.Time {
	return p.EventStart.Add(-time.Duration(p.PreScaleMinutes) * time.Minute)
}

// ScaleDownAt is when it is given back.
func (p *Plan) ScaleDownAt() time.Time {
	return p.EventEnd.Add(time.Duration(p.PostEventMinutes) * time.Minute)
}

// CheckedAt returns the time for which a check of the plan at now tells whether its targets can be raised.
func (p *Plan) CheckedAt(now time.Time) time.Time { return clock.Latest(now, p.ScaleUpAt()) }

// Window is the time in which the plan holds its targets.
func (p *Plan) Window() Window { return Window{PlanID: p.ID, From: p.ScaleUpAt(), To: p.ScaleDownAt()} }

// Target returns the target of a policy.
func (p *Plan) Target(policyID string) (Target, bool) {
	at := slices.IndexFunc(p.Targets, func(t Target) bool { return t.PolicyID == policyID })
	if at < 0 {
		return Target{}, false
	}
	return p.Targets[at], true
}

// Scaled returns the size that the target of a plan is scaled to from s.
func (p *Plan) Scaled(t Target, s Size) (Size, error) {
	c, _ := t.CPU()
	return ByMultiplier(p.ExpectedMultiplier, c).Scale(s)
}

// PolicyIDs returns the ids of the targets.
func (p *Plan) PolicyIDs() []string {
	out := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		out[i] = t.PolicyID
	}
	return out
}

// CheckTimes refuses times that contradict each other, and a window that is past: fault.Invalid naming the field.
func (p *Plan) CheckTimes(now time.Time) error {
	switch {
	case !p.EventStart.After(now):
		return fault.New(fault.Invalid, "eventStart: %s is not after now, which is %s", p.show(p.EventStart),
			p.show(now))
	case !p.EventEnd.After(p.EventStart):
		return fault.New(fault.Invalid, "eventEnd: %s is not after eventStart, which is %s", p.show(p.EventEnd),
			p.show(p.EventStart))
	case p.EventEnd.Sub(p.EventStart) > Longest:
		return fault.New(fault.Invalid, "eventEnd: %s is more than %d days after eventStart", p.show(p.EventEnd),
			Longest/(24*time.Hour))
	case p.ScaleDownAt().Sub(now) > Farthest:
		return fault.New(fault.Invalid, "eventEnd: %s is more than %d days ahead", p.show(p.EventEnd),
			Farthest/(24*time.Hour))
	}
	return nil
}

// show writes a moment as people in the plan's zone read it, with the offset that the zone has then.
func (p *Plan) show(at time.Time) string { return InZone(at, p.Timezone) }

// InZone writes a moment as people in a zone read it, with the offset that it has then; in UTC where the zone is not known.
func InZone(at time.Time, zone string) string {
	if in, err := time.LoadLocation(zone); err == nil {
		at = at.In(in)
	}
	return at.Format(time.RFC3339)
}

// pk returns the partition of the plans of an organization.
func pk(org string) string { return table.OrgPK(org) + "EVENTPLAN" }

// Key returns where a plan is stored.
func Key(org, planID string) table.Key { return table.Key{PK: pk(org), SK: planID} }

// deletedKey is where a plan lies that was deleted.
func deletedKey(org, planID string) table.Key { return table.Key{PK: pk(org), SK: "DELETED#" + planID} }

// The sort keys of plans that are not deleted lie between these.
const (
	first = "evt_"
	last  = "evt_~"
)

// WorkID names a dispatch of the plan among the pending work, and its execution.
func (p *Plan) WorkID() string { return fmt.Sprintf("%s-r%d", p.ID, p.Run) }

// RollbackID names the work that rolls back what a dispatch of the plan applied.
func (p *Plan) RollbackID() string { return fmt.Sprintf("%s-c%d", p.ID, p.Run) }
