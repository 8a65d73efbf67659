// Package reminder tells users by mail, a week ahead, that a personal access token of theirs is about to end, so that what
// uses it does not stop one morning without anybody knowing why.
package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	lookBack = 7 // days: what was missed on a day is made up for until the token ends
	pageSize = 50
)

// Reminded tells what a run did.
type Reminded struct {
	Looked int `json:"looked"`
	Mailed int `json:"mailed"`
}

// Handler reminds once; EventBridge calls it every day.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) { return QueueReminders(ctx, p) }
}

// QueueReminders queues the mails that are due today, and those of the last seven days that were not queued then. One that cannot
// be queued does not keep the others from being.
func QueueReminders(ctx context.Context, p *platform.Platform) (Reminded, error) {
	ctx = table.Within(ctx, identity.PATDuePrefix, identity.PATPrefix, identity.UserPrefix, mail.Prefix)
	r := round{Platform: p}
	var errs []error
	for back := lookBack; back >= 0; back-- {
		errs = append(errs, r.day(ctx, identity.PATDay(p.Clock.Now().AddDate(0, 0, -back))))
	}
	return r.done, errors.Join(errs...)
}

// round is one run.
type round struct {
	*platform.Platform
	done Reminded
}

// day announces what is due on a day, page by page.
func (r *round) day(ctx context.Context, day string) error {
	q := table.Query{PK: identity.PATDueKey(day, "").PK, Limit: pageSize}
	var errs []error
	for {
		page, err := r.Table.Query(ctx, q)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read what is due on %s: %w", day, err))...)
		}
		errs = append(errs, r.page(ctx, page.Items))
		if q.Cursor = page.Next; q.Cursor == "" {
			return errors.Join(errs...)
		}
	}
}

// page announces the tokens of some rows, in two reads for all of them.
func (r *round) page(ctx context.Context, rows []table.Item) error {
	r.done.Looked += len(rows)
	if len(rows) == 0 {
		return nil
	}
	tokens, errs, err := r.tokens(ctx, rows)
	if err != nil {
		return err
	}
	users, bad, err := r.users(ctx, tokens)
	if err != nil {
		return err
	}
	errs = append(errs, bad...)
	for i, t := range tokens {
		u := users[t.User]
		if t.ID == "" || !t.Live(u, r.Clock.Now(), r.Settings.Epoch) {
			continue // it ended before its time: the row goes with the token's date
		}
		errs = append(errs, r.announce(ctx, rows[i].Key, t, u))
	}
	return errors.Join(errs...)
}

// tokens reads the tokens that rows name, in their order; the zero PAT for one that is gone. Those that cannot be decoded are missing, each with
// an error of its own.
func (r *round) tokens(ctx context.Context, rows []table.Item) (out []identity.PAT, bad []error, err error) {
	keys, named := make([]table.Key, len(rows)), []table.Key(nil)
	for i, row := range rows {
		n, err := table.Decode[identity.PATNotice](row)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		keys[i] = identity.PATKey(n.Hash)
		named = append(named, keys[i])
	}
	out = make([]identity.PAT, len(rows))
	if len(named) == 0 {
		return out, bad, nil
	}
	found, err := r.Table.BatchGet(ctx, named...)
	if err != nil {
		return nil, nil, fmt.Errorf("read tokens that end: %w", err)
	}
	for i, k := range keys {
		row, there := found[k]
		if !there {
			continue
		}
		if out[i], err = table.Decode[identity.PAT](row); err != nil {
			out[i], bad = identity.PAT{}, append(bad, err)
		}
	}
	return out, bad, nil
}

// users reads the users of tokens. Those that cannot be decoded are missing, each with an error of its own.
func (r *round) users(ctx context.Context, tokens []identity.PAT) (out map[string]identity.User, bad []error,
	err error) {
	out = map[string]identity.User{}
	var keys []table.Key
	for _, t := range tokens {
		if _, asked := out[t.User]; !asked && t.ID != "" {
			out[t.User] = identity.User{}
			keys = append(keys, identity.UserKey(t.User))
		}
	}
	if len(keys) == 0 {
		return out, nil, nil
	}
	found, err := r.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, nil, fmt.Errorf("read users of tokens that end: %w", err)
	}
	for _, row := range found {
		u, err := table.Decode[identity.User](row)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out[u.ID] = u
	}
	return out, bad, nil
}

// announce queues the mail in the transaction that takes the row out of the day, so that it is queued once, however often
// and by however many it is tried.
func (r *round) announce(ctx context.Context, due table.Key, t identity.PAT, u identity.User) error {
	post, err := mail.QueueMail(ctx, r.Sealer, r.Clock.Now(), mail.Mail{
		Template: mail.TokenExpiring, To: u.Email,
		Data: map[string]string{"name": t.Name, "expires": t.Expires.UTC().Format("2 January 2006, 15:04") + " UTC"},
	})
	if err != nil {
		return fmt.Errorf("announce the end of %s: %w", t.ID, err)
	}
	err = r.Table.Transact(ctx, table.Delete(due, table.Exists()), post)
	if _, other := errors.AsType[*table.ConditionError](err); other {
		return nil
	}
	if err == nil {
		r.done.Mailed++
	}
	return fault.Wrap("announce the end of "+t.ID, err)
}
