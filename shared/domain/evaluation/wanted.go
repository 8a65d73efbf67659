package evaluation

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
)

// wanted returns what the schedules want of members at the time at, by their ids; what they want nothing of is missing.
func (s *Store) wanted(_ context.Context, _ string, _ []inventory.Member, _ time.Time) (map[string]cloud.Verb, error) {
	return map[string]cloud.Verb{}, nil
}

// NextStop returns when the schedules stop the first of members after the time at; the zero time when they never do.
func (s *Store) NextStop(_ context.Context, _ string, _ []inventory.Member, _ time.Time) (time.Time, error) {
	return time.Time{}, nil
}
