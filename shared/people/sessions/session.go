// Package sessions starts, refreshes and ends sessions, for users who have proved their identity by password or through
// an identity provider. It issues the tokens that the authorizer verifies.
package sessions

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// IdleTTL is the lifetime of a refresh token.
const IdleTTL = 7 * 24 * time.Hour

const (
	absoluteTTL = 30 * 24 * time.Hour // of a session, however often it is refreshed
	// reuseGraceSeconds is how many seconds a refresh token that was exchanged before is refused without ending the
	// session, because of two browser tabs or a lost response.
	reuseGraceSeconds = 10
)

// startSession stores a session of a's user in how.Org, and lists it. It returns the session with its first refresh
// token.
func (s Sessions) startSession(ctx context.Context, a userOrganisations, how Options) (identity.Session, refreshToken,
	error,
) {
	u, now, lifetime := a.User, s.Clock.Now(), a.lifetime(how.SSO)
	t := newRefreshToken(strings.ToLower(rand.Text()), 1)
	sess := identity.Session{
		ID: t.session, User: u.ID, Org: how.Org, SSO: how.SSO, Epoch: u.Epoch, SessionEpoch: u.SessionEpoch,
		State: identity.SessionLive, Hash: t.storedHash(s.Settings.CodeKey()), Gen: t.gen, Rotated: now.Unix(),
		Idle: now.Add(IdleTTL).Unix(), Absolute: now.Add(lifetime).Unix(), Created: now,
		Method: how.Method, SourceIP: rest.SourceIP(ctx), UserAgent: rest.UserAgent(ctx), Listed: true,
		Pending: how.Pending,
	}
	if how.Second != "" {
		sess.AddProof(how.Second, now)
	}
	it, err := table.NewItem(identity.SessionKey(sess.ID), sess)
	if err != nil {
		return sess, t, err
	}
	it.Expires = now.Add(lifetime)
	listed, err := listSession(sess)
	if err != nil {
		return sess, t, err
	}
	noteEntered(ctx, sess, u)
	if err = s.Table.Transact(ctx, table.Put(it, table.Absent()), listed); err != nil {
		audit.WithdrawOrganisation(ctx)
	}
	return sess, t, fault.Wrap("begin session of "+u.ID, err)
}

// rotateRefreshToken exchanges the refresh token t of a session for the next one, and makes the other changes of the
// session. It uses one conditional write, so one of several concurrent calls succeeds. The others learn the reason from
// the item that the write found.
func (s Sessions) rotateRefreshToken(ctx context.Context, t refreshToken, r renewed) (refreshToken, error) {
	now := s.Clock.Now()
	next := newRefreshToken(t.session, t.gen+1)
	hash := t.storedHash(s.Settings.CodeKey())
	changes := append([]table.Change{
		table.Set("prev", hash), table.Set("hash", next.storedHash(s.Settings.CodeKey())), table.Set("gen", next.gen),
		table.Set("rotated", now.Unix()), table.Set("idle", now.Add(IdleTTL).Unix()), table.Set("org", r.session.Org),
		table.Set("ip", rest.SourceIP(ctx)), table.Set("agent", rest.UserAgent(ctx)), table.Set("listed", true),
	}, r.proof...)
	writes := []table.Write{table.Update(identity.SessionKey(t.session), changes,
		table.Equal("state", identity.SessionLive), table.Equal("hash", hash),
		table.Greater("abs", now.Unix()), table.Greater("idle", now.Unix()),
	)}
	if !r.session.Listed { // an earlier version began it
		listed, err := listSession(r.session)
		if err != nil {
			return next, err
		}
		writes = append(writes, listed)
	}
	err := s.Table.Transact(ctx, writes...)
	if failed, ok := errors.AsType[*table.ConditionError](err); ok {
		found, _ := failed.Old(0)
		return next, s.judgeLostRotation(ctx, t, found)
	}
	return next, fault.Wrap("refresh session "+t.session, err)
}

// judgeLostRotation returns the error for a refresh token that could not be exchanged. If it is of an earlier
// generation and arrives after reuseGraceSeconds, two clients have it: then it ends the session.
func (s Sessions) judgeLostRotation(ctx context.Context, t refreshToken, found table.Item) error {
	if found.Data == nil {
		return errRefreshToken()
	}
	sess, err := table.Decode[identity.Session](found)
	if err != nil {
		return err
	}
	soon := sess.Previous == t.storedHash(s.Settings.CodeKey()) &&
		s.Clock.Now().Unix()-sess.Rotated <= reuseGraceSeconds
	if t.gen >= sess.Gen || soon || sess.State != identity.SessionLive {
		return errRefreshToken()
	}
	if err = s.endReused(ctx, sess); err != nil {
		return err
	}
	return errRefreshToken()
}

// endReused ends a session whose refresh token was used twice, and sends its user a mail.
func (s Sessions) endReused(ctx context.Context, sess identity.Session) error {
	s.Log.WarnContext(ctx, "refresh token used twice", "session", sess.ID, "user", sess.User)
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(sess.User))
	if err != nil {
		return fmt.Errorf("read user %s: %w", sess.User, err)
	}
	post, err := mail.QueueMail(ctx, s.Sealer, s.Clock.Now(), mail.Mail{Template: mail.SessionReused, To: u.Email})
	if err != nil {
		return err
	}
	end := table.Update(identity.SessionKey(sess.ID),
		[]table.Change{table.Set("state", identity.SessionReused)}, table.Equal("state", identity.SessionLive))
	err = s.Table.Transact(ctx, end, table.Delete(identity.SessionListKey(sess.User, sess.ID)), post)
	if _, over := errors.AsType[*table.ConditionError](err); over {
		return nil
	}
	return fault.Wrap("end session "+sess.ID, err)
}

// End logs a session of the user out. A session that has ended is not changed.
func (s Sessions) End(ctx context.Context, user, session string) error {
	ctx = table.Within(ctx, identity.SessionPrefix, identity.UserPrefix+user)
	err := s.Table.Transact(ctx, table.Update(identity.SessionKey(session),
		[]table.Change{table.Set("state", identity.SessionOut)}, table.Equal("state", identity.SessionLive)),
		table.Delete(identity.SessionListKey(user, session)))
	if _, over := errors.AsType[*table.ConditionError](err); over {
		return nil
	}
	return fault.Wrap("log out session "+session, err)
}

// signAccessToken returns an access token of a session.
func (s Sessions) signAccessToken(ctx context.Context, sess identity.Session) (string, error) {
	now := s.Clock.Now()
	return s.Tokens.Sign(ctx, token.Claims{
		User: sess.User, Org: sess.Org, Session: sess.ID, ID: id.New("jti", now),
		Issued: now, Expires: now.Add(s.accessTTL(sess)),
	})
}
