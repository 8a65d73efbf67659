package billingsync

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// stretch is how long one call starts new months. The next call continues with the remaining months.
const stretch = 4 * time.Minute

// session is one call of the task import for an account.
type session struct {
	*worker
	in      Share
	account inventory.Account
	entry   billimport.Entry
	bills   cloud.Biller
	until   time.Time
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
	s := &session{worker: w, in: in, account: a, until: w.p.Clock.Now().Add(stretch)}
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
			s.in.WaitSeconds = 1
			return s.in, nil
		}
	}
	if err = s.note(billimport.Reachability, err); err != nil {
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
		if !s.p.Clock.Now().Before(s.until) {
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
		if failed := err != nil; failed {
			if err = s.noteMonth(month, step, err); err != nil {
				return false, err
			}
		} else if err = s.noteImported(ctx, month); err != nil {
			return false, err
		}
		s.in.Gone = append(s.in.Gone, month)
	}
	return true, nil
}

// noteBroken records the manifest of a month that cannot be read.
func (s *session) noteBroken(month string, d *cloud.Delivery) error {
	if !d.Broken {
		return nil
	}
	return s.noteMonth(month, billimport.Schema, fault.New(fault.Invalid, "%s", d.Notice))
}

// note records an error that an early retry cannot mend, and returns nil for it. It returns every other error.
func (s *session) note(step billimport.Step, err error) error { return s.noteMonth("", step, err) }

// noteMonth is note for the error of a month. The failure tells the errors of all months, the newest first.
func (s *session) noteMonth(month string, step billimport.Step, err error) error {
	e, told := errors.AsType[*cloud.Error](err)
	switch {
	case err == nil:
		return nil
	case told && e.Class.Retryable(), !told && !fault.Is(err, fault.Invalid):
		return err
	case s.in.Failure == nil:
		s.in.Failure = &billimport.Failure{Step: step, Message: messageOf(err), At: s.p.Clock.Now()}
	default:
		s.in.Failure.Message = addMessage(s.in.Failure.Message, strings.TrimSpace(month+" "+string(step))+": "+
			messageOf(err))
	}
	return nil
}

// addMessage appends the message of a further failure. When there is no room for it, the message ends in "…".
func addMessage(message, more string) string {
	const separator, cut = "; ", "; …"
	switch {
	case strings.HasSuffix(message, cut):
		return message
	case len(message)+len(separator)+len(more) > longest:
		return message + cut
	}
	return message + separator + more
}

// longest is the maximum length of a stored message in bytes.
const longest = 1000

func messageOf(err error) string {
	if e, told := errors.AsType[*cloud.Error](err); told {
		return fault.CleanText(e.Error(), longest)
	}
	return fault.CleanText(fault.Message(err), longest)
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
		e.Months = len(e.Looked)
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
		e.TriedAt, e.Failure, e.Notice, e.JobID = now, s.in.Failure, "", ""
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
