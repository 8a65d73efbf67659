package evaluation

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Done tells what an evaluation did.
type Done struct {
	Ended  int `json:"ended"`  // overrides whose time was over
	Orders int `json:"orders"` // that were queued for schedules
	Fired  int `json:"fired"`  // crons that fired
}

// Evaluate does what is due in an organization at the minute that has begun, because of rows of the list, which it then takes off it. It may be called twice at once, and may be
// killed at any moment: what it did not come to, the next call does, and nothing twice.
func (s *Store) Evaluate(ctx context.Context, org string, minute int64, rows []Due) (Done, error) {
	ctx = table.WithOrg(ctx, org)
	var done Done
	ends, err := s.endOverrides(ctx, org)
	done.Ended = ends
	if err == nil {
		err = s.forget(ctx, rows)
	}
	return done, err
}

// endOverrides ends the overrides whose time is over. One that cannot be ended does not keep the others from being.
func (s *Store) endOverrides(ctx context.Context, org string) (n int, err error) {
	live, err := override.ReadLive(ctx, s.p.Table, org)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, h := range live.Expired(s.p.Clock.Now()) {
		_, err = s.EndOverride(ctx, org, h.ID, "")
		switch {
		case err == nil:
			n++
		case fault.Is(err, fault.NotFound):
			err = s.unlist(ctx, org, h.ID)
		case fault.Is(err, fault.Conflict): // another evaluator, or somebody, ends it
			err = nil
		}
		errs = append(errs, err)
	}
	return n, errors.Join(errs...)
}

// unlist takes an override off the list of those that live whose record is gone.
func (s *Store) unlist(ctx context.Context, org, overrideID string) error {
	return override.Change(ctx, s.p.Table, org, func(l override.Live) (override.Live, []table.Write, error) {
		return l.Without(overrideID), nil, nil
	})
}

// startOf returns when a minute begins.
func startOf(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
