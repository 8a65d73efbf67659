package notification

import (
	"context"
	"errors"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// RecordHealth stores the health of a channel and returns its name. For a legacy configuration it stores nothing and
// returns a name. It returns fault.NotFound when the receiver does not exist. It takes one round trip, and one more
// when the health has changed.
func (s *Store) RecordHealth(ctx context.Context, org string, t delivery.Target, h delivery.Health) (string, error) {
	if t.Kind == delivery.Legacy {
		l, err := s.ReadLegacy(ctx, org, t.ID)
		return string(l.Channel) + " " + l.ID, err
	}
	c, err := s.ReadChannel(ctx, org, t.ID)
	if err != nil {
		return "", err
	}
	return c.Name, s.noteHealth(ctx, org, &c, h)
}

// noteHealth stores the health of a channel, as it was read, if the health has changed. It stores nothing when the
// channel has changed since, because it may have a new address.
func (s *Store) noteHealth(ctx context.Context, org string, c *Channel, h delivery.Health) error {
	next := Channel{FailingAt: c.FailingAt}
	if h.Failing && next.FailingAt.IsZero() {
		next.FailingAt = h.At
	}
	if h.Gone {
		next.BrokenAt = h.At
	}
	was := Channel{FailingAt: c.FailingAt, BrokenAt: c.BrokenAt}
	if was.Status() == next.Status() && h.Failing || !h.Failing && was.Status() == "ok" {
		return nil
	}
	changes := []table.Change{table.Remove("failingAt"), table.Remove("brokenAt"), table.Remove("brokenWhy")}
	if h.Failing {
		changes = []table.Change{table.Set("failingAt", next.FailingAt), table.Set("brokenWhy", h.Why)}
	}
	if h.Gone {
		changes = append(changes, table.Set("brokenAt", next.BrokenAt))
	}
	_, err := s.table.Write(table.WithoutAttachment(ctx),
		table.Update(ChannelKey(org, c.ID), changes, table.Equal("generation", c.Generation)))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return nil
	}
	return fault.Wrap("note how channel "+c.ID+" is", err)
}

var _ delivery.HealthRecorder = (*Store)(nil)
