package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/attempts"
)

// Sessions starts and ends sessions. It has no state.
type Sessions struct{ *platform.Platform }

// New returns the Sessions of p.
func New(p *platform.Platform) Sessions { return Sessions{p} }

// Options are the options of Begin.
type Options struct {
	Org string // the organization to work in; "" means the first one of the user
	SSO string // the organization whose identity provider vouched for the user, or ""
	// Method is the way in which the user logged in: identity.LoginEmail, …
	Method string
	// Second is the second factor that the user has proved: identity.FactorTOTP, …; or "".
	Second string
	// Pending is true if the user has a second factor and could not send it yet. The session accepts nothing but
	// Refresh with a proof of it.
	Pending bool
}

// LoggedIn holds the tokens of a session, and the organizations that its user can choose from.
type LoggedIn struct {
	AccessToken  string               `json:"accessToken" doc:"Send it as Authorization: Bearer …"`
	RefreshToken string               `json:"refreshToken" doc:"For POST /auth/refresh, once, within 7 days"`
	TokenType    string               `json:"tokenType" doc:"Always Bearer"`
	ExpiresIn    int                  `json:"expiresIn" doc:"Lifetime of the access token in seconds" example:"900"`
	Tenants      []OrganisationChoice `json:"tenants" doc:"The organizations that the user belongs to"`
	User         Person               `json:"user" doc:"The user who logged in. Only POST /auth/refresh of a web console without a session answers null"`
}

// OrganisationChoice is an organization that the user can choose.
type OrganisationChoice struct {
	ID   string `json:"id" doc:"Send it as tenantID"`
	Name string `json:"name" doc:"Name of the organization"`
}

// Person is the user of a session.
type Person struct {
	ID    string `json:"id" doc:"ID of the user"`
	Email string `json:"email" doc:"E-mail address of the user"`
	Name  string `json:"name" doc:"Name of the user"`
}

// MarshalJSON returns p as an object, or null for the zero Person, which is nobody.
func (p Person) MarshalJSON() ([]byte, error) {
	if p == (Person{}) {
		return []byte("null"), nil
	}
	type person Person // without this method
	b, err := json.Marshal(person(p))
	if err != nil {
		return nil, fmt.Errorf("encode person %s: %w", p.ID, err)
	}
	return b, nil
}

// withSessionPartitions allows access to the partitions that sessions use before the organization is known.
func withSessionPartitions(ctx context.Context) context.Context {
	return table.Within(ctx, identity.UserPrefix, identity.SessionPrefix, mail.Prefix)
}

// Begin starts a session of u, who has proved their identity. It returns fault.Denied if u does not belong to how.Org,
// or may enter it only through its identity provider.
func (s Sessions) Begin(ctx context.Context, u identity.User, how Options) (LoggedIn, error) {
	ctx = withSessionPartitions(ctx)
	audit.NoteActor(ctx, "", u.ID, u.Email)
	a, err := s.listOrganisations(ctx, u, how.SSO)
	if err != nil {
		return LoggedIn{}, err
	}
	org, err := s.chooseOrganisation(ctx, a, orgChoice{
		wanted: how.Org, sso: how.SSO, proved: how.Second != "", pending: how.Pending,
	})
	if err != nil {
		if how.SSO == "" { // else the request's own row is in that organization's log
			s.countNotAdmitted(ctx, attempts.Attempt{Action: attempts.LogIn, Org: how.Org}, a, err)
		}
		return LoggedIn{}, err
	}
	how.Org = org
	sess, t, err := s.startSession(ctx, a, how)
	if err != nil {
		return LoggedIn{}, err
	}
	return s.newLoggedIn(ctx, sess, t, a)
}

// Refreshing is what a refresh asks for besides the next tokens.
type Refreshing struct {
	Org string // the organization to move to, unless it is empty
	// Prove verifies the second factor of u, and returns its name (identity.FactorTOTP, …). It is nil if the client
	// sent none.
	Prove func(ctx context.Context, u identity.User) (string, error)
}

