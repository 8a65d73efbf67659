package billingsync_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// costRacer is a store in which another process changes the costs of org_a's resources before each write of them, while
// it is on.
type costRacer struct {
	table.Store
	on    atomic.Bool
	races atomic.Int64
}

// Write writes after the other process.
func (r *costRacer) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if head := inventory.CostHeadKey("org_a"); r.on.Load() && w.Item.Key == head {
		r.races.Add(1)
		if _, err := r.Store.Write(ctx, table.Update(head, []table.Change{table.Add("change", 1)})); err != nil {
			return table.Item{}, err
		}
	}
	return r.Store.Write(ctx, w)
}

// On a first connection the imports and discoveries of several accounts update the costs at the same time. An update
// that others overtake each time is no reason to warn: it is done again within minutes.
func TestImport_AnOvertakenUpdateIsDoneAgainWithoutAWarning(t *testing.T) {
	s := newFixture(t)
	var log bytes.Buffer
	s.Platform.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s.racer.on.Store(true)
	s.connect()
	s.racer.on.Store(false)
	if s.racer.races.Load() == 0 {
		t.Fatal("no update was overtaken")
	}
	if log.Len() > 0 {
		t.Errorf("it warns:\n%s", log.String())
	}
	if n := s.renewals(); n == 0 {
		t.Error("no update waits")
	}
	s.minutes(3)
	s.Equal("waiting updates", s.renewals(), 0)
	if n := s.wantBilled("some minutes later"); n == 0 {
		t.Error("no resource is billed")
	}
}
