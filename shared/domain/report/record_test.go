package report

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory"
)

func TestNothingIsSeenLastBeforeItIsDiscovered(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct{ seen, want time.Time }{
		"a listing is dated back": {noon.Add(-30 * time.Second), noon},
		"a later scan found it":   {noon.Add(time.Hour), noon.Add(time.Hour)},
	} {
		if got := lastSeen(inventory.Resource{DiscoveredAt: noon, LastSeenAt: c.seen}); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
