// Package readiness keeps autoscaler policies and event readiness plans. A policy (Policy, PolicyStore) records for
// one group of machines or pods its scaling at adoption and its wanted scaling. A plan raises the capacity of the
// targets of some policies for the time of an event, and then restores exactly the previous capacity. Its status
// changes follow the table of the interface specification. Each change requires that no other process changed the
// plan, and adds a line to its log. PrecheckReader finds the obstacles to raising a target: an account that is not
// acted on, an override, a stop under way, a stopped target that cannot be started. The executor asks it before it
// raises a target, and the API before it calls a plan ready. functions/executor/rescaling calls the clouds.
package readiness

import (
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// The partitions of an organization's plans, of the claims on policies, of captured sizes, and of plan logs.
const (
	Partition        table.Partition = "ORG#*#EVENTPLAN"
	ClaimPartition   table.Partition = "ORG#*#EVENTCLAIM"
	CapturePartition table.Partition = "ORG#*#EVENTCAPTURE"
	LogPartition     table.Partition = "ORG#*#EVENTLOG"
)

// Limits.
const (
	MostPlans   = 1000 // of an organization
	MostTargets = 20   // of a plan
	MostMinutes = 24 * 60
	// Farthest is how far ahead a plan may end: its state machine runs at most a year.
	Farthest = 330 * 24 * time.Hour
	// Longest is the maximum length of an event.
	Longest = 31 * 24 * time.Hour
)

// Target is a policy whose capacity a plan raises, with its captured size. The size is captured when the plan is
// made, and again before it is raised.
type Target struct {
	PolicyID        string `json:"policyId"`
	OriginalMin     int64  `json:"originalMin"`
	OriginalMax     int64  `json:"originalMax"`
	OriginalDesired int64  `json:"originalDesired"`
	// average CPU use in hundredths of a percent, as measured when the plan was made or dispatched
	AverageCPU int64 `json:"averageCPU,omitempty"`
	TargetCPU  int64 `json:"targetCPU,omitempty"` // of the policy; AverageCPU and TargetCPU are 0 without a measurement
}

// CPU returns the CPU use for scaling the target: the measured one, or else the conservative defaults.
func (t Target) CPU() (c CPU, measured bool) {
	if t.AverageCPU > 0 && t.TargetCPU > 0 {
		return CPU{t.AverageCPU, t.TargetCPU}, true
	}
	return CPU{DefaultUse, DefaultTarget}, false
}

// Original returns the captured size.
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
	Message            string     `json:"message,omitempty"` // why it failed, or the finding of a restore
	// incremented by each dispatch; reports of earlier dispatches are refused
	Run int64 `json:"run"`
	// IDs of the executor's reports for this run; each is processed once
	Reports   []string  `json:"reports,omitempty"`
	Since     time.Time `json:"since"`  // time of the last change of Status
	Logged    int64     `json:"logged"` // number of lines added to its log
	Version   int64     `json:"version"`
	DeletedAt time.Time `json:"deletedAt,omitzero"`
}

// ScaleUpAt returns when capacity is raised.
func (p *Plan) ScaleUpAt() time.Time {
	return p.EventStart.Add(-time.Duration(p.PreScaleMinutes) * time.Minute)
}

// ScaleDownAt returns when capacity is restored.
func (p *Plan) ScaleDownAt() time.Time {
	return p.EventEnd.Add(time.Duration(p.PostEventMinutes) * time.Minute)
}

// CheckedAt returns the time to check the plan's targets for: the later of now and ScaleUpAt.
func (p *Plan) CheckedAt(now time.Time) time.Time { return clock.Latest(now, p.ScaleUpAt()) }

// Window returns the time during which the plan holds its targets.
func (p *Plan) Window() Window { return Window{PlanID: p.ID, From: p.ScaleUpAt(), To: p.ScaleDownAt()} }

// Target returns the target of a policy.
func (p *Plan) Target(policyID string) (Target, bool) {
	at := slices.IndexFunc(p.Targets, func(t Target) bool { return t.PolicyID == policyID })
	if at < 0 {
		return Target{}, false
	}
	return p.Targets[at], true
}

// Scaled returns the size that the plan scales target t to, from size s.
func (p *Plan) Scaled(t Target, s Size) (Size, error) {
	c, _ := t.CPU()
	return ByMultiplier(p.ExpectedMultiplier, c).Scale(s)
}

// PolicyIDs returns the IDs of the targets' policies.
func (p *Plan) PolicyIDs() []string {
	out := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		out[i] = t.PolicyID
	}
	return out
}

// CheckTimes validates the plan's times and refuses a past event. The error is fault.Invalid and names the field.
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

// show formats a time in the plan's zone, with the zone's offset.
func (p *Plan) show(at time.Time) string { return InZone(at, p.Timezone) }

// InZone formats a time in a zone, with the zone's offset. It uses at's own zone when the zone is unknown.
func InZone(at time.Time, zone string) string {
	if in, err := time.LoadLocation(zone); err == nil {
		at = at.In(in)
	}
	return at.Format(time.RFC3339)
}

// pk returns the partition key of an organization's plans.
func pk(org string) string { return table.OrgPK(org) + "EVENTPLAN" }

// Key returns the key of a plan.
func Key(org, planID string) table.Key { return table.Key{PK: pk(org), SK: planID} }

// deletedKey returns the key of a deleted plan.
func deletedKey(org, planID string) table.Key { return table.Key{PK: pk(org), SK: "DELETED#" + planID} }

// The sort keys of existing plans lie between these bounds.
const (
	first = "evt_"
	last  = "evt_~"
)

// WorkID returns the ID of the current dispatch's pending work and execution.
func (p *Plan) WorkID() string { return fmt.Sprintf("%s-r%d", p.ID, p.Run) }

// RollbackID returns the ID of the work that rolls back the current dispatch.
func (p *Plan) RollbackID() string { return fmt.Sprintf("%s-c%d", p.ID, p.Run) }
