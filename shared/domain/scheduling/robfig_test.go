package scheduling

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"lamplighter.dev/shared/testkit/seed"
)

// TestCron_Robfig compares the next firing with that of the independent github.com/robfig/cron, in zones without
// clock changes. In other zones robfig/cron skips a day with a gap, see docs/decisions/020-a-cron-of-our-own.md.
func TestCron_Robfig(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	r := seed.Fixed(t, 5, 6)
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	zones := []*time.Location{
		time.UTC, mustZone(t, "Asia/Kolkata"), mustZone(t, "Asia/Kathmandu"),
		mustZone(t, "Asia/Tokyo"),
	}
	compared := 0
	for compared < n {
		text, c, o := parseRandom(t, r)
		if strings.Contains(o[4], "7") {
			continue // robfig/cron does not accept 7 as Sunday
		}
		theirs, err := parser.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		loc := zones[r.IntN(len(zones))]
		at := time.Date(2007+r.IntN(40), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
		want := theirs.Next(at.In(loc))
		if want.IsZero() {
			continue // robfig/cron gives up after five years, ours after the eight years around 2100
		}
		if got, ok := c.Next(at, loc); !ok || !got.Equal(want) {
			t.Fatalf("%q in %s after %s: got %s, %v; want %s", text, loc, at, got, ok, want)
		}
		compared++
	}
	t.Logf("%d compared", compared)
}
