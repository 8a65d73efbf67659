package cost

import (
	"context"
	"errors"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// A team is changed while a closed month is imported again: after the import has read the teams, and before or after
// a rebuild for the change has seen the month.
func TestAttribution_OfAnImportIsByTheNewestTeams(t *testing.T) {
	for name, first := range map[string]bool{"a new month": true, "a restated month": false} {
		t.Run(name, func(t *testing.T) {
			s := owned(t)
			february := march.Add(-1)
			if !first {
				s.bring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "4")))
			}
			next := closed("ca_1", february)
			next.Fingerprint, next.DeliveredAt = "two", now.Add(time.Minute)
			late := &lateChange{Store: s.Table, change: func() {
				s.Clock.Advance(time.Minute)
				s.own("team_a", 2)
				s.own("team_e", 1, "i-0")
				s.Must(s.fresh().Rebuild(s.ctx, testOrg, nil))
				s.Clock.Advance(time.Minute)
			}}
			s.store = NewStore(late, s.inventory, s.Clock)
			s.bring(next, in(february, charge(1, "i-0", "EC2", "7")))
			equal(t, "teams", rows(s.ask(between(february, february, TeamDim))), []string{"team_e=7"})
			s.summariesAgree(february, february)
		})
	}
}

// lateChange changes teams once, right before the first transaction, which moves a pointer. It calls after behind it.
type lateChange struct {
	table.Store
	change, after func()
}

// Transact makes the change, and writes.
func (l *lateChange) Transact(ctx context.Context, ws ...table.Write) error {
	change := l.change
	if l.change = nil; change == nil {
		return l.Store.Transact(ctx, ws...)
	}
	change()
	err := l.Store.Transact(ctx, ws...)
	if l.after != nil {
		l.after()
	}
	return err
}

// The process of an import dies when it has moved the pointer, and before it has compared the teams once more. Its
// retry, which finds the delivery imported, attributes the month.
func TestAttribution_OfAnImportThatDiesIsDoneByItsRetry(t *testing.T) {
	s := owned(t)
	february := march.Add(-1)
	late := &lateChange{Store: s.Table, change: func() {
		s.Clock.Advance(time.Minute)
		s.own("team_a", 2)
		s.own("team_e", 1, "i-0")
		s.Must(s.fresh().Rebuild(s.ctx, testOrg, nil))
	}, after: func() {
		s.faulty.Inject(table.Injection{
			Harm: table.FailBefore, Method: table.QueryMethod, PK: table.OrgPK(testOrg) + "INV",
		})
	}}
	s.store = NewStore(late, s.inventory, s.Clock)
	if _, err := s.tryBring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "7"))); err == nil {
		t.Fatal("the import has not died")
	}
	s.faulty.RemoveFaults()
	equal(t, "teams in between", rows(s.ask(between(february, february, TeamDim))), []string{"team_a=7"})
	changed := s.Clock.Now()
	equal(t, "attributed from, in between", s.ask(between(february, february)).Attribution.From(changed), march.Start())
	s.Clock.Advance(time.Hour)
	if _, err := s.tryBring(closed("ca_1", february)); !errors.Is(err, ErrSame) {
		t.Fatal(err)
	}
	equal(t, "teams", rows(s.ask(between(february, february, TeamDim))), []string{"team_e=7"})
	s.summariesAgree(february, february)
	s.Clock.Advance(retriesEnd)
	ctx, meter := table.WithMeter(s.ctx)
	_, err := s.store.Begin(ctx, closed("ca_1", february))
	equal(t, "the next night", errors.Is(err, ErrSame), true)
	equal(t, "round trips of the next night", meter.Usage().RoundTrips, 2)
}

// A rebuild that read the teams before a change does not undo what a later rebuild wrote.
func TestAttribution_OfAnOlderRebuildChangesNothing(t *testing.T) {
	s := owned(t)
	february := march.Add(-1)
	s.bring(closed("ca_1", february), in(february, charge(1, "i-0", "EC2", "4")))
	s.own("team_a", 2)
	s.own("team_f", 1, "i-0")
	older, err := s.store.readDefinitions(s.ctx, testOrg, true)
	s.Must(err)
	s.Clock.Advance(time.Minute)
	s.own("team_f", 2)
	s.own("team_g", 1, "i-0")
	s.attributeClosed()
	pointers, err := s.store.readPointers(s.ctx, testOrg, february, february)
	s.Must(err)
	s.Must(s.store.attribute(s.ctx, testOrg, &pointers[0], older))
	equal(t, "teams", rows(s.ask(between(february, february, TeamDim))), []string{"team_g=4"})
}
