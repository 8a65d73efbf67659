package inventory

import (
	"testing"
	"time"
)

func TestResource_ExistsSinceItsCreationOrItsDiscovery(t *testing.T) {
	created := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	seen := created.Add(48 * time.Hour)
	for name, tt := range map[string]struct {
		resource Resource
		want     time.Time
	}{
		"with a creation":            {Resource{CreatedAt: created, DiscoveredAt: seen}, created},
		"of an unknown creation":     {Resource{DiscoveredAt: seen}, seen},
		"that nobody has discovered": {Resource{}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.resource.Since(); !got.Equal(tt.want) {
				t.Errorf("since %s, want %s", got, tt.want)
			}
		})
	}
}
