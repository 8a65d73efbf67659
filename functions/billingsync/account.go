package billingsync

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// How long the machine waits before the next call continues with the remaining months. Another run that imports the
// same month takes a while.
const (
	continued = 1  // second
	overtaken = 60 // seconds
)

// session is one call of the task import for an account.
type session struct {
	*worker
	in      Share
	account inventory.Account
	entry   billimport.Entry
	bills   cloud.Biller
	pace    *pace
}

// importAccount imports the deliveries that are new or changed, the newest month first. A month that was imported
// stays imported, even if the worker dies later.
func (w *worker) importAccount(ctx context.Context, in Share) (Share, error) {
	done := in
	done.Done = true
	a, err := w.inventory.ReadAccount(ctx, in.Org, in.AccountID)
	if fault.Is(err, fault.NotFound) {
		return done, nil
	}
	if err != nil {
		return in, err
	}
	if w.isDiscovering(&a) {
		in.WaitSeconds = pause
		return in, nil
	}
	s := &session{worker: w, in: in, account: a, pace: newPace(w.p.Clock)}
	if err = s.begin(ctx); err != nil {
		return in, err
	}
	all, err := s.list(ctx)
	if err == nil {
		err = s.noteListed(ctx, all)
	}
	if err == nil {
		var ended bool
		if ended, err = s.importMonths(ctx, all); err == nil && !ended {
			return s.in, nil
		}
	}
	if err = s.note(stepOfListing(err), err); err != nil {
		return in, err
	}
	if err = errors.Join(s.end(ctx, all), s.noteSynced(ctx)); err != nil || !s.entry.TriedAt.IsZero() {
		return done, err
	}
	// a payer's bill that was imported earlier may contain this account's costs
	return done, w.addRebuild(ctx, in.Org, w.p.Clock.Now())
}

// begin records the running import in the account's entry.
func (s *session) begin(ctx context.Context) error {
	return billimport.ChangeEntry(ctx, s.p.Table, s.in.Org, s.account.ID, func(e *billimport.Entry) {
		if e.JobID != s.in.JobID {
			e.JobID, e.StartedAt = s.in.JobID, s.p.Clock.Now()
		}
		e.Provider = s.account.Provider
		s.entry = *e
	})
}

// list returns the deliveries from the month of first on, the newest first.
func (s *session) list(ctx context.Context) ([]cloud.Delivery, error) {
	c, err := s.clouds.Connect(ctx, s.in.Org, s.account)
	if err != nil {
		return nil, err
	}
	b, ok := c.(cloud.Biller)
	if !ok {
		return nil, fault.New(fault.Invalid, "provider %s delivers no bills: upload a FOCUS file with POST "+
			"/billing/imports", s.account.Provider)
	}
	s.bills = b
	all, err := b.Deliveries(ctx, s.first())
	slices.SortStableFunc(all, func(a, b cloud.Delivery) int { return b.Period.Compare(a.Period) })
	return all, err
}

// noteListed records the months with bills if this is the first import.
func (s *session) noteListed(ctx context.Context, all []cloud.Delivery) error {
	if !s.entry.BackfilledAt.IsZero() {
		return nil
	}
	months := make([]string, len(all))
	for i := range all {
		months[i] = all[i].Period.Format("2006-01")
	}
	slices.Sort(months)
	if months = slices.Compact(months); slices.Equal(months, s.entry.Listed) {
		return nil
	}
	return billimport.ChangeEntry(ctx, s.p.Table, s.in.Org, s.account.ID, func(e *billimport.Entry) {
		e.Listed = months
	})
}

// first returns the oldest month to look at.
func (s *session) first() time.Time {
	now := s.p.Clock.Now().UTC()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 1-billimport.MaxMonths, 0)
	for !s.in.Full && !s.entry.BackfilledAt.IsZero() && month.Before(now.AddDate(0, -1, 0)) &&
		!s.entry.WantsAgain(month, now) {
		month = month.AddDate(0, 1, 0)
	}
	return month
}

