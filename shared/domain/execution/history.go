package execution

import (
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// StateChange is one item of the state history, as it is stored: a resource came into State.
type StateChange struct {
	ID             string         `json:"id"`
	ResourceUID    string         `json:"resourceUid"`
	State          string         `json:"state"`
	ChangedAt      time.Time      `json:"changedAt"`
	ChangedBy      string         `json:"changedBy"`
	ScheduleID     string         `json:"scheduleId,omitempty"`
	ExecutionState map[string]any `json:"executionState,omitempty"`
	ErrorMessage   string         `json:"errorMessage,omitempty"`
}

var escapes = strings.NewReplacer("%", "%25", ":", "%3A")

// ChangedBy makes the colon-delimited text that says who changed a state: kind and parts, each part escaped so that the
// text can be taken apart again.
func ChangedBy(kind string, parts ...string) string {
	var b strings.Builder
	b.WriteString(kind)
	for _, p := range parts {
		b.WriteByte(':')
		_, _ = escapes.WriteString(&b, p) // a builder never fails
	}
	return b.String()
}

// ChangedByType returns the kind of cause that a changedBy text begins with.
func ChangedByType(changedBy string) string {
	kind, _, _ := strings.Cut(changedBy, ":")
	return kind
}

// HistoryPK returns the partition of an organization's whole state history, oldest first.
func HistoryPK(org string) string { return table.OrgPK(org) + "HIST" }

// HistoryTypePK returns the partition of the changes of one kind of cause.
func HistoryTypePK(org, changedByType string) string { return HistoryPK(org) + "#T#" + changedByType }

// HistoryResourcePK returns the partition of the changes of one resource.
func HistoryResourcePK(org, uid string) string { return HistoryPK(org) + "#R#" + uid }

// historyCount is the sort key, before every id, of the number of changes in a resource's partition.
const historyCount = "!count"

// ResourceCountKey returns where the number of a resource's changes is kept.
func ResourceCountKey(org, uid string) table.Key {
	return table.Key{PK: HistoryResourcePK(org, uid), SK: historyCount}
}

// FirstChange is the lowest sort key of a change; the counts sort before it.
const FirstChange = "sh_"

// historyWrites makes the writes that put c on record: in the whole history, in that of its kind and in that of its resource.
func historyWrites(org string, c StateChange) ([]table.Write, error) {
	it, err := table.NewItem(table.Key{PK: HistoryPK(org), SK: c.ID}, c)
	if err != nil {
		return nil, err
	}
	byType, byResource := it, it
	byType.PK = HistoryTypePK(org, ChangedByType(c.ChangedBy))
	byResource.PK = HistoryResourcePK(org, c.ResourceUID)
	return []table.Write{
		table.Put(it), table.Put(byType), table.Put(byResource),
		table.Update(ResourceCountKey(org, c.ResourceUID), []table.Change{table.Add("n", 1)}),
	}, nil
}

// newChange returns the history item that an ended action leaves.
func newChange(o Outcome) StateChange {
	c := StateChange{
		ID: id.New("sh", o.At), ResourceUID: o.Action.ResourceUID, State: string(o.Action.Action.WantedStatus()),
		ChangedAt: o.At, ChangedBy: o.Action.ChangedBy,
	}
	if o.Status == Failed {
		c.State, c.ErrorMessage = "failed", o.Message
	}
	return c
}
