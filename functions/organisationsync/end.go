package organisationsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// reasons are the error texts of members that are no longer connected.
var reasons = map[connection.MemberStatus]string{
	connection.MemberClosed:   "it is closed in the cloud",
	connection.MemberExcluded: "the organization's include and exclude leave it out",
	connection.MemberLeft:     "it belongs to the organization no more",
}

// disconnectConcurrency is how many accounts are disconnected at the same time.
const disconnectConcurrency = 8

// endMember records a member that the listing lacks or shows closed, or that the selection does not select. Its
// connected account is left to endMembers. An account that a person has excluded by changing the selection is
// disconnected at once, because the change is a confirmation.
func (r *round) endMember(ctx context.Context, is connection.Member, to connection.MemberStatus) error {
	a, there := r.accounts[is.NativeID]
	switch {
	case is.Status == connection.MemberRemoved:
		return r.noteMember(is)
	case !there && is.AccountID != "" && is.Status == connection.MemberConnected:
		return r.noteRemoved(is)
	case !there || a.OrganisationID != r.organisation.ID:
		is.AccountID = ""
		return r.noteEnded(is, to)
	case hasEnded(is, a):
		return r.disconnectMember(ctx, is, to)
	case to == connection.MemberExcluded && is.Selected != r.organisation.Selected:
		return r.disconnectMember(ctx, is, to)
	}
	if is.Ending = to; is.MissingSince.IsZero() {
		is.MissingSince = r.p.Clock.Now()
	}
	is.AccountID, is.Error = a.ID, reasons[to]
	r.ending = append(r.ending, is)
	return nil
}

// endMembers disconnects the ending members as far as the rules allow, and records those that wait.
func (r *round) endMembers(ctx context.Context) error {
	v := connection.EndMembers(connection.EndingRules{
		Now: r.p.Clock.Now(), Connected: r.countConnected(), Recent: r.countRecent(),
		Confirmed: r.organisation.Confirmed.ID,
	}, r.ending)
	errs := make([]error, len(v.Disconnect))
	cloud.InParallel(len(v.Disconnect), disconnectConcurrency, func(i int) {
		m := v.Disconnect[i]
		errs[i] = r.disconnectMember(ctx, m, m.Ending)
	})
	pending := connection.PendingEnding{Members: len(v.Wait)}
	for _, m := range v.Wait {
		if m.Awaits != "" {
			pending.Awaiting++
		}
		if pending.Since.IsZero() {
			pending.Since = m.MissingSince
		}
		pending.Since = clock.Earliest(pending.Since, m.MissingSince)
		errs = append(errs, r.noteMember(m))
	}
	r.organisation.Pending, r.organisation.ConfirmationID = pending, v.ConfirmationID
	return errors.Join(errs...)
}

// hasEnded reports whether a synchronization has disconnected the account of a member. Accounts from before the field
// Ended existed are recognized by their statuses.
func hasEnded(is connection.Member, a inventory.Account) bool {
	return a.Ended != "" || is.HasEnded() && a.Status == inventory.AccountDisconnected
}

// countConnected counts the members whose account no synchronization has disconnected, including ending ones.
func (r *round) countConnected() int {
	n := 0
	for native := range r.accounts {
		if a, ours := r.ownAccount(native); ours && !hasEnded(r.known[native], a) {
			n++
		}
	}
	return n
}

// countRecent counts the members that were disconnected without a confirmation within the last
// connection.EndingWait.
func (r *round) countRecent() int {
	n := 0
	for _, m := range r.known {
		if m.HasEnded() && !m.EndedAt.IsZero() && r.p.Clock.Now().Sub(m.EndedAt) < connection.EndingWait {
			n++
		}
	}
	return n
}

// disconnectMember disconnects the account of a member, removes it from the due discoveries, and makes a running
// discovery keep its status.
func (r *round) disconnectMember(ctx context.Context, is connection.Member, to connection.MemberStatus) error {
	a := r.accounts[is.NativeID]
	if is.AccountID = a.ID; a.Ended != string(to) || a.Status != inventory.AccountDisconnected ||
		a.Error != reasons[to] {
		change := table.Update(inventory.AccountKey(r.in.Org, a.ID), []table.Change{
			table.Set("status", inventory.AccountDisconnected), table.Set("ended", string(to)),
			table.Set("error", reasons[to]),
			table.Remove("jobID"), table.Set("updatedAt", r.p.Clock.Now()),
		}, table.Exists())
		err := r.p.Table.Transact(table.Within(ctx, discovery.DuePrefix), change, discovery.RemoveDue(a.ID))
		if _, gone := errors.AsType[*table.ConditionError](err); err != nil && !gone {
			return fmt.Errorf("disconnect account %s: %w", a.ID, err)
		}
	}
	return r.noteEnded(is, to)
}

func (r *round) noteEnded(is connection.Member, to connection.MemberStatus) error {
	is.Status, is.Error = to, reasons[to]
	is.Ending, is.MissingSince, is.Awaits = "", time.Time{}, ""
	return r.noteMember(is)
}
