package costquery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxDailyBytes is how much the questions of an organization may scan in a day (UTC): 1 TiB, for which Athena takes 5 US dollars.
const MaxDailyBytes int64 = 1 << 40

// TakeBytes counts what a question scans against the day's quota of its organization: one conditional write. A question that would exceed
// the quota is fault.Conflict and is not counted.
func TakeBytes(ctx context.Context, s table.Store, org string, scanned int64, now time.Time) error {
	day := now.UTC().Truncate(24 * time.Hour)
	end := day.Add(24 * time.Hour)
	key := RecordKey(org, "day#"+day.Format(time.DateOnly)) // before the ids of questions, which begin with qry_
	if scanned > MaxDailyBytes {
		return quotaError(scanned, end)
	}
	_, err := s.Write(ctx, table.Update(key, []table.Change{table.Add("bytes", scanned), table.Expire(end.Add(24 * time.Hour))},
		table.Any(table.Lacks("bytes"), table.LessEqual("bytes", MaxDailyBytes-scanned))))
	if _, over := errors.AsType[*table.ConditionError](err); over {
		return quotaError(scanned, end)
	}
	return fault.Wrap(fmt.Sprintf("count %d bytes of questions of %s", scanned, org), err)
}

func quotaError(scanned int64, end time.Time) error {
	return fault.New(fault.Conflict, "this question scans %d bytes, and the organization's questions may scan %d bytes a day together: ask about fewer months or "+
		"columns, or again after %s", scanned, MaxDailyBytes, end.Format(time.RFC3339))
}
