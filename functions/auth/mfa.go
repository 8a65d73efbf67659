package auth

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/sessions"
)

// registerSecondFactors registers the operations of authenticator apps.
func registerSecondFactors(g *rest.Group, s *service) {
	rest.Handle(g, rest.Op{
		ID: "getSecondFactors", Method: http.MethodGet, Path: "/auth/mfa", SignedIn: true, Session: true,
		Summary: "List the caller's second factors",
		Description: "A user with a second factor logs in by password, Google or GitHub only with otp, a code of the " +
			"authenticator app or a recovery code. A passkey counts as both factors: it logs in alone.",
	}, s.getSecondFactors)
	rest.Handle(g, rest.Op{
		ID: "beginTOTP", Method: http.MethodPost, Path: "/auth/mfa/totp", SignedIn: true, Session: true, StepUp: true,
		Credentials: true, Summary: "Begin to set up an authenticator app",
		Description: "Shows a new secret once, also as a QR code. It does nothing until POST " +
			"/auth/mfa/totp/confirm gets " +
			"its first code, within 15 minutes. An app that is set up already works until then. A session of single " +
			"sign-on is refused: its provider must not change how the user logs in elsewhere. 403 also for a user " +
			"without a second factor whose log-in is older than an hour: log in again.",
	}, s.beginTOTP)
	rest.Handle(g, rest.Op{
		ID: "confirmTOTP", Method: http.MethodPost, Path: "/auth/mfa/totp/confirm", SignedIn: true, Session: true,
		StepUp: true, Credentials: true, Summary: "Confirm an authenticator app",
		Description: "From now on log-ins need otp. Shows ten recovery codes once; each replaces a code of the " +
			"app once. " +
			"They replace earlier ones. The session has proved a second factor by this. 409: there is no new secret.",
	}, s.confirmTOTP)
	rest.Handle(g, rest.Op{
		ID: "removeTOTP", Method: http.MethodDelete, Path: "/auth/mfa/totp", SignedIn: true, Session: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Remove the authenticator app",
		Description: "otp is a code of it or a recovery code. The recovery codes are removed with the last " +
			"second factor. " +
			"403: the code is wrong or used. Sessions without a second factor are then out of organizations with " +
			"requireMFA.",
	}, s.removeTOTP)
}

// SecondFactors is the answer to GET /auth/mfa.
type SecondFactors struct {
	TOTP              bool            `json:"totp" doc:"Whether an authenticator app is set up"`
	RecoveryCodesLeft int             `json:"recoveryCodesLeft" doc:"Number of unused recovery codes"`
	Passkeys          []PasskeyRecord `json:"passkeys" doc:"The passkeys, oldest first"`
	// Notice tells an owner, or a member of an organization that demands it, to set up a second factor.
	Notice *string `json:"notice" doc:"For a user without a second factor: why one should be set up; else null"`
}

