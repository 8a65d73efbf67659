package execution

import (
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/event"
)

// About is the description of an ended action's resource for notifications, as of that moment.
type About struct {
	Name        string   // name of the resource; empty if the inventory does not know it
	AccountName string   // name of its cloud account
	GroupIDs    []string // the groups that it is in
	TeamIDs     []string // the teams that own it
	GroupID     string   // the group that the bulk action is on, if any
}

// Told is the data of the event of a resource that an action has started or stopped, or failed to.
type Told struct {
	ActionID       string     `json:"actionID"`
	Action         cloud.Verb `json:"action"`
	ResourceUID    string     `json:"resourceUID"`
	ResourceName   string     `json:"resourceName"`
	ResourceType   string     `json:"resourceType"`
	Provider       string     `json:"provider"`
	Region         string     `json:"region"`
	CloudAccountID string     `json:"cloudAccountID"`
	CloudAccount   string     `json:"cloudAccount"`           // its name
	BulkActionID   string     `json:"bulkActionID,omitempty"` // the bulk action of this action
	GroupID        string     `json:"groupID,omitempty"`      // the group of the bulk action
	ScheduleID     string     `json:"scheduleID,omitempty"`
	Reason         string     `json:"reason"` // the trigger: "manual", "schedule", …
	ChangedBy      string     `json:"changedBy"`
	Attempts       int        `json:"attempts"`
	Force          bool       `json:"force,omitempty"` // it was asked for against overrides and event readiness plans
	ErrorMessage   string     `json:"errorMessage,omitempty"`
}

// keys returns the keys of the outcome's events. An action that found the resource in the desired state has none: the
// executor has started or stopped nothing.
func (o *Outcome) keys() []string {
	switch {
	case o.About == nil:
		return nil
	case o.Status == Failed && o.Exhausted:
		return []string{event.ResourceFailed, event.ResourceRetryExhausted}
	case o.Status == Failed:
		return []string{event.ResourceFailed}
	case !o.Changed:
		return nil
	case o.Action.Action == cloud.Start:
		return []string{event.ResourceStarted}
	default:
		return []string{event.ResourceStopped}
	}
}

// events returns the events of the outcome.
func (o *Outcome) events() ([]event.Event, error) {
	keys := o.keys()
	if len(keys) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(o.told())
	if err != nil {
		return nil, fmt.Errorf("encode events of %s: %w", o.Action.ID, err)
	}
	out := make([]event.Event, len(keys))
	for i, key := range keys {
		out[i] = event.Event{
			Key: key, ScopeType: event.ScopeResource, ScopeID: o.Action.ResourceUID, At: o.At, Subject: o.Action.ID,
			Data:   data,
			Within: event.Belongs(o.Action.CloudAccountID, o.About.GroupIDs, o.About.TeamIDs),
		}
		out[i].ID = event.IDOf(&out[i], o.Action.ID+"/"+key)
	}
	return out, nil
}

func (o *Outcome) told() Told {
	a := &o.Action
	return Told{
		ActionID: a.ID, Action: a.Action, ResourceUID: a.ResourceUID, ResourceName: o.About.Name,
		ResourceType: a.ResourceType,
		Provider:     a.Provider, Region: a.Region, CloudAccountID: a.CloudAccountID, CloudAccount: o.About.AccountName,
		BulkActionID: a.BulkActionID, GroupID: o.About.GroupID, ScheduleID: a.ScheduleID, Reason: a.Reason,
		ChangedBy: a.ChangedBy,
		Attempts:  a.Attempts, Force: a.Force, ErrorMessage: o.Message,
	}
}

// tellAll adds the write that stores the events of the outcomes, in one row.
func (b *batch) tellAll(outcomes []Outcome) error {
	var all []event.Event
	for i := range outcomes {
		some, err := outcomes[i].events()
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil
	}
	w, err := event.PutAll(b.org, all)
	if err == nil {
		b.writes = append(b.writes, w)
	}
	return err
}
