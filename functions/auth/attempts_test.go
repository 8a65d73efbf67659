package auth

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ours   = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	theirs = "org_01k8z3v5y0e6m9x2q4t7r1c8be"
)

// memberOfTwo registers a member of two organizations, and waits until another code may be mailed.
func (h *fixture) memberOfTwo() identity.User {
	h.Helper()
	u := apitest.Value(CreateVerifiedUser(h.Context(), h.Platform, "alice@example.com", password, "Alice"))(h)
	h.belongTo(u.ID, ours, "Ours")
	h.belongTo(u.ID, theirs, "Theirs")
	h.Clock.Advance(time.Hour)
	return u
}

// newestCode returns the newest code that was mailed.
func (h *fixture) newestCode() string {
	h.Helper()
	mails := h.Mails()
	return mails[len(mails)-1].Data["code"]
}

func TestRefusedCredentials_AreRowsOfEachOrganizationOfTheMember(t *testing.T) {
	by := func(more ...any) map[string]any {
		out := map[string]any{"email": "alice@example.com"}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	for name, c := range map[string]struct {
		method, path string
		body         map[string]any
		want         string
	}{
		"a wrong password": {"POST", "/auth/login", by("password", wrong), "logIn 4 alice@example.com"},
		"for another organization": {
			"POST", "/auth/login", by("password", wrong, "tenantID", theirs),
			"logIn 4 alice@example.com",
		},
		"in another spelling": {
			"POST", "/auth/login",
			map[string]any{"email": " ALICE@example.com", "password": wrong},
			"logIn 4 alice@example.com",
		},
		"a wrong code": {
			"PATCH", "/auth/otp/validate", by("otp", "000000"),
			"validateCode 4 alice@example.com",
		},
		"a reset by a wrong code": {
			"PATCH", "/auth/password/reset", by("otp", "000000", "password", password),
			"resetPassword 4 alice@example.com",
		},
		"a reset by a wrong ticket": {
			"PATCH", "/auth/password/reset",
			by("resetToken", "lampt_x", "password", password), "resetPassword 4 alice@example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.memberOfTwo()
			h.want(401, c.method, c.path, c.body)
			for _, org := range []string{ours, theirs} {
				if got := h.auditRows(audit.PlaceOf(org)); !slices.Equal(got, []string{c.want}) {
					t.Errorf("the record of %s: %q", org, got)
				}
			}
		})
	}
}

func TestUsedCodesAndResets_TellNothingOfOtherOrganizations(t *testing.T) {
	h := newFixture(t)
	u := h.memberOfTwo()
	h.want(200, "POST", "/auth/password/forget", map[string]any{"email": u.Email})
	got := h.want(200, "PATCH", "/auth/otp/validate",
		map[string]any{"email": u.Email, "otp": h.newestCode(), "purpose": passwordReset})
	h.want(200, "PATCH", "/auth/password/reset",
		map[string]any{"resetToken": got["resetToken"], "password": "another long password"})
	for org, other := range map[string]string{ours: theirs, theirs: ours} {
		rows := h.auditRows(audit.PlaceOf(org))
		slices.Sort(rows)
		if want := []string{"resetPassword 2 " + u.Email, "validateCode 2 " + u.Email}; !slices.Equal(rows, want) {
			t.Errorf("the record of %s: %q", org, rows)
		}
		for _, r := range h.Audited(org) {
			if text := r.String(); strings.Contains(text, other) || strings.Contains(text, "lampt_") {
				t.Errorf("a row of %s: %s", org, text)
			}
		}
	}
}

