package sessions

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// Sessions begins and ends sessions. It remembers nothing.
type Sessions struct{ *platform.Platform }

// New makes the sessions of p.
func New(p *platform.Platform) Sessions { return Sessions{p} }

// How says what a session is begun with.
type How struct {
	Tenant string // the organization to work in; "" is the first one of the user
	SSO    string // the organization whose identity provider vouched for the user; "" is none
}

// LoggedIn is a session's tokens, and what its user can choose from.
type LoggedIn struct {
	AccessToken  string   `json:"accessToken" doc:"Send it as Authorization: Bearer …"`
	RefreshToken string   `json:"refreshToken" doc:"For POST /auth/refresh, once, within 7 days"`
	TokenType    string   `json:"tokenType" doc:"Always Bearer"`
	ExpiresIn    int      `json:"expiresIn" doc:"Seconds that the access token is good for" example:"900"`
	Tenants      []Tenant `json:"tenants" doc:"The organizations that the user belongs to"`
	User         Person   `json:"user" doc:"Who logged in"`
}

// Tenant is an organization to choose.
type Tenant struct {
	ID   string `json:"id" doc:"What to send as tenantID"`
	Name string `json:"name" doc:"Its name"`
}

// Person is the user of a session.
type Person struct {
	ID    string `json:"id" doc:"The user"`
	Email string `json:"email" doc:"The address"`
	Name  string `json:"name" doc:"The name"`
}

// reach names the partitions that sessions touch before an organization is known.
func reach(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.SessionPrefix, mail.Partition)
}

// Begin starts a session of u, who has proved to be u, and with that accepts the invitations of the address. fault.Denied
// when u does not belong to how.Tenant, or may enter it only through its identity provider.
func (s Sessions) Begin(ctx context.Context, u identity.User, how How) (LoggedIn, error) {
	ctx = reach(ctx)
	audit.As(ctx, "", u.ID, u.Email)
	if err := membership.New(s.Platform).Accept(ctx, u, how.SSO); err != nil { // to be accepted at the next log-in
		s.Log.ErrorContext(ctx, "invitations not accepted", "user", u.ID, "error", err)
	}
	a, err := s.account(ctx, u, how.SSO)
	if err != nil {
		return LoggedIn{}, err
	}
	org, err := s.choose(ctx, a, how.Tenant, "", how.SSO)
	if err != nil {
		return LoggedIn{}, err
	}
	sess, t, err := s.start(ctx, u, org, how.SSO)
	if err != nil {
		return LoggedIn{}, err
	}
	audit.As(ctx, org, u.ID, u.Email) // no sooner: whose organization it is not gets no row of it
	return s.loggedIn(ctx, sess, t, a)
}

// Refresh exchanges a refresh token, and moves the session to the organization tenant unless that is "".
// fault.Unauthenticated when the token is forged, used or too old.
func (s Sessions) Refresh(ctx context.Context, token, tenant string) (LoggedIn, error) {
	t, err := parseRefresh(token, s.Settings.Pepper)
	if err != nil {
		return LoggedIn{}, err
	}
	ctx = reach(ctx)
	sess, err := s.read(ctx, t)
	if err != nil {
		return LoggedIn{}, err
	}
	u, err := s.owner(ctx, sess)
	if err != nil {
		return LoggedIn{}, err
	}
	audit.As(ctx, "", u.ID, u.Email)
	a, err := s.account(ctx, u, sess.SSO)
	if err != nil {
		return LoggedIn{}, err
	}
	if a.belongs(sess.Org) { // one that was erased must not be written to any more
		audit.As(ctx, sess.Org, "", "")
	}
	org, err := s.choose(ctx, a, tenant, sess.Org, sess.SSO)
	if err != nil && sess.Hash == t.hash(s.Settings.Pepper) && sess.State == identity.SessionLive {
		// A wish that cannot be met does not use the token up; but an old token is to be noticed, whatever it wishes.
		return LoggedIn{}, err
	}
	if t, err = s.rotate(ctx, t, org); err != nil {
		return LoggedIn{}, err
	}
	audit.As(ctx, org, u.ID, u.Email)
	sess.Org = org
	return s.loggedIn(ctx, sess, t, a)
}

func (s Sessions) read(ctx context.Context, t refreshToken) (identity.Session, error) {
	sess, err := table.Read[identity.Session](ctx, s.Table, identity.SessionKey(t.session))
	if fault.Is(err, fault.NotFound) {
		return sess, errRefresh()
	}
	return sess, fault.Wrap("read session "+t.session, err)
}

// owner reads the user of a session that may still be refreshed.
func (s Sessions) owner(ctx context.Context, sess identity.Session) (identity.User, error) {
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(sess.User))
	if fault.Is(err, fault.NotFound) || err == nil && (u.Epoch != sess.Epoch || u.Disabled) {
		return u, errRefresh()
	}
	return u, fault.Wrap("read user "+sess.User, err)
}

// EndBy ends the session of a refresh token, if it is the user's. A token that is none ends nothing, and is no error.
func (s Sessions) EndBy(ctx context.Context, token, user string) error {
	t, err := parseRefresh(token, s.Settings.Pepper)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	ctx = reach(ctx)
	sess, err := table.Read[identity.Session](ctx, s.Table, identity.SessionKey(t.session))
	if fault.Is(err, fault.NotFound) || err == nil && sess.User != user {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read session %s: %w", t.session, err)
	}
	return s.End(ctx, sess.ID)
}

func (s Sessions) loggedIn(ctx context.Context, sess identity.Session, t refreshToken, a account) (LoggedIn, error) {
	access, err := s.sign(ctx, sess)
	if err != nil {
		return LoggedIn{}, err
	}
	out := LoggedIn{
		AccessToken: access, RefreshToken: t.text(s.Settings.Pepper), TokenType: "Bearer",
		ExpiresIn: int(token.TTL.Seconds()), Tenants: make([]Tenant, len(a.tenants)),
		User: Person{a.ID, a.Email, a.Name},
	}
	for i, o := range a.tenants {
		out.Tenants[i] = Tenant{o.ID, o.Name}
	}
	audit.Note(ctx, audit.Change{Target: a.ID, After: entered{sess.ID, sess.Org, sess.SSO != "", out.User}})
	return out, nil
}

// entered is what the audit row of a log-in says: the organization that it belongs to, and none of the user's others.
type entered struct {
	Session      string `json:"sessionID"`
	Organisation string `json:"organisationID"`
	SSO          bool   `json:"sso"`
	User         Person `json:"user"`
}