// importMonths imports the deliveries and reports whether it reached the last one. A faulty delivery does not prevent
// the import of the others.
func (s *session) importMonths(ctx context.Context, all []cloud.Delivery) (bool, error) {
	for i := range all {
		d := &all[i]
		month := d.Period.Format("2006-01")
		if slices.Contains(s.in.Gone, month) || !s.in.Full && !s.entry.WantsAgain(d.Period, s.p.Clock.Now()) {
			continue
		}
		if s.in.WaitSeconds = continued; s.pace.isOver(stretch) {
			return false, nil
		}
		if err := s.noteBroken(month, d); err != nil {
			return false, err
		}
		if d.Broken && len(d.Files) == 0 {
			s.in.Gone = append(s.in.Gone, month)
			continue
		}
		step, err := s.importMonth(ctx, d)
		if pause := pauseOf(err); pause > 0 {
			s.in.WaitSeconds = pause
			return false, nil
		}
		if failed := err != nil; failed {
			err = s.noteMonth(month, step, err)
		} else {
			err = s.noteImported(ctx, month)
		}
		if err != nil {
			return false, err
		}
		s.in.Gone = append(s.in.Gone, month)
	}
	return true, nil
}

// pauseOf returns the seconds after which the next call continues the import that ended with err, or 0 if it ended.
func pauseOf(err error) int {
	switch {
	case errors.Is(err, errPaused):
		return continued
	case errors.Is(err, cost.ErrOvertaken):
		return overtaken
	}
	return 0
}

// noteImported updates the costs of resources and then records that a month was imported.
func (s *session) noteImported(ctx context.Context, month string) error {
	m, err := cost.ParseMonth(month)
	if err != nil {
		return err
	}
	if err = s.renewCosts(ctx, s.in.Org, m); err != nil {
		return err
	}
	return billimport.ChangeEntry(ctx, s.p.Table, s.in.Org, s.account.ID, func(e *billimport.Entry) {
		if e.Looked == nil {
			e.Looked = map[string]time.Time{}
		}
		e.Looked[month] = s.p.Clock.Now()
		s.forget(e)
		e.Months, e.Importing = len(e.Looked), nil
	})
}

// noteImporting records how far the import of a month is. Months without checkpoints are not recorded: they take some
// seconds.
func (s *session) noteImporting(ctx context.Context, d *cloud.Delivery, files int) error {
	month := d.Period.Format("2006-01")
	return billimport.ChangeEntry(ctx, s.p.Table, s.in.Org, s.account.ID, func(e *billimport.Entry) {
		if e.Importing == nil || e.Importing.Month != month || e.Importing.JobID != s.in.JobID {
			e.Importing = &billimport.Importing{Month: month, JobID: s.in.JobID, Since: s.pace.began}
		}
		e.Importing.FilesRead, e.Importing.Files = files, len(d.Files)
	})
}

// forget removes months older than billimport.MaxMonths from the entry.
func (s *session) forget(e *billimport.Entry) {
	oldest := s.p.Clock.Now().UTC()
	oldest = time.Date(oldest.Year(), oldest.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, 1-billimport.MaxMonths, 0)
	maps.DeleteFunc(e.Looked, func(month string, _ time.Time) bool { return month < oldest.Format("2006-01") })
}

// end records the result of the run.
func (s *session) end(ctx context.Context, all []cloud.Delivery) error {
	now := s.p.Clock.Now()
	return billimport.ChangeEntry(ctx, s.p.Table, s.in.Org, s.account.ID, func(e *billimport.Entry) {
		e.TriedAt, e.Failure, e.Notice, e.JobID, e.Importing = now, s.in.Failure, "", "", nil
		for i := range all {
			if e.DeliveredAt.Before(all[i].DeliveredAt) {
				e.DeliveredAt = all[i].DeliveredAt
			}
		}
		if len(all) > 0 {
			e.Notice = s.in.Notice
			if !all[0].Broken { // a failure tells that one
				e.Notice = cmp.Or(all[0].Notice, s.in.Notice)
			}
		}
		if s.in.Failure == nil {
			e.LastSyncedAt = now
			if e.BackfilledAt.IsZero() {
				e.BackfilledAt = now
			}
		}
	})
}

// noteSynced sets the account's lastSyncedAt, unless the run had a failure.
func (s *session) noteSynced(ctx context.Context) error {
	if s.in.Failure != nil {
		return nil
	}
	at := []table.Change{table.Set("lastSyncedAt", s.p.Clock.Now())}
	_, err := s.p.Table.Write(ctx, table.Update(inventory.AccountKey(s.in.Org, s.account.ID), at, table.Exists()))
	if _, gone := errors.AsType[*table.ConditionError](err); gone {
		return nil
	}
	return fault.Wrap("note when the bills of "+s.account.ID+" were imported", err)
}
