package cloud

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// Facts are what waste is judged by, by the names and in the units of facts.csv of the rules: text, bool, number (float64), list of
// texts, or time.Time. What is known to be absent stands there as "", 0, false, an empty list, or Never; what is not known (a call
// that was denied, an API that does not say) is left out, so that a rule which needs it answers "unknown" and not "no".
type Facts map[string]any

// Since is the value of a fact that is a time which no provider tells: since when the resource has been as it is, by our own first
// sight of it. The inventory puts the time there, and keeps it for as long as the fact is told so.
type Since struct{}

// Epoch and Never are the times that stand for known absence: of what would have to be long ago to matter, and of what has
// not begun.
var (
	Epoch = time.Unix(0, 0).UTC()
	Never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// Sum is a checksum of the facts, 0 of none: what discovery compares, so that it need not read the facts that it wrote. Of 32 bits,
// for each resource of an index in memory has one; a change goes unseen until the next one in one of 4 billion cases.
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

// MarkSince returns the facts with at in the place of each Since, but for those of which earlier facts know the time.
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

// Unread is the fact that tells which others are missing because a call for them failed, and how: "logging: s3:GetBucketLogging:
// AccessDenied". A fact that is missing without it is one that the provider does not tell.
const Unread = "unread"

// Miss notes that facts could not be read, and why, in words that are the same each time: a rule which needs one of them answers
// "unknown" and not "no".
func (f Facts) Miss(why string, names ...string) {
	list, _ := f[Unread].([]string)
	for _, n := range names {
		list = append(list, n+": "+why)
	}
	slices.Sort(list)
	f[Unread] = slices.Compact(list)
}
