package execution

import (
	"encoding/json"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// SnapshotPartition holds the settings of resources that providers lose at a stop. The next start restores them.
const SnapshotPartition table.Partition = "ORG#*#SNAP"

// SnapshotKey returns where the snapshot of a resource is stored.
func SnapshotKey(org, uid string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SNAP", SK: uid}
}

// Snapshot is the saved settings of a resource at a stop, and the id of that action. UsedBy is the start that restored
// them.
type Snapshot struct {
	ActionID string          `json:"actionID"`
	Snapshot json.RawMessage `json:"snapshot"`
	UsedBy   string          `json:"usedBy,omitempty"`
	// KeepUntil is set while the resource runs and its provider has not yet restored its size after an event. A stop
	// before this time, in Unix seconds, keeps this snapshot instead of the current size. No start uses it.
	KeepUntil int64 `json:"keepUntil,omitempty"`
}

// IsFor reports whether a start restores the snapshot: no other start has restored it, and a stop has made it.
func (s Snapshot) IsFor(startID string) bool {
	return s.KeepUntil == 0 && (s.UsedBy == "" || s.UsedBy == startID)
}

// StartProblem returns why a new start cannot restore a stopped resource of a kind with a saved size. It returns "" if
// it can. The zero Snapshot means that there is none.
func (s Snapshot) StartProblem() string {
	switch {
	case len(s.Snapshot) == 0 || !s.IsFor(""):
		return "its size before it was stopped is not known: set the size that it should have in its cloud, which " +
			"starts it"
	case cloud.IsOff(s.Snapshot):
		return "it had 0 instances before it was stopped, and a start leaves it so: set its capacity"
	}
	return ""
}
