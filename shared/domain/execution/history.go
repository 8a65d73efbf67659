package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// StateChange is one stored item of the state history: the resource changed to State.
type StateChange struct {
	ID             string         `json:"id"`
	ResourceUID    string         `json:"resourceUid"`
	State          string         `json:"state"`
	ChangedAt      time.Time      `json:"changedAt"`
	ChangedBy      string         `json:"changedBy"`
	ScheduleID     string         `json:"scheduleId,omitempty"`
	ExecutionState map[string]any `json:"executionState,omitempty"`
	ErrorMessage   string         `json:"errorMessage,omitempty"`
	Force          bool           `json:"force,omitempty"`
}

var escapes = strings.NewReplacer("%", "%25", ":", "%3A")

// ChangedBy returns the colon-delimited text for the author of a change: kind and parts, each part escaped so that the
// text can be parsed again.
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

func history(org string) table.Spread {
	return table.Spread{PK: table.OrgPK(org) + "HIST", Shards: historyShards}
}

// HistoryPKs returns the partitions of an organization's whole state history, each oldest first.
func HistoryPKs(org string) []string { return history(org).PKs() }

// HistoryResourcePK returns the partition of the changes of one resource.
func HistoryResourcePK(org, uid string) string { return table.OrgPK(org) + "HIST#R#" + uid }

// FirstChange is the lowest sort key of a change. Counts, which earlier versions kept in a resource's partition, sort
// before it.
const FirstChange = "sh_"

// ReadResourceTotal counts the changes of a resource. It takes one round trip per thousand, and 27 read units for a
// year of working days. A stored count would cost a write with each change, and few are ever read.
func ReadResourceTotal(ctx context.Context, s table.Store, org, uid string) (int, error) {
	items, err := readAll(ctx, s, table.Query{PK: HistoryResourcePK(org, uid), From: FirstChange})
	if err != nil {
		return 0, fmt.Errorf("count how often %s changed: %w", uid, err)
	}
	return len(items), nil
}

// historyWrites returns the writes that record c until end: in the history of the organization and in that of its
// resource.
func historyWrites(org string, c StateChange, end time.Time) ([]table.Write, error) {
	it, err := table.NewItem(history(org).Key(c.ID), c)
	if err != nil {
		return nil, err
	}
	it.Expires = end
	byResource := it
	byResource.PK = HistoryResourcePK(org, c.ResourceUID)
	return []table.Write{table.Put(it), table.Put(byResource)}, nil
}

// RecordChanges records and counts state changes without an action: the past of a demo.
func RecordChanges(ctx context.Context, s table.Store, org string, changes ...StateChange) error {
	var ws []table.Write
	counts := map[time.Time]int64{}
	for _, c := range changes {
		end := Retention(0).Until(c.ChangedAt)
		both, err := historyWrites(org, c, end)
		if err != nil {
			return err
		}
		ws = append(ws, both...)
		counts[end]++
	}
	if err := s.BatchWrite(ctx, ws...); err != nil {
		return fmt.Errorf("record changes of states: %w", err)
	}
	for end, n := range counts {
		count := CountItems(org, ItemCount{List: HistoryList, Number: n, Expires: end, ShardBy: org})
		if _, err := s.Write(ctx, count); err != nil {
			return fmt.Errorf("count changes of states: %w", err)
		}
	}
	return nil
}

// newChange returns the history item of an ended action.
func newChange(o Outcome) StateChange {
	c := StateChange{
		ID: id.New("sh", o.At), ResourceUID: o.Action.ResourceUID, State: string(o.Action.Action.WantedStatus()),
		ChangedAt: o.At, ChangedBy: o.Action.ChangedBy, ScheduleID: o.Action.ScheduleID, Force: o.Action.Force,
		ExecutionState: executionState(o.Action.Action, o.Steps),
	}
	if o.Status == Failed {
		c.State, c.ErrorMessage = "failed", o.Message
	}
	return c
}

// executionState returns the states of the steps of a resource that is stopped and started in steps, in the order of
// verb, and the current step: the first that is not in the desired state, or the last. It returns nil for other
// resources.
func executionState(verb cloud.Verb, steps []cloud.Step) map[string]any {
	if len(steps) == 0 {
		return nil
	}
	steps = slices.Clone(steps)
	if verb == cloud.Start {
		slices.Reverse(steps)
	}
	at := steps[len(steps)-1]
	if i := slices.IndexFunc(steps, func(s cloud.Step) bool { return s.Status != verb.WantedStatus() }); i >= 0 {
		at = steps[i]
	}
	return map[string]any{"step": at.Name, "status": at.Status, "steps": steps}
}
