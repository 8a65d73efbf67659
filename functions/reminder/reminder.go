// Package reminder mails users a week before one of their personal access tokens ends, so that programs with the
// token do not stop unexpectedly. It also verifies the mail domains of single sign-on again, each week, and warns
// owners for a week before a domain lapses.
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
	lookBack = 7 // days: a missed reminder is sent later, until the token ends
	pageSize = 50
)

// Reminded summarizes a run.
type Reminded struct {
	Looked int `json:"looked"`
	Mailed int `json:"mailed"`
}

// Report is the result of a run.
type Report struct {
	Reminded
	Domains Domains `json:"domains"`
}

// Handler reminds, and verifies domains, once. EventBridge calls it every day. A failure of one does not affect the
// other.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		tokens, err := QueueReminders(ctx, p)
		domains, failed := VerifyDomains(ctx, p)
		return Report{tokens, domains}, errors.Join(err, failed)
	}
}

// QueueReminders queues the mails that are due today, and the missed ones of the last seven days. A mail that cannot
// be queued does not affect the others.
func QueueReminders(ctx context.Context, p *platform.Platform) (Reminded, error) {
	ctx = table.Within(ctx, identity.PATDuePrefix, identity.PATPrefix, identity.UserPrefix, mail.Prefix)
	r := round{Platform: p}
	var errs []error
	for back := lookBack; back >= 0; back-- {
		errs = append(errs, r.announceDay(ctx, identity.PATDay(p.Clock.Now().AddDate(0, 0, -back))))
	}
	return r.done, errors.Join(errs...)
}

// round is one run.
type round struct {
	*platform.Platform
	done Reminded
}

// announceDay announces the tokens that are due on a day, page by page.
func (r *round) announceDay(ctx context.Context, day string) error {
	q := table.Query{PK: identity.PATDueKey(day, "").PK, Limit: pageSize}
	var errs []error
	for {
		page, err := r.Table.Query(ctx, q)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read the tokens due on %s: %w", day, err))...)
		}
		errs = append(errs, r.announcePage(ctx, page.Items))
		if q.Cursor = page.Next; q.Cursor == "" {
			return errors.Join(errs...)
		}
	}
}

// announcePage announces the tokens of some rows, with two reads for all of them.
func (r *round) announcePage(ctx context.Context, rows []table.Item) error {
	r.done.Looked += len(rows)
	if len(rows) == 0 {
		return nil
	}
	tokens, errs, err := r.readTokens(ctx, rows)
	if err != nil {
		return err
	}
	users, bad, err := r.readUsers(ctx, tokens)
	if err != nil {
		return err
	}
	errs = append(errs, bad...)
	for i, t := range tokens {
		u := users[t.User]
		if t.ID == "" || !t.Live(u, r.Clock.Now(), r.Settings.Epoch) {
			continue // it ended before its time: the row goes with the token's date
		}
		errs = append(errs, r.announceToken(ctx, rows[i].Key, t, u))
	}
	return errors.Join(errs...)
}

// readTokens reads the tokens that rows name, in their order. A deleted token is the zero PAT. Tokens that cannot be
// decoded are missing, each with an error in bad.
func (r *round) readTokens(ctx context.Context, rows []table.Item) (out []identity.PAT, bad []error, err error) {
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

// readUsers reads the users of tokens. Users that cannot be decoded are missing, each with an error in bad.
func (r *round) readUsers(ctx context.Context, tokens []identity.PAT) (out map[string]identity.User, bad []error,
	err error,
) {
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

// announceToken queues the mail in the transaction that removes the due row, so that the mail is queued once, also
// with repeated or concurrent calls.
func (r *round) announceToken(ctx context.Context, due table.Key, t identity.PAT, u identity.User) error {
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
