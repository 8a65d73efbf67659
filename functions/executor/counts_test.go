package executor

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// auditTotals compares the totals of the lists with the number of their entries.
func (w *fixture) auditTotals() (actions, changes int) {
	w.Helper()
	actions = apitest.Value(execution.ReadTotal(w.ctx, w.Table, org, execution.ActionList))(w)
	changes = apitest.Value(execution.ReadTotal(w.ctx, w.Table, org, execution.HistoryList))(w)
	rows := apitest.Rows[execution.Action](w.Fixture, execution.ActionPKs(org)...)
	if history := w.readHistory(); len(rows) != actions || len(history) != changes {
		w.Errorf("%d actions are counted as %d, %d changes of state as %d", len(rows), actions, len(history), changes)
	}
	return actions, changes
}

// watching is a store that checks the result of each transaction before the next one.
type watching struct {
	table.Store
	mu   sync.Mutex
	look func()
}

func (s *watching) Transact(ctx context.Context, ws ...table.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.Store.Transact(ctx, ws...)
	s.look()
	return err
}

// TestBulk_CountsExactlyAtAnyTime checks after each transaction the totals of the lists and the progress of the bulk
// action: both are exact, and progress never decreases.
func TestBulk_CountsExactlyAtAnyTime(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "200", "stopped": "0.2", "kinds": "aws-ec2", "regions": "2"})
	g, places := w.newGroup(90, "continue")
	before, _ := w.auditTotals()
	in := w.submitBulk(g, cloud.Stop)
	ended, looks := 0, 0
	plain := *w
	w.swapStore(&watching{Store: w.Table, look: func() {
		looks++
		plain.auditTotals()
		b := plain.bulk(in.BulkID)
		if now := b.Completed + b.Failed; now < ended || now > b.Total {
			t.Errorf("%d of %d had ended, and then %d", ended, b.Total, now)
		} else {
			ended = now
		}
	}})
	w.driveBulk(in)
	if actions, _ := w.auditTotals(); actions-before != len(places) || ended != len(places) || looks < 10 {
		t.Errorf("%d actions, %d ended, looked %d times", actions-before, ended, looks)
	}
	if left := apitest.Value(execution.ReadChunkCounts(w.ctx, w.Table, org, in.BulkID))(w); len(left) > 0 {
		t.Errorf("%d chunks count for themselves after the end", len(left))
	}
	usage := w.Meter(func(ctx context.Context) {
		apitest.Value(execution.ReadBulk(table.WithOrg(ctx, org), w.Table, org, in.BulkID))(w)
	})
	if usage.RoundTrips != 1 {
		t.Errorf("one that has ended is read in %d round trips", usage.RoundTrips)
	}
}

// TestBulk_GoesWithItsMonth checks that the rows of a bulk action and of an action are kept until their month
// expires, and no longer. A setting that changes between applies to rows written from then on.
func TestBulk_GoesWithItsMonth(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "100", "stopped": "0", "kinds": "aws-ec2", "regions": "1"})
	g, _ := w.newGroup(9, "continue")
	first := w.driveBulk(w.submitBulk(g, cloud.Stop)) // in March 2026
	w.Put(table.Key{PK: table.OrgPK(org) + "META", SK: "ORG"}, map[string]any{"id": org, "retentionMonths": 1})
	single := w.do(w.resources[len(w.resources)-1], cloud.Stop)
	w.Clock.Advance(31 * 24 * time.Hour) // into April
	second := w.driveBulk(w.submitBulk(g, cloud.Start))
	for _, c := range []struct {
		at      string
		actions int
		gone    []string
	}{
		{"2026-04-30T23:59:59Z", 19, nil},
		{"2026-05-01T00:00:00Z", 18, []string{single.ID}},
		{"2026-05-31T23:59:59Z", 18, []string{single.ID}},
		{"2026-06-01T00:00:00Z", 9, []string{single.ID, second.ID}},
		{"2027-04-30T23:59:59Z", 9, []string{single.ID, second.ID}},
		{"2027-05-01T00:00:00Z", 0, []string{single.ID, second.ID, first.ID}},
	} {
		at := apitest.Value(time.Parse(time.RFC3339, c.at))(w)
		w.Clock.Advance(at.Sub(w.Clock.Now()))
		actions, changes := w.auditTotals()
		if actions != c.actions || changes != c.actions {
			t.Errorf("at %s: %d actions and %d changes, want %d", c.at, actions, changes, c.actions)
		}
		for _, gone := range c.gone {
			if left := w.left(gone); len(left) > 0 {
				t.Errorf("at %s of %s is left: %q", c.at, gone, left)
			}
		}
	}
	if n := apitest.Value(execution.ReadResourceTotal(w.ctx, w.Table, org, single.ResourceUID))(w); n != 0 {
		t.Errorf("%d changes of %s are counted", n, single.ResourceUID)
	}
}

// left returns the keys of all stored rows of an action or a bulk action.
func (w *fixture) left(of string) (keys []string) {
	w.Helper()
	pks := append(append(execution.ActionPKs(org), execution.HistoryPKs(org)...), execution.BulkPK(org),
		execution.ChunkPK(org, of), table.OrgPK(org)+"COUNT")
	for _, pk := range pks {
		page := apitest.Value(w.Table.Query(w.Anywhere(), table.Query{PK: pk, Limit: 1000}))(w)
		for _, it := range page.Items {
			if pk == execution.ChunkPK(org, of) || strings.Contains(it.SK+string(it.Data), of) {
				keys = append(keys, it.PK+" "+it.SK)
			}
		}
	}
	return keys
}

func TestAction_AndItsHistoryAreInTheMonthOfTheirIDs(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60", "stopped": "0", "transitionSeconds": "600"})
	w.Clock.Advance(time.Date(2026, 3, 31, 23, 59, 0, 0, time.UTC).Sub(noon))
	a := w.do(w.pick("aws-ec2", cloud.Running), cloud.Stop)
	h := w.readHistory()
	if len(h) != 1 || id.TimeOf(h[0].ID).Month() != time.April || a.CreatedAt.Month() != time.March {
		t.Fatalf("made at %s, ended at %v", a.CreatedAt, h)
	}
	w.Clock.Advance(time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC).Sub(w.Clock.Now()))
	if actions, changes := w.auditTotals(); actions != 0 || changes != 1 {
		t.Errorf("when March has gone: %d actions, %d changes of state", actions, changes)
	}
}
