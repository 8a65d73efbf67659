package inventory

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// ClaimResource returns the write that makes the action the one in flight on the resource. It fails if another action
// is in flight, or if the resource is gone. Then table.ConditionError.Old holds the record, with the other action in
// ActionID and ActionType.
func ClaimResource(org, uid, actionID string, verb cloud.Verb) table.Write {
	return table.Update(ResourceKey(org, uid), []table.Change{
		table.Set("actionID", actionID), table.Set("actionType", string(verb)),
	}, table.Exists(), table.Lacks("actionID"))
}

// SettleResource returns the write that ends the action on the resource and records its new status. It fails if the
// action is no longer in flight.
func SettleResource(org, actionID string, left Seen) table.Write {
	return table.Update(ResourceKey(org, left.UID), []table.Change{
		table.Set("status", string(left.Status)), table.Set("statusAt", left.At.UnixMicro()),
		table.Remove("actionID"), table.Remove("actionType"),
	}, table.Equal("actionID", actionID))
}

// Seen is one observed status, for the index.
type Seen struct {
	UID    string
	Status cloud.Status
	At     time.Time
}

// ReleaseResource returns the write that ends the action on the resource and keeps its recorded status. It fails if
// the action is no longer in flight.
func ReleaseResource(org, uid, actionID string) table.Write {
	return table.Update(ResourceKey(org, uid), []table.Change{
		table.Remove("actionID"), table.Remove("actionType"),
	}, table.Equal("actionID", actionID))
}
