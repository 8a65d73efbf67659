package eraser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// accountEraser is one run for an account that was deleted. It may be killed at any point and starts again from the
// beginning.
type accountEraser struct {
	*platform.Platform
	in erasure.Input
}

// eraseAccount erases everything that belongs to the account. It never touches an account that has not ended. Requests
// that began before the end may still write, so it erases once more after erasure.Settling.
func (e *accountEraser) eraseAccount(ctx context.Context) (Result, error) {
	ctx = table.Within(ctx, identity.UserPrefix+e.in.Account, identity.SessionPrefix, identity.PATPrefix,
		identity.PATDuePrefix, accounts.LinkPrefix, workqueue.Prefix)
	rest, err := table.Read[erasure.EndedAccount](ctx, e.Table, erasure.EndedAccountKey(e.in.Account))
	if fault.Is(err, fault.NotFound) { // erased by a run before this one, or never ended
		_, err = e.Table.Write(ctx, workqueue.RemoveWork(e.in.JobID))
		return Result{Done: true}, fault.Wrap("close the erasure of "+e.in.Account, err)
	}
	if err != nil {
		return Result{}, fmt.Errorf("read whether %s has ended: %w", e.in.Account, err)
	}
	later, err := e.eraseForAWhile(ctx, rest)
	if later || err != nil {
		return Result{WaitSeconds: 1}, fault.Wrap("erase "+e.in.Account, err)
	}
	if settled := rest.Ended.Add(erasure.Settling).Sub(e.Clock.Now()); settled > 0 {
		return Result{WaitSeconds: int(settled/time.Second) + 1}, nil
	}
	return Result{Done: true}, e.closeErasure(ctx)
}

// eraseForAWhile erases for as long as a run may, and reports whether that was not enough.
func (e *accountEraser) eraseForAWhile(ctx context.Context, rest erasure.EndedAccount) (later bool, err error) {
	within, cancel := withRunTime(ctx)
	defer cancel()
	err = e.erasePass(within, rest)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return true, nil // an interrupted step is repeated
	}
	return false, err
}

// erasePass erases everything except the rest, by which an interrupted erasure is completed.
func (e *accountEraser) erasePass(ctx context.Context, rest erasure.EndedAccount) error {
	if err := e.leaveOrganisations(ctx, rest); err != nil {
		return err
	}
	if err := membership.New(e.Platform).DropInvitationsOf(ctx, rest.Email, rest.Ended); err != nil {
		return err
	}
	if err := accounts.RemoveLinks(ctx, e.Table, e.in.Account); err != nil {
		return err
	}
	return e.erasePartition(ctx)
}

// userRows is the number of a user's rows of one read.
const userRows = 500

// membershipPrefix is the prefix of the sort keys of a user's memberships.
var membershipPrefix = identity.MembershipKey("", "").SK

// leaveOrganisations ends the user's memberships, with the personal settings in each organization.
func (e *accountEraser) leaveOrganisations(ctx context.Context, rest erasure.EndedAccount) error {
	q := table.Query{PK: identity.UserPrefix + e.in.Account, Prefix: membershipPrefix, Limit: userRows}
	page, err := e.Table.Query(ctx, q) // a user belongs to 200 organizations at most
	if err != nil {
		return fmt.Errorf("list the organizations of %s: %w", e.in.Account, err)
	}
	for _, it := range page.Items {
		if err = e.leaveOrganisation(ctx, strings.TrimPrefix(it.SK, membershipPrefix), rest); err != nil {
			return err
		}
	}
	return nil
}

// leaveOrganisation ends a membership, and records that in the organization's audit log. It removes the personal
// settings first, because the membership leads to them.
func (e *accountEraser) leaveOrganisation(ctx context.Context, org string, rest erasure.EndedAccount) error {
	inOrg := table.Within(ctx, table.OrgPK(org))
	if err := notification.NewStore(e.Platform).ForgetUser(inOrg, org, e.in.Account); err != nil {
		return err
	}
	if err := e.erasePrivateViews(inOrg, org); err != nil {
		return err
	}
	row := audit.Row{
		Actor: rest.Email, UserID: e.in.Account, Action: "leaveOrganisation", ResourceType: "users",
		Category: audit.Platform, Target: rest.Email,
		Changes: audit.Changes{Before: map[string]string{"email": rest.Email, "userID": e.in.Account}},
	}
	return membership.New(e.Platform).RemoveDeleted(ctx, org, e.in.Account,
		func(ctx context.Context, ws ...table.Write) error {
			_, err := audit.New(e.Platform).Append(ctx, org, row, ws...)
			return err
		})
}

