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
	// rows of a user's list: those of an earlier epoch are deleted when the first token of the next is created.
	pageSize = 1 + 2*mostTokens
	tries    = 20 // of writing a new token while the same user makes others
)

// NewToken is the body of POST /personal-access-tokens.
type NewToken struct {
	Name          string `json:"name" minLength:"1" maxLength:"100" doc:"The name of the token" example:"nightly report"`
	ExpiresInDays int    `json:"expiresInDays,omitempty" minimum:"1" maximum:"365" default:"90" doc:"Days until it expires"`
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
	t, err := s.beginToken(ctx, c)
	if err != nil {
		return Created{}, err
	}
	t.Name, t.Expires = name, t.Created.Add(time.Duration(in.Body.ExpiresInDays)*24*time.Hour)
	secret := identity.NewPAT()
	t.Last4 = secret[len(secret)-4:]
	if err = s.storeToken(ctx, t, secret); err != nil {
		return Created{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: t.ID, After: newToken(t)})
	return Created{newToken(t), secret}, nil
}

// beginToken returns a token that ends together with all sessions of the user, and works in the organizations where
// the caller's session works. An ended session creates none.
func (s service) beginToken(ctx context.Context, c identity.Caller) (identity.PAT, error) {
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
	// the session ended after the authorizer had accepted it
	if err == nil && (!sess.IsOf(u) || sess.State != identity.SessionLive) {
		err = errEnded()
	}
	now := s.Clock.Now()
	return identity.PAT{
		ID: id.New("pat", now), User: u.ID, Epoch: u.Epoch, SSO: sess.SSO, MFA: sess.Proved > 0, Created: now,
	}, err
}

func errEnded() error { return fault.New(fault.Unauthenticated, "the session has ended: log in again") }

// counted is the number of tokens that a user has created.
type counted struct {
	Made int64 `json:"made"`
}

// storeToken writes the token if its user has room for it. If the user creates another token at the same moment,
// storeToken checks again.
func (s service) storeToken(ctx context.Context, t identity.PAT, secret string) error {
	hash, err := identity.ParsePAT(secret)
	if err != nil {
		return fmt.Errorf("hash token %s: %w", t.ID, err)
	}
	for range tries {
		h, err := s.checkRoom(ctx, t)
		if err != nil {
			return err
		}
		ws, err := tokenWrites(t, hash, h.made)
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

// checkRoom refuses a token above the maximum, and one with a name that is taken. It deletes tokens that ended with
// the sessions of their time, so that their number is bounded.
func (s service) checkRoom(ctx context.Context, t identity.PAT) (tokenList, error) {
	h, err := s.readTokenList(ctx, t.User)
	if err != nil {
		return h, err
	}
	var old []identity.PATEntry
	for _, e := range h.entries {
		if s.isOutdated(e, t.Epoch) {
			old = append(old, e)
		} else if strings.EqualFold(e.Name, t.Name) {
			return h, fault.New(fault.Conflict, "name: you have a personal access token %q already", t.Name)
		}
	}
	if len(h.entries)-len(old) >= mostTokens {
		return h, fault.New(
			fault.Conflict, "you have %d personal access tokens, and more are not possible: revoke one", mostTokens)
	}
	return h, s.clearOutdated(ctx, t.User, old)
}

func (s service) clearOutdated(ctx context.Context, user string, old []identity.PATEntry) error {
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

// tokenWrites returns the writes of a new token for one transaction: the token, its row in the user's list, the day
// when its end is announced, and the count of created tokens. The rows expire with the token. The first write fails
// if the user's sessions were ended meanwhile.
func tokenWrites(t identity.PAT, hash string, made int64) ([]table.Write, error) {
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
		{
			identity.PATListKey(t.User, t.ID),
			identity.PATEntry{ID: t.ID, Hash: hash, Name: t.Name, Epoch: t.Epoch, Due: due},
		},
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