// Refresh exchanges a refresh token. It returns fault.Unauthenticated if the token is forged, used or expired, and
// fault.Denied if the session waits for a second factor and gets none.
func (s Sessions) Refresh(ctx context.Context, token string, how Refreshing) (LoggedIn, error) {
	t, err := parseRefreshToken(token, s.Settings.CodeKey())
	if err != nil {
		return LoggedIn{}, err
	}
	ctx = withSessionPartitions(ctx)
	sess, err := s.readSession(ctx, t)
	if err != nil {
		return LoggedIn{}, err
	}
	u, err := s.readSessionUser(ctx, sess)
	if err != nil {
		s.countRefused(ctx, u, sess.Org, err)
		return LoggedIn{}, err
	}
	audit.NoteActor(ctx, "", u.ID, u.Email)
	a, err := s.listOrganisations(ctx, u, sess.SSO)
	if err != nil {
		return LoggedIn{}, err
	}
	if err = s.checkAge(sess, a); err != nil {
		return LoggedIn{}, err
	}
	r := renewal{session: sess, user: a, Refreshing: how}
	r.current = sess.Hash == t.storedHash(s.Settings.CodeKey()) && sess.State == identity.SessionLive
	next, err := s.renewSession(ctx, r)
	if err != nil && r.current {
		// A request for an organization that does not admit the user does not use the token up. A used token is still
		// detected.
		org := cmp.Or(how.Org, sess.Org)
		s.countNotAdmitted(ctx, attempts.Attempt{Action: attempts.Refresh, Org: org}, a, err)
		return LoggedIn{}, err
	}
	was := sess.Org
	noteEntered(ctx, next.session, u)
	if t, err = s.rotateRefreshToken(ctx, t, next); err != nil {
		audit.WithdrawOrganisation(ctx)
		s.countRefused(ctx, u, was, err)
		return LoggedIn{}, err
	}
	return s.newLoggedIn(ctx, next.session, t, a)
}

func (s Sessions) readSession(ctx context.Context, t refreshToken) (identity.Session, error) {
	sess, err := table.Read[identity.Session](ctx, s.Table, identity.SessionKey(t.session))
	if fault.Is(err, fault.NotFound) {
		return sess, errRefreshToken()
	}
	return sess, fault.Wrap("read session "+t.session, err)
}

// readSessionUser reads the user of a session. It returns an error if the session can no longer be refreshed.
func (s Sessions) readSessionUser(ctx context.Context, sess identity.Session) (identity.User, error) {
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(sess.User))
	if fault.Is(err, fault.NotFound) || err == nil && (!sess.IsOf(u) || u.Disabled) {
		return u, errRefreshToken()
	}
	return u, fault.Wrap("read user "+sess.User, err)
}

// EndByRefreshToken ends the session of a refresh token, if it belongs to the user. An invalid token ends nothing, and
// is no error.
func (s Sessions) EndByRefreshToken(ctx context.Context, token, user string) error {
	t, err := parseRefreshToken(token, s.Settings.CodeKey())
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	ctx = withSessionPartitions(ctx)
	sess, err := table.Read[identity.Session](ctx, s.Table, identity.SessionKey(t.session))
	if fault.Is(err, fault.NotFound) || err == nil && sess.User != user {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read session %s: %w", t.session, err)
	}
	return s.End(ctx, user, sess.ID)
}

func (s Sessions) newLoggedIn(ctx context.Context, sess identity.Session, t refreshToken,
	a userOrganisations,
) (LoggedIn, error) {
	access, err := s.signAccessToken(ctx, sess)
	if err != nil {
		return LoggedIn{}, err
	}
	out := LoggedIn{
		AccessToken: access, RefreshToken: t.clientText(s.Settings.CodeKey()), TokenType: "Bearer",
		ExpiresIn: int(s.accessTTL(sess).Seconds()), Tenants: make([]OrganisationChoice, len(a.organisations)),
		User: Person{a.ID, a.Email, a.Name},
	}
	if sess.Pending { // the names of organizations are for users who have proved who they are
		out.Tenants = []OrganisationChoice{}
		a.organisations = nil
	}
	for i, o := range a.organisations {
		out.Tenants[i] = OrganisationChoice{o.ID, o.Name}
	}
	return out, nil
}

// noteEntered completes the audit row of a log-in or a refresh before the session is stored. So the row is written
// once, together with the session, into the log of the session's organization. The user must belong to it: another
// organization gets no row.
func noteEntered(ctx context.Context, sess identity.Session, u identity.User) {
	audit.NoteActor(ctx, sess.Org, u.ID, u.Email)
	audit.NoteChange(ctx, audit.Change{Target: u.ID, Final: true, After: entered{
		sess.ID, sess.Org, sess.SSO != "", append([]string{}, sess.Factors...), Person{u.ID, u.Email, u.Name},
	}})
}

// entered is the log-in as the audit log records it: with the organization of the session, and none of the user's
// others.
type entered struct {
	Session      string `json:"sessionID"`
	Organisation string `json:"organisationID"`
	SSO          bool   `json:"sso"`
	// the proofs of the user's identity
	Factors []string `json:"factors"`
	User    Person   `json:"user"`
}