// erasePrivateViews erases the saved views of resources that only the user sees.
func (e *accountEraser) erasePrivateViews(ctx context.Context, org string) error {
	type view struct {
		User   string `json:"user"`
		Shared bool   `json:"shared"`
	}
	for q := (table.Query{PK: table.OrgPK(org) + "VIEW", Prefix: "view_", Limit: userRows}); ; {
		page, err := e.Table.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("list the views of %s: %w", org, err)
		}
		err = e.eraseRows(ctx, page.Items, func(it table.Item) ([]table.Write, error) {
			v, err := table.Decode[view](it)
			if err != nil || v.User != e.in.Account || v.Shared {
				return nil, err
			}
			return []table.Write{table.Delete(it.Key)}, nil
		})
		if q.Cursor = page.Next; err != nil || q.Cursor == "" {
			return err
		}
	}
}

// erasePartition erases the rows of the user's partition except the rest, and the records that they lead to.
func (e *accountEraser) erasePartition(ctx context.Context) error {
	for q := (table.Query{PK: identity.UserPrefix + e.in.Account, Limit: userRows}); ; {
		page, err := e.Table.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("read the records of %s: %w", e.in.Account, err)
		}
		if err = e.eraseRows(ctx, page.Items, e.ledBy); err != nil {
			return err
		}
		if err = e.eraseRows(ctx, page.Items, e.ownRow); err != nil {
			return err
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// eraseRows makes the writes that of returns for each item.
func (e *accountEraser) eraseRows(ctx context.Context, items []table.Item,
	of func(table.Item) ([]table.Write, error),
) error {
	var ws []table.Write
	for _, it := range items {
		some, err := of(it)
		if err != nil {
			return err
		}
		ws = append(ws, some...)
	}
	if len(ws) == 0 {
		return nil
	}
	return fault.Wrap("erase records of "+e.in.Account, e.Table.BatchWrite(ctx, ws...))
}

// ledBy returns the deletes of the session or personal access token that a row of a user's lists leads to.
func (e *accountEraser) ledBy(it table.Item) ([]table.Write, error) {
	if session, ok := strings.CutPrefix(it.SK, identity.SessionListPrefix); ok {
		return []table.Write{table.Delete(identity.SessionKey(session))}, nil
	}
	if !strings.HasPrefix(it.SK, identity.PATListPrefix) {
		return nil, nil
	}
	t, err := table.Decode[identity.PATEntry](it)
	if err != nil {
		return nil, err
	}
	out := []table.Write{table.Delete(identity.PATKey(t.Hash))}
	if t.Due != "" {
		out = append(out, table.Delete(identity.PATDueKey(t.Due, t.ID)))
	}
	return out, nil
}

// ownRow returns the delete of a row of the user's partition. It keeps the rest, and the memberships, which only
// leaveOrganisations ends.
func (e *accountEraser) ownRow(it table.Item) ([]table.Write, error) {
	if it.Key == erasure.EndedAccountKey(e.in.Account) || strings.HasPrefix(it.SK, membershipPrefix) {
		return nil, nil
	}
	return []table.Write{table.Delete(it.Key)}, nil
}

// closeErasure removes the rest of the account, and records the erasure in the installation's audit log, without the
// address. Of two concurrent runs only one succeeds.
func (e *accountEraser) closeErasure(ctx context.Context) error {
	row := audit.Row{
		UserID: e.in.Account, Action: "eraseAccount", ResourceType: "users", Category: audit.Platform,
		Target: e.in.Account,
	}
	last := table.Delete(erasure.EndedAccountKey(e.in.Account), table.Exists())
	_, err := audit.New(e.Platform).Append(ctx, "", row, last, workqueue.RemoveWork(e.in.JobID))
	if _, closed := errors.AsType[*table.ConditionError](err); closed {
		return nil
	}
	return fault.Wrap("close the erasure of "+e.in.Account, err)
}
