package receiver

import (
	"context"
	"errors"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// RecordHealth stores the health of a receiver and returns its name. It returns fault.NotFound when the receiver does
// not exist. It stores nothing when the receiver has changed since it was read, because it may have a new address. It
// takes one round trip, and one more when the health has changed.
func (s *Store[T, P]) RecordHealth(ctx context.Context, org string, t delivery.Target, h delivery.Health) (string,
	error,
) {
	r, err := s.Read(ctx, org, t.ID)
	if err != nil {
		return "", err
	}
	b := P(&r).Base()
	if h.Failing == !b.FailingAt.IsZero() {
		return b.Name, nil
	}
	changes := []table.Change{table.Remove("failingAt"), table.Remove("failingWhy")}
	if h.Failing {
		changes = []table.Change{table.Set("failingAt", h.At), table.Set("failingWhy", h.Why)}
	}
	_, err = s.table.Write(ctx, table.Update(s.kind.Key(org, b.ID), changes, table.Equal("generation", b.Generation)))
	if _, changed := errors.AsType[*table.ConditionError](err); changed {
		return b.Name, nil
	}
	return b.Name, fault.Wrap("note how "+b.ID+" stands", err)
}