// PasskeyRecord is a passkey of the caller.
type PasskeyRecord struct {
	ID         string     `json:"id" doc:"The passkey" example:"pk_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Name       string     `json:"name" doc:"The name given by its user"`
	CreatedAt  time.Time  `json:"createdAt" doc:"When it was added"`
	LastUsedAt *time.Time `json:"lastUsedAt" doc:"When it was used last to log in; null when it never was"`
}

func newPasskeyRecord(k secondfactor.Passkey) PasskeyRecord {
	out := PasskeyRecord{ID: k.ID, Name: k.Name, CreatedAt: k.Created}
	if !k.Used.IsZero() {
		out.LastUsedAt = &k.Used
	}
	return out
}

func (s *service) getSecondFactors(ctx context.Context, _ *struct{}) (SecondFactors, error) {
	c := identity.CallerFrom(ctx)
	st, err := s.factors.ReadStatus(ctx, c.User)
	if err != nil {
		return SecondFactors{}, err
	}
	out := SecondFactors{TOTP: st.TOTP, RecoveryCodesLeft: st.RecoveryCodesLeft, Passkeys: []PasskeyRecord{}}
	for _, k := range st.Passkeys {
		out.Passkeys = append(out.Passkeys, newPasskeyRecord(k))
	}
	if !st.TOTP && len(st.Passkeys) == 0 {
		out.Notice, err = s.factorNotice(ctx, c)
	}
	return out, err
}

// factorNotice returns the reason why the caller, who has no second factor, should set one up, or nil: organizations
// that demand it, or that the caller owns.
func (s *service) factorNotice(ctx context.Context, c identity.Caller) (*string, error) {
	all, err := identity.ListOrganisations(ctx, s.Table, c.User)
	if err != nil {
		return nil, err
	}
	if c.SSO { // a session of single sign-on learns nothing of other organizations
		all = slices.DeleteFunc(all, func(o identity.OrganisationRecord) bool { return o.ID != c.Org })
	}
	owned, err := s.ownedOf(ctx, c.User, all)
	if err != nil {
		return nil, err
	}
	var demanding []string
	for _, o := range all {
		if o.Preferences().RequireMFA && !c.SSO {
			demanding = append(demanding, o.Name)
		}
	}
	switch {
	case len(demanding) > 0:
		return new("you have no second factor, and " + strings.Join(demanding, ", ") + " admits only log-ins with one"),
			nil
	case len(owned) > 0:
		return new("you own " + strings.Join(owned, ", ") +
			" and have no second factor: your password alone is enough to " +
			"delete it"), nil
	}
	return nil, nil
}

// ownedOf returns the names of the organizations that the user owns. One round trip.
func (s *service) ownedOf(ctx context.Context, user string, all []identity.OrganisationRecord) ([]string, error) {
	keys, partitions := make([]table.Key, len(all)), make([]string, len(all))
	for i, o := range all {
		keys[i] = identity.MemberKey(o.ID, user)
		partitions[i] = keys[i].PK
	}
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := s.Table.BatchGet(table.Within(ctx, partitions...), keys...)
	if err != nil {
		return nil, fault.Wrap("read memberships of "+user, err)
	}
	var out []string
	for i, o := range all {
		row, ok := rows[keys[i]]
		if !ok {
			continue
		}
		m, err := table.Decode[identity.Member](row)
		if err != nil {
			return nil, err
		}
		if m.Owns() {
			out = append(out, o.Name)
		}
	}
	return out, nil
}

// logInProof is the proof of a user's identity at a log-in.
type logInProof struct {
	how   sessions.Options
	otp   string // a code of the app or a recovery code, or empty
	later bool   // the client cannot send otp here, and sends it to POST /auth/refresh
}

// beginSession begins a session of u, who has proved the first factor. A user with a second factor proves that, too.
func (s *service) beginSession(ctx context.Context, u identity.User, p logInProof) (sessions.LoggedIn, error) {
	var err error
	switch {
	case !u.HasSecondFactor():
	case p.otp != "":
		if p.how.Second, err = s.proveCodeCounted(ctx, u, p.otp); err != nil {
			return sessions.LoggedIn{}, err
		}
	case p.later:
		p.how.Pending = true
	default:
		return sessions.LoggedIn{},
			identity.ErrSecondFactor("send otp, a code of your authenticator app or a recovery " +
				"code, or log in with a passkey: POST /auth/login/passkey")
	}
	return s.sessions.Begin(ctx, u, p.how)
}

// proverOf returns the function that verifies the second factor that a refresh brings, or nil if it brings none. A
// wrong one is fault.Denied, not fault.Unauthenticated: the session goes on.
func (s *service) proverOf(otp string, a *PasskeyAssertion) func(context.Context, identity.User) (string, error) {
	if otp == "" && a == nil {
		return nil
	}
	return func(ctx context.Context, u identity.User) (string, error) {
		return s.proveFactor(ctx, u, factorProof{otp, a})
	}
}

// factorProof is the proof of a second factor: one of its members.
type factorProof struct {
	otp       string
	assertion *PasskeyAssertion
}

// proveFactor verifies a proof of the second factor of u. A wrong one is fault.Denied.
func (s *service) proveFactor(ctx context.Context, u identity.User, p factorProof) (string, error) {
	var factor string
	var err error
	switch {
	case !u.HasSecondFactor():
		return "", fault.New(fault.Invalid, "otp: you have no second factor; set one up with POST /auth/mfa/totp")
	case p.assertion != nil:
		factor, err = s.factors.ProvePasskey(ctx, u, p.assertion.assertion())
	case p.otp != "":
		factor, err = s.proveCodeCounted(ctx, u, p.otp)
	default:
		return "", fault.New(fault.Invalid, "otp: send a code of your authenticator app or a recovery code")
	}
	if fault.Is(err, fault.Unauthenticated) {
		return "", fault.NewWithCause(fault.Denied, err, "%s", fault.Message(err))
	}
	return factor, err
}
