package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// maxTexts is how many different texts are kept. Few facts have many values: states, types and zones repeat.
const maxTexts = 4_096

// maxKeptText is the length of the longest text that is kept.
const maxKeptText = 64

// texts keeps the values of texts and times that occur again, so that reading them allocates nothing.
type texts struct {
	words map[string]ref.Val
	times map[string]ref.Val
}

func newTexts() *texts { return &texts{map[string]ref.Val{}, map[string]ref.Val{}} }

// text returns the value of a text.
func (t *texts) text(s string) ref.Val {
	if v, ok := t.words[s]; ok {
		return v
	}
	return t.keep(t.words, s, types.String(s))
}

// bytes returns the value of a text in a buffer.
func (t *texts) bytes(b []byte) ref.Val {
	if v, ok := t.words[string(b)]; ok {
		return v
	}
	s := string(b)
	return t.keep(t.words, s, types.String(s))
}

// time returns the value of a time in RFC 3339, or nil if it is none.
func (t *texts) time(b []byte) ref.Val {
	if v, ok := t.times[string(b)]; ok {
		return v
	}
	at, err := time.Parse(time.RFC3339, string(b))
	if err != nil {
		return nil
	}
	return t.keep(t.times, string(b), timeValue(at.UTC()))
}

// The earliest and the latest time of a fact. A duration of cel holds 292 years: with an earlier or later time, such as
// cloud.Never, "now - res.stopped_at" would fail instead of being long or negative.
var (
	earliest = time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// timeValue returns a time between earliest and latest.
func timeValue(at time.Time) ref.Val {
	switch {
	case at.Before(earliest):
		at = earliest
	case at.After(latest):
		at = latest
	}
	return types.Timestamp{Time: at}
}

func (t *texts) keep(in map[string]ref.Val, s string, v ref.Val) ref.Val {
	if len(s) <= maxKeptText {
		if len(in) >= maxTexts {
			clear(in)
		}
		in[s] = v
	}
	return v
}
