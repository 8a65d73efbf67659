package cloud

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// Facts are the inputs of the waste rules, under the names and in the units of the rules' facts.csv: text, bool,
// number (float64), list of texts, or time.Time. A value that is known to be absent is "", 0, false, an empty list, or
// Never. A value that is unknown (a denied call, an API that does not report it) is left out, so that a rule which
// needs it answers "unknown" and not "no".
type Facts map[string]any

// Since is the value of a fact that is a time which no provider tells: since when the resource has been as it is, by
// our own first sight of it. The inventory puts the time there, and keeps it for as long as the fact is told so.
type Since struct{}

// Epoch and Never are the times for known absence. Epoch stands for an event that would have to be long ago to matter,
// Never for a state that has not begun.
var (
	Epoch = time.Unix(0, 0).UTC()
	Never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// Sum returns a checksum of the facts, 0 for no facts. Discovery compares it, so that it need not read the facts that
// it wrote. It has 32 bits, because an index in memory holds one for each resource; a change is missed until the next
// one in one of 4 billion cases.
func (f Facts) Sum() int64 {
	if len(f) == 0 {
		return 0
	}
	h := fnv.New32a()
	if err := json.NewEncoder(h).Encode(f); err != nil {
		return -1 // of a value that is none of Facts: the record will refuse it, and says so
	}
	return max(int64(h.Sum32()), 1)
}

// TellSince reports whether a fact of them is a Since.
func (f Facts) TellSince() bool {
	for _, v := range f {
		if _, since := v.(Since); since {
			return true
		}
	}
	return false
}

// MarkSince returns the facts with at in the place of each Since, unless the earlier facts hold its time.
func (f Facts) MarkSince(earlier Facts, at time.Time) Facts {
	if !f.TellSince() {
		return f
	}
	out := maps.Clone(f)
	for name, v := range f {
		if _, since := v.(Since); !since {
			continue
		}
		if had, known := earlier[name].(string); known && had < Never.Format(time.RFC3339) {
			out[name] = had
		} else {
			out[name] = at.UTC().Format(time.RFC3339)
		}
	}
	return out
}

// Unread is the fact that tells which others are missing because a call for them failed, and how: "logging:
// s3:GetBucketLogging: AccessDenied". A fact that is missing without it is one that the provider does not tell.
const Unread = "unread"

// Miss notes that facts could not be read, and why, in words that are the same each time: a rule which needs one of
// them answers "unknown" and not "no".
func (f Facts) Miss(why string, names ...string) {
	list, _ := f[Unread].([]string)
	for _, n := range names {
		list = append(list, n+": "+why)
	}
	slices.Sort(list)
	f[Unread] = slices.Compact(list)
}
