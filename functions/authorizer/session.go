package authorizer

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/table"
)

// identifyBySession returns the holder of a session's access token. It reads session, user and membership in one
// round trip, and refuses an ended one. The organization is the token's; no header changes it.
func (a *authorizer) identifyBySession(ctx context.Context, token string) (identified, error) {
	c, err := a.Tokens.Verify(ctx, token)
	if err != nil {
		return identified{}, err
	}
	caller, err := a.identifySessionUser(ctx, c)
	return caller, refuseUser(userInOrg{c.User, c.Org}, err)
}

// identifySessionUser returns the holder of the session that a verified token names.
func (a *authorizer) identifySessionUser(ctx context.Context, c token.Claims) (identified, error) {
	at := userInOrg{c.User, c.Org}
	session := identity.SessionKey(c.Session)
	found, err := a.readRows(ctx, append(at.rowKeys(), session)...)
	if err != nil {
		return identified{}, err
	}
	u, err := a.decodeLiveUser(found[at.userKey()])
	if err != nil {
		return identified{}, err
	}
	s, err := a.checkSession(c, found[session], u)
	if err != nil {
		return identified{}, err
	}
	rights, err := a.decodeRights(at, found)
	if err == nil {
		err = a.checkSSO(s, u, rights)
	}
	return identified{countsUser: countsUser(u), Caller: admitCaller(identity.Caller{
		Org: c.Org, User: c.User, Email: u.Email, Session: c.Session, Method: identity.MethodToken, SSO: s.SSO != "",
		SecondFactor: u.SecondFactorAt(a.Clock.Now(), s.Proved),
	}, rights, s.MeetsMFA(u))}, err
}

// checkSession returns the session of a token. It refuses a session that has ended, that belongs to another user or
// organization, or that is older than an event that ended all sessions of the user or of the service.
func (a *authorizer) checkSession(c token.Claims, row table.Item, u identity.User) (identity.Session, error) {
	if row.Data == nil {
		return identity.Session{}, refuseRequest("no such session")
	}
	s, err := a.rows.sessions.Of(row.Data)
	switch {
	case err != nil:
		return s, fmt.Errorf("read session %s: %w", c.Session, err)
	case s.State != identity.SessionLive || s.User != c.User || s.Absolute <= a.Clock.Now().Unix():
		return s, refuseRequest("session " + s.ID + " is over")
	case !s.IsOf(u) || u.Disabled:
		return s, refuseRequest("sessions of " + u.ID + " were ended")
	case s.Pending:
		return s, refuseRequest("session " + s.ID + " waits for a second factor")
	case s.Created.Before(a.Settings.Epoch):
		return s, refuseRequest("session " + s.ID + " is of before the store was restored")
	case s.SSO != "" && s.SSO != c.Org:
		return s, refuseRequest("session " + s.ID + " works in " + s.SSO + " only")
	}
	return s, nil
}

// readRows reads rows in one round trip.
func (a *authorizer) readRows(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	partitions := make([]string, len(keys))
	for i, k := range keys {
		partitions[i] = k.PK
	}
	found, err := a.Table.BatchGet(table.Within(ctx, partitions...), keys...)
	if err != nil {
		return nil, fmt.Errorf("read who calls: %w", err)
	}
	return found, nil
}

func (a *authorizer) decodeLiveUser(row table.Item) (identity.User, error) {
	if row.Data == nil {
		return identity.User{}, refuseRequest("no such user")
	}
	u, err := a.rows.users.Of(row.Data)
	if err != nil {
		return u, fmt.Errorf("read user %s: %w", row.PK, err)
	}
	return u, nil
}
