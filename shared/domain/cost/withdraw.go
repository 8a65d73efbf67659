package cost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// replacedKept is how long a period is kept that a withdrawable delivery has replaced.
const replacedKept = 90 * 24 * time.Hour

// replaced is a period that a withdrawable delivery has replaced, with the location of its line items. Its generations
// are idle and are deleted after Until.
type replaced struct {
	Pointer pointer    `json:"pointer"`
	Items   *LineItems `json:"items,omitempty"`
	Until   time.Time  `json:"until"`
}

func replacedKey(org string, m Month, accountID, fingerprint string) table.Key {
	return key(org, replacedPrefix+m.String()+"#"+accountID+"#"+fingerprint)
}

// replaces reports whether p is a withdrawable delivery that replaces another delivery.
func (p *pointer) replaces(old *pointer) bool {
	return p.Withdrawable && old.Seq > 0 && old.Fingerprint != p.Fingerprint
}

// putReplaced returns the write that keeps old for the time when next is withdrawn.
func (s *Store) putReplaced(ctx context.Context, org string, old, next *pointer) (table.Write, error) {
	r := replaced{Pointer: *old, Until: s.clock.Now().UTC().Add(replacedKept)}
	if old.LineItems {
		items, err := table.Read[LineItems](ctx, s.table, itemsKey(org, old))
		if err != nil && !fault.Is(err, fault.NotFound) {
			return table.Write{}, fault.Wrap("read where line items are", err)
		}
		if err == nil {
			r.Items = &items
		}
	}
	it, err := table.NewItem(replacedKey(org, next.Month, next.AccountID, next.Fingerprint), r)
	it.Expires = r.Until
	return table.Put(it), err
}

func itemsKey(org string, p *pointer) table.Key {
	return key(org, itemsPrefix+p.Month.String()+"#"+p.AccountID)
}

// Withdrawal names a delivery of a billing period.
type Withdrawal struct {
	AccountID   string
	Month       Month
	Fingerprint string
}

// Withdraw restores the period that a withdrawable delivery replaced. If there was none, the period is removed. If
// another withdrawable delivery has replaced the delivery since, that one stays, and its own withdrawal will restore
// the earlier period. Withdraw is idempotent. The caller updates the summary of the month with Rebuild or Summarize.
func (s *Store) Withdraw(ctx context.Context, org string, w Withdrawal) error {
	for range swapTries {
		err := s.withdraw(ctx, org, w)
		if _, moved := errors.AsType[*table.ConditionError](err); !moved {
			return fault.Wrap(fmt.Sprintf("withdraw %s of %s", w.Month, w.AccountID), err)
		}
	}
	return fault.New(fault.Unavailable, "%s of %s is being imported by many at once; try again", w.Month, w.AccountID)
}

func (s *Store) withdraw(ctx context.Context, org string, w Withdrawal) error {
	now, err := table.Read[pointer](ctx, s.table, periodKey(org, w.Month, w.AccountID, false))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	before, err := s.readReplaced(ctx, org, w)
	if err != nil {
		return err
	}
	if now.Fingerprint == w.Fingerprint {
		return s.restore(ctx, org, &now, before)
	}
	return s.unlink(ctx, org, &now, unlinking{w, before})
}

// readReplaced returns the period that a delivery replaced, or nil if there was none or if it is deleted by now.
func (s *Store) readReplaced(ctx context.Context, org string, w Withdrawal) (*replaced, error) {
	r, err := table.Read[replaced](ctx, s.table, replacedKey(org, w.Month, w.AccountID, w.Fingerprint))
	if fault.Is(err, fault.NotFound) || err == nil && s.clock.Now().After(r.Until) {
		return nil, nil //nolint:nilnil // there is none
	}
	return &r, fault.Wrap("read which period was replaced", err)
}

// restore replaces the pointer now by the one before, or removes it.
func (s *Store) restore(ctx context.Context, org string, now *pointer, before *replaced) error {
	next, items := pointer{}, (*LineItems)(nil)
	unchanged := table.Equal("seq", now.Seq)
	ws := []table.Write{
		table.Delete(periodKey(org, now.Month, now.AccountID, false), unchanged),
		table.Delete(replacedKey(org, now.Month, now.AccountID, now.Fingerprint)),
		table.Update(summaryKey(org, now.Month), []table.Change{table.Add("seq", 1)}),
	}
	if before != nil {
		next, items = before.Pointer, before.Items
		next.Seq = now.Seq + 1
		it, err := table.NewItem(periodKey(org, now.Month, now.AccountID, false), next)
		if err != nil {
			return err
		}
		ws[0] = table.Put(it, unchanged)
	}
	for _, generation := range next.only(now) {
		ws = append(ws, table.Delete(idleKey(org, generation)))
	}
	idles, err := putIdles(org, s.clock.Now().UTC().Add(idleKept), now, &next)
	if err != nil {
		return err
	}
	at := pointer{Period: Period{AccountID: now.AccountID, Month: now.Month, Generation: next.Generation}}
	of, err := itemsOf(org, now, &at, items)
	if err != nil {
		return err
	}
	return s.table.Transact(ctx, append(append(ws, idles...), of...)...)
}

// unlinking is the withdrawal of a delivery that is not the present one, and the period that it replaced.
type unlinking struct {
	Withdrawal
	before *replaced
}

// unlink makes the delivery that replaced a withdrawn one replace the period before it. It does nothing if a delivery
// that is not withdrawable has replaced it.
func (s *Store) unlink(ctx context.Context, org string, now *pointer, u unlinking) error {
	above := now
	for above.Withdrawable {
		held, err := s.readReplaced(ctx, org, Withdrawal{u.AccountID, u.Month, above.Fingerprint})
		if err != nil || held == nil {
			return err
		}
		if held.Pointer.Fingerprint == u.Fingerprint {
			return s.relink(ctx, org, now, linking{u, above.Fingerprint})
		}
		above = &held.Pointer
	}
	return nil
}

// linking is an unlinking, with the fingerprint of the delivery that replaced the withdrawn one.
type linking struct {
	unlinking
	above string
}

// relink increments the pointer, so that only one of several changes of the period succeeds.
func (s *Store) relink(ctx context.Context, org string, now *pointer, l linking) error {
	next := *now
	next.Seq++
	it, err := table.NewItem(periodKey(org, now.Month, now.AccountID, false), next)
	if err != nil {
		return err
	}
	at := replacedKey(org, now.Month, now.AccountID, l.above)
	link := table.Delete(at)
	if l.before != nil {
		held, err := table.NewItem(at, l.before)
		if err != nil {
			return err
		}
		held.Expires = l.before.Until
		link = table.Put(held)
	}
	return s.table.Transact(ctx, table.Put(it, table.Equal("seq", now.Seq)), link,
		table.Delete(replacedKey(org, now.Month, now.AccountID, l.Fingerprint)))
}
