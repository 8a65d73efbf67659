// Package execution asks for starts and stops of resources and keeps their records: the action and its execution log,
// the bulk action, the state history, and the one transaction that ends an action.
package execution

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// Status is the status of an action: pending → running → succeeded | failed, and pending → failed when it is cancelled
// or its account is gone.
type Status string

// The statuses of an action. Queued is only the answer to a submission, and never a stored status.
const (
	Queued    Status = "queued"
	Pending   Status = "pending"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
)

// IsFinal reports whether the status is a last one.
func (s Status) IsFinal() bool { return s == Succeeded || s == Failed }

// Action is one start or stop of one resource, as it is stored.
type Action struct {
	ID             string     `json:"id"`
	ResourceUID    string     `json:"resourceUID"`
	ResourceType   string     `json:"resourceType"`
	Provider       string     `json:"provider"`
	CloudAccountID string     `json:"cloudAccountID"`
	Region         string     `json:"region"`
	Action         cloud.Verb `json:"action"`
	Reason         string     `json:"reason"`
	Status         Status     `json:"status"`
	Attempts       int        `json:"attempts"`
	BulkActionID   string     `json:"bulkActionID,omitempty"`
	ChangedBy      string     `json:"changedBy"`
	ScheduleID     string     `json:"scheduleID,omitempty"`
	Force          bool       `json:"force,omitempty"` // it was asked for against overrides and event readiness plans
	ErrorMessage   string     `json:"errorMessage,omitempty"`
	Logs           []Log      `json:"logs"`
	CreatedAt      time.Time  `json:"createdAt"`
	StartedAt      time.Time  `json:"startedAt,omitzero"`
	CompletedAt    time.Time  `json:"completedAt,omitzero"`
	Progress       *Progress  `json:"progress,omitempty"`
	// Idle marks a running action whose provider has no capacity for the start. Nothing is under way until the next
	// try, so the action may be cancelled like a pending one.
	Idle bool `json:"idle,omitempty"`
}

// Progress is the state of an action that the executor keeps between two runs. It is stored, and never returned to
// callers.
type Progress struct {
	Claimed bool      `json:"claimed"`           // the action is the one in flight on its resource
	Errors  int       `json:"errors,omitempty"`  // attempts that failed
	ActedAt time.Time `json:"actedAt,omitzero"`  // when the provider was last asked to act
	NextAt  time.Time `json:"nextAt,omitzero"`   // not before this is it tried again
	Last    string    `json:"last,omitempty"`    // the last error
	Changed bool      `json:"changed,omitempty"` // the provider was asked at least once: the resource's change is ours
	Chunk   string    `json:"chunk,omitempty"`   // of a bulk action: the sort key of its chunk, which counts the end
	Keep    Retention `json:"keep,omitempty"`    // as the organization had it when the action was made
	Short   time.Time `json:"short,omitzero"`    // since when the provider has no capacity for the start
	Shorts  int       `json:"shorts,omitempty"`  // how often it has said so
	// the opposite action in flight; this action waits for its end
	Behind string `json:"behind,omitempty"`
}

// Log is one line of an execution log.
type Log struct {
	At      time.Time `json:"at"`
	Step    string    `json:"step" enum:"intent,execute,verify,record" doc:"The step of the action"`
	Status  string    `json:"status" enum:"ok,waiting,retry,failed"`
	Message string    `json:"message"`
}

// maxLogs limits the lines of an execution log. The first lines and the last ones are kept.
const maxLogs = 50

// AppendLog adds a line to the action's log, unless it equals the line before.
func (a *Action) AppendLog(at time.Time, step, status, message string) {
	if n := len(a.Logs); n > 0 && a.Logs[n-1].Step == step && a.Logs[n-1].Message == message {
		return
	}
	if len(a.Logs) >= maxLogs {
		a.Logs = append(a.Logs[:maxLogs/2], a.Logs[maxLogs/2+1:]...)
	}
	a.Logs = append(a.Logs, Log{At: at, Step: step, Status: status, Message: message})
}

// IsUnderWay reports whether the provider may be carrying out the action. Then it can no longer be cancelled.
func (a Action) IsUnderWay() bool { return a.Status == Running && !a.Idle }

// WithoutInternals returns the action as clients see it.
func (a Action) WithoutInternals() Action {
	a.Progress, a.Idle = nil, false
	if a.Logs == nil {
		a.Logs = []Log{}
	}
	return a
}

// actionShards and historyShards are the numbers of partitions of the two lists. A bulk action of 10,000 writes more
// than one partition takes, and a page of a list reads each of them.
const (
	actionShards  = 4
	historyShards = 4
)

func actions(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "ACT", Shards: actionShards}
}

// ActionPKs returns the partitions of an organization's actions, each oldest first.
func ActionPKs(org string) []string { return actions(org).PKs() }

// ActionKey returns where an action is stored.
func ActionKey(org, actionID string) table.Key { return actions(org).Key(actionID) }

// NewActionItem returns the item of a new action. It expires with all actions of the same month.
func NewActionItem(org string, a Action) (table.Item, error) {
	it, err := table.NewItem(ActionKey(org, a.ID), a)
	it.Expires = a.ends()
	return it, err
}

// ends returns when the action expires.
func (a Action) ends() time.Time { return a.keep().Until(id.TimeOf(a.ID)) }

// keep returns the retention of the action and its records.
func (a Action) keep() Retention {
	if a.Progress == nil {
		return 0
	}
	return a.Progress.Keep
}
