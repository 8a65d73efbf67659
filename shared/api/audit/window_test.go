package audit

import (
	"testing"
	"time"
)

// Sort keys have 13 digits of milliseconds, enough until the year 2286. A client may name a later year for an open end.
func TestAWindowMayEndInAnyYear(t *testing.T) {
	key := sortKey(noon, 1)
	for _, year := range []int{1, 1969, 2025, 2100, 2286, 2287, 2300, 2500, 2600, 9999} {
		at := time.Date(year, 12, 31, 0, 0, 0, 1, time.UTC)
		from, _ := WindowKeys(at, time.Time{})
		_, to := WindowKeys(time.Time{}, at)
		if before := at.Before(noon); (from <= key) != before || (key < to) == before {
			t.Errorf("%d: a row of %d: from %q, to %q", year, noon.Year(), from, to)
		}
	}
}
