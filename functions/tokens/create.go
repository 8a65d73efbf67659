package tokens

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	mostTokens = 50 // of one user at a time
	// rows of a user's list: those of an earlier epoch go when the first of the next is made
	pageSize = 1 + 2*mostTokens
	tries    = 20 // of writing a new token while the same user makes others
)

// NewToken is the body of POST /personal-access-tokens.
type NewToken struct {
	Name          string `json:"name" minLength:"1" maxLength:"100" doc:"What to call it" example:"nightly report"`
	ExpiresInDays int    `json:"expiresInDays,omitempty" minimum:"1" maximum:"365" default:"90" doc:"How many days it is good for"`
}

type createInput struct{ Body NewToken }

// Created is a new token with its secret.
type Created struct {
	Token
	Secret string `json:"token" doc:"The secret: send it as Authorization: Bearer …. It is not shown again" example:"lampp_…"`
}

func (s service) createToken(ctx context.Context, in *createInput) (Created, error) {
	name, err := displayname.CleanName("name", in.Body.Name, 100)
	if err != nil {
		return Created{}, err
	}
	c := identity.CallerFrom(ctx)
	ctx = table.Within(ctx, identity.UserPrefix+c.User, identity.SessionKey(c.Session).PK, identity.PATPrefix,
		identity.PATDuePrefix)
	t, err := s.begin(ctx, c)
	if err != nil {
		return Created{}, err
	}
	t.Name, t.Expires = name, t.Created.Add(time.Duration(in.Body.ExpiresInDays)*24*time.Hour)
	secret := identity.NewPAT()
	t.Last4 = secret[len(secret)-4:]
	if err = s.store(ctx, t, secret); err != nil {
		return Created{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: t.ID, After: newToken(t)})
	return Created{newToken(t), secret}, nil
}

// begin makes a token that ends when the caller's session would be ended with all others, and works where that works. A
// session that has ended makes none.
func (s service) begin(ctx context.Context, c identity.Caller) (identity.PAT, error) {
	userKey, sessionKey := identity.UserKey(c.User), identity.SessionKey(c.Session)
	found, err := s.Table.BatchGet(ctx, userKey, sessionKey)
	if err != nil {
		return identity.PAT{}, fmt.Errorf("read session %s: %w", c.Session, err)
	}
	if found[userKey].Data == nil || found[sessionKey].Data == nil {
		return identity.PAT{}, errEnded()
	}
	u, err := table.Decode[identity.User](found[userKey])
	if err != nil {
		return identity.PAT{}, err
	}
	sess, err := table.Decode[identity.Session](found[sessionKey])
	// it ended after the authorizer had let it in
	if err == nil && (sess.Epoch != u.Epoch || sess.State != identity.SessionLive) {
		err = errEnded()
	}
	now := s.Clock.Now()
	return identity.PAT{ID: id.New("pat", now), User: u.ID, Epoch: u.Epoch, SSO: sess.SSO, Created: now}, err
}

func errEnded() error { return fault.New(fault.Unauthenticated, "the session has ended: log in again") }

// counted is how many tokens a user has made.
type counted struct {
	Made int64 `json:"made"`
}

// store writes the token if its user has room for it. Whoever makes another one at the same moment makes it look again.
func (s service) store(ctx context.Context, t identity.PAT, secret string) error {
	hash, err := identity.ParsePAT(secret)
	if err != nil {
		return fmt.Errorf("hash token %s: %w", t.ID, err)
	}
	for range tries {
		h, err := s.room(ctx, t)
		if err != nil {
			return err
		}
		ws, err := writes(t, hash, h.made)
		if err != nil {
			return err
		}
		err = s.Table.Transact(ctx, ws...)
		failed, raced := errors.AsType[*table.ConditionError](err)
		if !raced {
			return fault.Wrap("create token "+t.ID, err)
		}
		if _, ended := failed.Old(0); ended {
			return errEnded()
		}
	}
	return fault.New(fault.Conflict, "you are creating many tokens at once: create them one after another")
}

// room refuses one more token to a user who has many, or one of this name. It clears tokens away that ended with all
// sessions of their time, so that what it counts is bounded.
func (s service) room(ctx context.Context, t identity.PAT) (tokenList, error) {
	h, err := s.readTokenList(ctx, t.User)
	if err != nil {
		return h, err
	}
	var old []identity.PATEntry
	for _, e := range h.entries {
		if s.outdated(e, t.Epoch) {
			old = append(old, e)
		} else if strings.EqualFold(e.Name, t.Name) {
			return h, fault.New(fault.Conflict, "name: you have a personal access token %q already", t.Name)
		}
	}
	if len(h.entries)-len(old) >= mostTokens {
		return h, fault.New(
			fault.Conflict, "you have %d personal access tokens, and more are not possible: revoke one", mostTokens)
	}
	return h, s.clear(ctx, t.User, old)
}

func (s service) clear(ctx context.Context, user string, old []identity.PATEntry) error {
	var ws []table.Write
	for _, e := range old {
		for _, w := range removalWrites(user, e) {
			w.If = nil // it may be gone by now
			ws = append(ws, w)
		}
	}
	if len(ws) == 0 {
		return nil
	}
	return fault.Wrap("clear ended tokens of "+user, s.Table.BatchWrite(ctx, ws...))
}

// writes returns those of a new token, all or none: the token, its place in its user's list, the day on which its end is
// announced, all of which end with it, and the count of those made. The first of them demands that nothing has ended the
// user's sessions meanwhile.
func writes(t identity.PAT, hash string, made int64) ([]table.Write, error) {
	unchanged := table.Equal("made", made)
	if made == 0 {
		unchanged = table.Lacks("made")
	}
	out := []table.Write{
		table.Check(identity.UserKey(t.User), table.Equal("epoch", t.Epoch)),
		table.Update(identity.PATMadeKey(t.User), []table.Change{table.Add("made", 1)}, unchanged),
	}
	due := t.Due()
	type row struct {
		key table.Key
		v   any
	}
	all := []row{
		{identity.PATKey(hash), t},
		{identity.PATListKey(t.User, t.ID),
			identity.PATEntry{ID: t.ID, Hash: hash, Name: t.Name, Epoch: t.Epoch, Due: due}},
	}
	if due != "" {
		all = append(all, row{identity.PATDueKey(due, t.ID), identity.PATNotice{ID: t.ID, Hash: hash}})
	}
	for _, r := range all {
		it, err := table.NewItem(r.key, r.v)
		if err != nil {
			return nil, err
		}
		it.Expires = t.Expires
		out = append(out, table.Put(it, table.Absent()))
	}
	return out, nil
}
