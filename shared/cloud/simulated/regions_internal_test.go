package simulated

import (
	"testing"

	"lamplighter.dev/shared/cloud"
)

// A request is refused by cloud.IsRegion before this cloud is asked, so both must name the same regions.
func TestRegionNames_AreThoseThatRequestsMayName(t *testing.T) {
	for _, name := range regionNames {
		if !cloud.IsRegion("simulated", name) {
			t.Errorf("a request with the region %s would be refused", name)
		}
	}
}