// An organization hears of a log-in that it does not admit, and the user's other organization does not.
func TestLogIn_NotAdmittedIsToldToThatOrganizationOnly(t *testing.T) {
	in := newProviderFixture(t)
	u := in.memberOfTwo()
	in.demandSSO(theirs, u, nil)
	in.want(403, "POST", "/auth/login", map[string]any{"email": u.Email, "password": password, "tenantID": theirs})
	first := in.want(200, "POST", "/auth/login",
		map[string]any{"email": u.Email, "password": password, "tenantID": ours})
	in.want(403, "POST", "/auth/refresh", map[string]any{"refreshToken": first["refreshToken"], "tenantID": theirs})
	if got := in.auditRows(audit.PlaceOf(ours)); !slices.Equal(got, []string{"logIn 2 " + u.Email}) {
		t.Errorf("ours: %q", got)
	}
	if got := in.auditRows(audit.PlaceOf(theirs)); !slices.Equal(got,
		[]string{"logIn 4 " + u.Email, "refresh 4 " + u.Email}) {
		t.Errorf("theirs: %q", got)
	}
}

// Requests with wrong passwords and codes cost the same for known and unknown addresses, members or not.
func TestCounting_CostsTheSameForKnownAndUnknownAddresses(t *testing.T) {
	for name, try := range map[string]func(s *service, email string) func(context.Context) error{
		"a wrong password": func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := s.logInCounted(ctx, &logInInput{Body: LogInRequest{Email: email, Password: wrong}})
				return err
			}
		},
		"a wrong code": func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := s.validateCodeCounted(ctx, &validateInput{Body: CodeValidation{Email: email, OTP: "000000"}})
				return err
			}
		},
		"a reset by a wrong code": func(s *service, email string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := s.resetPasswordCounted(ctx, &resetInput{Body: PasswordReset{
					Email: email, OTP: "000000", Password: "another long password",
				}})
				return err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			u := h.memberOfTwo()
			s := newService(h.Platform)
			known, unknown := measureCost(t, s, try(s, u.Email)), measureCost(t, s, try(s, "nobody@example.com"))
			if known != unknown || known.trips == 0 {
				t.Errorf("known %+v, unknown %+v", known, unknown)
			}
		})
	}
}

// A refresh token of a session that a reset has ended is refused, and the organization of the session hears of it.
func TestRefresh_OfAnEndedSessionIsToldToItsOrganization(t *testing.T) {
	h := newFixture(t)
	u := h.memberOfTwo()
	first := h.want(200, "POST", "/auth/login",
		map[string]any{"email": u.Email, "password": password, "tenantID": theirs})
	h.want(200, "POST", "/auth/password/forget", map[string]any{"email": u.Email})
	h.want(200, "PATCH", "/auth/password/reset",
		map[string]any{"email": u.Email, "otp": h.newestCode(), "password": "another long password"})
	for range 3 {
		h.want(401, "POST", "/auth/refresh", map[string]any{"refreshToken": first["refreshToken"]})
	}
	rows := h.auditRows(audit.PlaceOf(theirs))
	slices.Sort(rows)
	if want := []string{"logIn 2 " + u.Email, "refresh 4 " + u.Email, "resetPassword 2 " + u.Email}; !slices.Equal(rows,
		want) {
		t.Errorf("theirs: %q", rows)
	}
	if rows = h.auditRows(audit.PlaceOf(ours)); !slices.Equal(rows, []string{"resetPassword 2 " + u.Email}) {
		t.Errorf("ours: %q", rows)
	}
}

// A wrong code of the second factor is told besides the refused log-in, because it tells that the password was right.
func TestLogIn_AWrongSecondFactorIsTold(t *testing.T) {
	e := newEnrolled(t)
	e.belongTo(e.caller.User, ours, "Ours")
	e.Put(identity.MembershipKey(e.caller.User, ours), identity.Membership{Org: ours, Joined: e.Platform.Clock.Now()})
	e.logInWith(http.StatusForbidden, "") // the usual first step is no refused credential
	e.logInWith(http.StatusUnauthorized, e.wrongCode())
	rows := e.auditRows(audit.PlaceOf(ours))
	slices.Sort(rows)
	if want := []string{"logIn 4 " + ada, "proveSecondFactor 4 " + ada}; !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
}
