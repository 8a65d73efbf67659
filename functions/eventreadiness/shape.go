package eventreadiness

import (
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
)

// EventPlan is a plan as clients see it.
type EventPlan struct {
	ID                 string           `json:"id" example:"evt_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	OrgID              string           `json:"orgId"`
	Name               string           `json:"name"`
	Description        string           `json:"description"`
	EventStart         time.Time        `json:"eventStart"`
	EventEnd           time.Time        `json:"eventEnd"`
	PreScaleMinutes    int64            `json:"preScaleMinutes"`
	PostEventMinutes   int64            `json:"postEventMinutes"`
	ExpectedMultiplier rest.Number      `json:"expectedMultiplier"`
	Timezone           string           `json:"timezone" example:"Europe/Berlin"`
	Status             readiness.Status `json:"status" enum:"draft,scheduling,scheduled,scaling_up,active,scaling_down,completed,cancelled,failed"`
	Targets            []EventTarget    `json:"targets"`
	CreatedAt          time.Time        `json:"createdAt"`
	UpdatedAt          time.Time        `json:"updatedAt"`
	CreatedBy          string           `json:"createdBy" doc:"The mail address of its creator"`
	ScaleUpAt          time.Time        `json:"scaleUpAt" doc:"eventStart minus preScaleMinutes"`
	ScaleDownAt        time.Time        `json:"scaleDownAt" doc:"eventEnd plus postEventMinutes"`
	Message            *string          `json:"message" doc:"Why the plan failed, or a remark on its end; else null"`
}

// EventTarget is a target of a plan: a policy and its captured capacity.
type EventTarget struct {
	PolicyID        string `json:"policyId"`
	OriginalMin     int64  `json:"originalMin"`
	OriginalMax     int64  `json:"originalMax"`
	OriginalDesired int64  `json:"originalDesired"`
}

func showPlan(p readiness.Plan) EventPlan {
	targets := make([]EventTarget, len(p.Targets))
	for i, t := range p.Targets {
		targets[i] = EventTarget{t.PolicyID, t.OriginalMin, t.OriginalMax, t.OriginalDesired}
	}
	return EventPlan{
		ID: p.ID, OrgID: p.Org, Name: p.Name, Description: p.Description, EventStart: p.EventStart,
		EventEnd:        p.EventEnd,
		PreScaleMinutes: p.PreScaleMinutes, PostEventMinutes: p.PostEventMinutes,
		ExpectedMultiplier: rest.NumberOf(p.ExpectedMultiplier.Amount()),
		Timezone:           p.Timezone, Status: p.Status, Targets: targets, CreatedAt: p.CreatedAt,
		UpdatedAt: p.UpdatedAt,
		CreatedBy: p.CreatedBy,
		ScaleUpAt: p.ScaleUpAt(), ScaleDownAt: p.ScaleDownAt(), Message: rest.Optional(p.Message),
	}
}

// EventTargetName names a target in a body.
type EventTargetName struct {
	PolicyID string `json:"policyId" minLength:"1" maxLength:"64" doc:"An autoscaler policy"`
}

// EventTimes holds the fields that the bodies of plans and previews share.
type EventTimes struct {
	EventStart         rest.Time         `json:"eventStart"`
	EventEnd           rest.Time         `json:"eventEnd"`
	PreScaleMinutes    *int64            `json:"preScaleMinutes,omitempty" minimum:"0" maximum:"1440" doc:"30 when absent"`
	PostEventMinutes   *int64            `json:"postEventMinutes,omitempty" minimum:"0" maximum:"1440" doc:"30 when absent"`
	ExpectedMultiplier rest.Number       `json:"expectedMultiplier" doc:"Multiple of the usual load: above 0, at most 100"`
	Targets            []EventTargetName `json:"targets" minItems:"1" maxItems:"20"`
}

// NewEventPlan is the body of POST /event-readiness.
type NewEventPlan struct {
	Name        string `json:"name" minLength:"1" maxLength:"128"`
	Description string `json:"description,omitempty" maxLength:"2000"`
	Timezone    string `json:"timezone" maxLength:"64" doc:"IANA"`
	EventTimes
}

// EventPlanPatch is the body of PUT /event-readiness/{eventID}.
type EventPlanPatch struct {
	Name               rest.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Description        rest.Patch[string]            `json:"description,omitzero" maxLength:"2000" doc:"null clears it"`
	EventStart         rest.Patch[rest.Time]         `json:"eventStart,omitzero"`
	EventEnd           rest.Patch[rest.Time]         `json:"eventEnd,omitzero"`
	PreScaleMinutes    rest.Patch[int64]             `json:"preScaleMinutes,omitzero" minimum:"0" maximum:"1440"`
	PostEventMinutes   rest.Patch[int64]             `json:"postEventMinutes,omitzero" minimum:"0" maximum:"1440"`
	ExpectedMultiplier rest.Patch[rest.Number]       `json:"expectedMultiplier,omitzero"`
	Timezone           rest.Patch[string]            `json:"timezone,omitzero" maxLength:"64"`
	Targets            rest.Patch[[]EventTargetName] `json:"targets,omitzero" minItems:"1" maxItems:"20"`
}

// EventPlanPath names a plan in a path. It is exported because the framework ignores unexported embedded structs.
type EventPlanPath struct {
	EventID string `path:"eventID" maxLength:"64"`
}

// EventDispatch answers a request that dispatches or cancels a plan.
type EventDispatch struct {
	Message string `json:"message"`
	EventID string `json:"eventId"`
}
