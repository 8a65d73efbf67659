package discovery

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/engine/table"
)

// TestAPass_CostsFewStatesAndUnits counts the cost in AWS of a pass over a thousand unchanged resources: the paid
// states of Step Functions and the units of the table.
func TestAPass_CostsFewStatesAndUnits(t *testing.T) {
	s := newFixture(t, settings{"size": "1000", "regions": "17", "stopped": "0"})
	s.runPass(discovery.Succeeded)
	s.clk.Advance(24 * time.Hour)
	s.noteCollection()
	s.runPass(discovery.Succeeded) // measures the day before, once a day
	s.states.Store(0)
	s.usage.sum = table.Usage{}
	s.clk.Advance(6 * time.Hour)
	j, sum := s.runPass(discovery.Succeeded)
	if sum.Unchanged != 1000 || j.Partitions != 17*7 {
		t.Fatalf("%+v: %+v; want 1,000 unchanged", j, sum)
	}
	used := s.usage.sum
	t.Logf("%d states; %d round trips, %.1f read units, %.0f write units", s.states.Load(), used.RoundTrips,
		used.ReadUnits, used.WriteUnits)
	if n := s.states.Load(); n > 9 {
		t.Errorf("%d states; want at most 9", n)
	}
	if used.WriteUnits > 32 {
		t.Errorf("%.0f write units; want at most 32", used.WriteUnits)
	}
}
