package costquery

import (
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxDailyBytes is the most bytes that the questions of an organization may scan in a day (UTC): 1 TiB, which costs 5
// US dollars in Athena.
const MaxDailyBytes int64 = 1 << 40

// CountBytes returns the write that counts the scanned bytes of a question against its organization's quota of the
// day. Its condition fails if the question would exceed the quota: see ErrQuota.
func CountBytes(org string, scanned int64, now time.Time) table.Write {
	day := now.UTC().Truncate(24 * time.Hour)
	key := RecordKey(org, "day#"+day.Format(time.DateOnly)) // sorts before the IDs of questions, which begin with qry_
	room := table.LessEqual("bytes", MaxDailyBytes-scanned)
	if scanned <= MaxDailyBytes {
		room = table.Any(table.Lacks("bytes"), room)
	}
	return table.Update(key, []table.Change{table.Add("bytes", scanned), table.Expire(day.Add(48 * time.Hour))}, room)
}

// ErrQuota returns the error (fault.Conflict) for a question that would exceed the quota of the day of now.
func ErrQuota(scanned int64, now time.Time) error {
	end := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return fault.New(fault.Conflict,
		"this question scans %d bytes, and the organization's questions may scan %d bytes a day together: ask about "+
			"fewer months or "+
			"columns, or again after %s", scanned, MaxDailyBytes, end.Format(time.RFC3339))
}
