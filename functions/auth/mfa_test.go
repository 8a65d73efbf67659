package auth

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// enrolled is ada with an authenticator app.
type enrolled struct {
	*fixture
	secret string
	codes  []string // recovery codes
	caller identity.Caller
}

// newEnrolled returns ada with an app, a period after its first code was used.
func newEnrolled(t testing.TB) *enrolled {
	t.Helper()
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	e.setUp()
	h.Clock.Advance(time.Minute)
	return e
}

// setUp sets up an app in the caller's session.
func (e *enrolled) setUp() {
	e.Helper()
	setup := apitest.Data[TOTPSetup](e.Call(e.caller, "POST /auth/mfa/totp", nil))
	e.secret = setup.Secret
	e.codes = apitest.Data[RecoveryCodes](e.Call(e.caller, "POST /auth/mfa/totp/confirm",
		map[string]any{"otp": e.code()})).RecoveryCodes
}

// code is the present code of the app.
func (e *enrolled) code() string {
	e.Helper()
	code, err := totp.GenerateCode(e.secret, e.Clock.Now())
	e.Must(err)
	return code
}

// wrongCode is six digits that are no code of now.
func (e *enrolled) wrongCode() string {
	for _, code := range []string{"000000", "000001", "000002", "000003"} {
		ok := false
		for _, d := range []time.Duration{-30 * time.Second, 0, 30 * time.Second} {
			right, err := totp.GenerateCode(e.secret, e.Clock.Now().Add(d))
			e.Must(err)
			ok = ok || right == code
		}
		if !ok {
			return code
		}
	}
	return ""
}

func (e *enrolled) logInWith(status int, otp string, more ...string) map[string]any {
	e.Helper()
	body := map[string]any{"email": ada, "password": password}
	if otp != "" {
		body["otp"] = otp
	}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i]] = more[i+1]
	}
	return e.want(status, "POST", "/auth/login", body)
}

func (e *enrolled) status(c identity.Caller) SecondFactors {
	e.Helper()
	return apitest.Data[SecondFactors](e.Call(c, "GET /auth/mfa"))
}

func TestTOTP_FromSetUpToRemoval(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	if st := e.status(e.caller); st.TOTP || st.RecoveryCodesLeft != 0 || len(st.Passkeys) != 0 {
		t.Errorf("at first %+v", st)
	}
	setup := apitest.Data[TOTPSetup](h.Call(e.caller, "POST /auth/mfa/totp", nil))
	want := "otpauth://totp/Lamplighter:ada@example.com?secret=" + setup.Secret +
		"&issuer=Lamplighter&algorithm=SHA1&digits=6&period=30"
	if setup.OTPAuthURL != want || len(setup.Secret) != 32 {
		t.Errorf("%+v", setup)
	}
	if err := xml.Unmarshal([]byte(setup.QRSVG), new(struct{})); err != nil ||
		!strings.HasPrefix(setup.QRSVG, "<svg ") {
		t.Errorf("%v: %s", err, setup.QRSVG)
	}
	e.secret = setup.Secret
	h.logIn() // nothing has changed yet
	h.Call(e.caller, "POST /auth/mfa/totp/confirm", map[string]any{"otp": e.wrongCode()}).Want(400,
		"otp: it is no code")
	codes := apitest.Data[RecoveryCodes](h.Call(e.caller, "POST /auth/mfa/totp/confirm",
		map[string]any{"otp": e.code()})).RecoveryCodes
	if distinct := slices.Compact(slices.Sorted(slices.Values(codes))); len(distinct) != 10 || len(codes[0]) != 19 {
		t.Errorf("recovery codes %v", codes)
	}
	if h.lastMail(mail.SecondFactorChanged).To != ada {
		t.Error("ada was not told")
	}
	if st := e.status(e.caller); !st.TOTP || st.RecoveryCodesLeft != 10 || st.Notice != nil {
		t.Errorf("set up %+v", st)
	}
	refused := e.logInWith(403, "")
	if !strings.HasPrefix(refused["message"].(string), "a second factor is needed: ") {
		t.Errorf("without a code: %v", refused)
	}
	e.logInWith(401, e.code()) // its step was used to confirm
	h.Clock.Advance(30 * time.Second)
	in := e.logInWith(200, e.code())
	if s := h.sessionOf(in); !slices.Equal(s.Factors, []string{"totp"}) || s.Proved != h.Clock.Now().Unix() {
		t.Errorf("session %+v", s)
	}
	h.Call(e.caller, "DELETE /auth/mfa/totp", map[string]any{"otp": e.wrongCode()}).Want(403, "wrong or used code")
	h.Clock.Advance(30 * time.Second)
	h.Call(e.caller, "DELETE /auth/mfa/totp", map[string]any{"otp": e.code()}).Want(200)
	if st := e.status(e.caller); st.TOTP || st.RecoveryCodesLeft != 0 {
		t.Errorf("removed %+v", st)
	}
	h.logIn()
	h.Call(e.caller, "DELETE /auth/mfa/totp", map[string]any{"otp": "123456"}).Want(404)
}

func TestTOTP_SecretsAreSealedAndCodesHashed(t *testing.T) {
	e := newEnrolled(t)
	page := apitest.Value(e.Table.Query(e.Anywhere(), table.Query{
		PK: identity.UserKey(e.caller.User).PK, Limit: 100,
	}))(t)
	for _, it := range page.Items {
		text := strings.ToLower(string(it.Data))
		for _, secret := range append([]string{e.secret}, e.codes...) {
			if strings.Contains(text, strings.ToLower(secret)) ||
				strings.Contains(text, strings.ReplaceAll(strings.ToLower(secret), "-", "")) {
				t.Errorf("%s holds %s", it.SK, secret)
			}
		}
	}
	if len(page.Items) < 3 {
		t.Errorf("%d rows", len(page.Items))
	}
}

func TestTOTP_EachStepIsAcceptedOnce(t *testing.T) {
	e := newEnrolled(t)
	code := e.code()
	var in atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a := e.Call(identity.Caller{}, "POST /auth/login",
				map[string]any{"email": ada, "password": password, "otp": code})
			if a.Status == http.StatusOK {
				in.Add(1)
			}
		})
	}
	wg.Wait()
	if in.Load() != 1 {
		t.Errorf("%d log-ins with one code", in.Load())
	}
	e.Clock.Advance(30 * time.Second)
	e.logInWith(401, code) // still within the tolerance, but used
	later := e.code()
	e.Clock.Advance(30 * time.Second)
	e.logInWith(200, later) // a step late
	e.Clock.Advance(90 * time.Second)
	e.logInWith(401, later)
	next, err := totp.GenerateCode(e.secret, e.Clock.Now().Add(30*time.Second))
	e.Must(err)
	e.logInWith(200, next)     // a step early
	e.logInWith(401, e.code()) // before a used one
}

// otherLast returns a code with another last character.
func otherLast(code string) string {
	last := "x"
	if strings.HasSuffix(code, last) {
		last = "y"
	}
	return code[:len(code)-1] + last
}

func TestRecoveryCodes_EachIsGoodOnce(t *testing.T) {
	e := newEnrolled(t)
	in := e.logInWith(200, strings.ToUpper(strings.ReplaceAll(e.codes[0], "-", " ")))
	if s := e.sessionOf(in); !slices.Contains(s.Factors, "recovery") || s.Proved == 0 {
		t.Errorf("session %+v", s)
	}
	e.logInWith(401, e.codes[0])
	e.logInWith(401, "aaaa-bbbb-cccc-dddd")
	if st := e.status(e.caller); st.RecoveryCodesLeft != 9 {
		t.Errorf("%d left", st.RecoveryCodesLeft)
	}
	e.setUp() // a new app
	e.logInWith(401, otherLast(e.codes[0]))
	e.logInWith(200, e.codes[1])
	if st := e.status(e.caller); st.RecoveryCodesLeft != 9 {
		t.Errorf("%d left of the new ones", st.RecoveryCodesLeft)
	}
}

func TestTOTP_ANewAppReplacesTheOldOneOnlyWhenItIsConfirmed(t *testing.T) {
	e := newEnrolled(t)
	old := *e
	setup := apitest.Data[TOTPSetup](e.Call(e.caller, "POST /auth/mfa/totp", nil))
	e.logInWith(200, e.code())
	e.Clock.Advance(16 * time.Minute)
	e.secret = setup.Secret
	e.Call(e.caller, "POST /auth/mfa/totp/confirm", map[string]any{"otp": e.code()}).Want(409, "older than 15 minutes")
	e.setUp()
	e.Clock.Advance(time.Minute)
	old.logInWith(401, old.code())
	e.logInWith(401, old.codes[3])
	e.logInWith(200, e.code())
}

func TestSecondFactor_APasswordResetDoesNotReplaceIt(t *testing.T) {
	e := newEnrolled(t)
	e.want(200, "POST", "/auth/password/forget", map[string]any{"email": ada})
	e.want(200, "PATCH", "/auth/password/reset", map[string]any{
		"email": ada, "otp": e.mailedCode(mail.ResetPassword), "password": "eleven short candles",
	})
	body := map[string]any{"email": ada, "password": "eleven short candles"}
	e.want(403, "POST", "/auth/login", body)
	body["otp"] = e.code()
	e.want(200, "POST", "/auth/login", body)
}

// from makes log-ins from a network address.
func (e *enrolled) from(address, otp string) int {
	e.Helper()
	body := apitest.JSON(map[string]any{"email": ada, "password": password, "otp": otp})
	r := httptest.NewRequestWithContext(e.Context(), http.MethodPost, "/auth/login", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = address + ":1234"
	return e.Serve(identity.Caller{}, r).Status
}

// Whoever has the password and guesses from many sources gets few tries, and the owner still gets in.
func TestSecondFactor_GuessesAreLimitedAndTheOwnerStaysIn(t *testing.T) {
	e := newEnrolled(t)
	if got := e.from("198.51.100.7", e.code()); got != 200 {
		t.Fatalf("the owner at home: %d", got)
	}
	compared := 0
	for i := range 60 {
		e.Clock.Advance(time.Minute)
		switch got := e.from("203.0.113."+string(rune('1'+i%9))+string(rune('0'+i/9)), e.wrongCode()); got {
		case 401:
			compared++
		case 403:
		default:
			t.Fatalf("guess %d: %d", i, got)
		}
	}
	if compared != 10 {
		t.Errorf("%d guesses were compared, want 10", compared)
	}
	told := 0
	for _, m := range e.Mails() {
		if m.Template == mail.SecondFactorGuessed {
			told++
		}
	}
	if told != 1 {
		t.Errorf("ada was told %d times", told)
	}
	if got := e.from("198.51.100.7", e.code()); got != 200 {
		t.Errorf("the owner at home: %d", got)
	}
	e.Clock.Advance(time.Minute)
	if got := e.from("192.0.2.1", e.code()); got != 403 {
		t.Errorf("a right code from an unknown source: %d", got)
	}
	if got := e.from("192.0.2.1", e.codes[4]); got != 200 {
		t.Errorf("a recovery code from an unknown source: %d", got)
	}
	e.Clock.Advance(time.Minute)
	if got := e.from("192.0.2.1", e.code()); got != 200 {
		t.Errorf("the source of a recovery code is known: %d", got)
	}
}

// A stranger without the password reaches no code.
func TestSecondFactor_AStrangerUsesUpNoTries(t *testing.T) {
	e := newEnrolled(t)
	for range 8 {
		e.want(401, "POST", "/auth/login",
			map[string]any{"email": ada, "password": "wrong " + password, "otp": "000000"})
	}
	e.logInWith(200, e.code())
	for _, m := range e.Mails() {
		if m.Template == mail.SecondFactorGuessed {
			t.Error("ada was told of a guess")
		}
	}
}

func TestRefresh_ProvesTheSecondFactorInASession(t *testing.T) {
	e := newEnrolled(t)
	in := e.logInWith(200, e.code())
	e.Clock.Advance(time.Hour)
	refresh := func(status int, body map[string]any) map[string]any {
		t.Helper()
		return e.want(status, "POST", "/auth/refresh", body)
	}
	refresh(403, map[string]any{"refreshToken": in["refreshToken"], "otp": e.wrongCode()})
	next := refresh(200, map[string]any{"refreshToken": in["refreshToken"], "otp": e.code()})
	if s := e.sessionOf(next); s.Proved != e.Clock.Now().Unix() || !slices.Equal(s.Factors, []string{"totp"}) {
		t.Errorf("session %+v", s)
	}
	e.Clock.Advance(time.Minute)
	code := e.code()
	refresh(401, map[string]any{"refreshToken": in["refreshToken"], "otp": code}) // used, so the code is not
	e.logInWith(200, code)
}

func TestSecondFactor_TokensOfASessionWithoutOneAreMarked(t *testing.T) {
	e := newEnrolled(t)
	e.Change(identity.UserKey(e.caller.User), table.Remove("totp"))
	in := e.logInWith(200, "")
	if s := e.sessionOf(in); s.Proved != 0 || len(s.Factors) != 0 {
		t.Errorf("session %+v", s)
	}
}

// demand makes an organization of ada's that demands a second factor.
func (e *enrolled) demand(id, name string, demanded bool) {
	e.Helper()
	o := identity.OrganisationRecord{Organisation: identity.Organisation{ID: id, Name: name, CreatedBy: e.caller.User}}
	o.RequireMFA = &demanded
	e.Put(identity.OrganisationKey(id), o)
	e.Put(identity.AccessKey(id), identity.Access{Members: 1, Owners: 1, RequireMFA: demanded})
	e.Put(identity.MemberKey(id, e.caller.User), identity.Member{
		User: e.caller.User, Email: ada, Grants: []grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}},
	})
	e.Put(identity.MembershipKey(e.caller.User, id), identity.Membership{Org: id, Joined: e.Clock.Now()})
}

func TestRequireMFA_AtLogInAndRefresh(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	first := h.logIn()
	e := &enrolled{fixture: h, caller: h.callerOf(first)}
	e.demand(apitest.Org, "Strict", true)
	h.Clock.Advance(time.Second)
	e.demand(apitest.OtherOrg, "Lax", false)

	if s := h.sessionOf(e.logInWith(200, "")); s.Org != apitest.OtherOrg {
		t.Errorf("by default in %s", s.Org)
	}
	refused := e.logInWith(403, "", "tenantID", apitest.Org)
	if !strings.Contains(refused["message"].(string), "/auth/mfa/totp") {
		t.Errorf("no way out: %v", refused)
	}
	st := e.status(e.caller)
	if st.Notice == nil || !strings.Contains(*st.Notice, "Strict") {
		t.Errorf("ada is not told: %+v", st)
	}
	e.setUp()
	h.Clock.Advance(time.Minute)
	in := e.logInWith(200, e.code(), "tenantID", apitest.Org)
	if s := h.sessionOf(in); s.Org != apitest.Org {
		t.Errorf("in %s", s.Org)
	}
	// a session of before gets in with a proof, and not without
	h.Change(identity.SessionKey(e.caller.Session), table.Remove("proved"), table.Remove("factors"))
	h.want(403, "POST", "/auth/refresh", map[string]any{"refreshToken": first["refreshToken"], "tenantID": apitest.Org})
	h.Clock.Advance(time.Minute)
	moved := h.want(200, "POST", "/auth/refresh",
		map[string]any{"refreshToken": first["refreshToken"], "tenantID": apitest.Org, "otp": e.code()})
	if s := h.sessionOf(moved); s.Org != apitest.Org || s.Proved == 0 {
		t.Errorf("moved %+v", s)
	}
}

func TestRequireMFA_AMemberOfNothingElseGetsASessionToSetOneUp(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	e.demand(apitest.Org, "Strict", true)
	in := e.logInWith(200, "")
	e.caller = h.callerOf(in)
	if e.caller.Org != apitest.Org { // the authorizer bars it from there
		t.Errorf("in %q", e.caller.Org)
	}
	e.setUp()
	if s := h.sessionOf(in); s.Proved == 0 {
		t.Error("the session that set it up has not proved it")
	}
}

// Owners without a second factor are told in GET /auth/mfa.
func TestSecondFactors_OwnersAreTold(t *testing.T) {
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	if st := e.status(e.caller); st.Notice != nil {
		t.Errorf("who owns nothing: %s", *st.Notice)
	}
	e.demand(apitest.Org, "Lax", false)
	if st := e.status(e.caller); st.Notice == nil || !strings.Contains(*st.Notice, "you own Lax") {
		t.Errorf("an owner: %+v", st)
	}
	e.setUp()
	if st := e.status(e.caller); st.Notice != nil {
		t.Errorf("with an app: %s", *st.Notice)
	}
}

func TestSecondFactors_ASessionOfSingleSignOnChangesNone(t *testing.T) {
	e := newEnrolled(t)
	c := e.caller
	c.SSO = true
	for request, body := range map[string]any{
		"POST /auth/mfa/totp":              nil,
		"POST /auth/mfa/totp/confirm":      map[string]any{"otp": "000000"},
		"DELETE /auth/mfa/totp":            map[string]any{"otp": e.code()},
		"POST /auth/mfa/passkeys":          nil,
		"POST /auth/mfa/passkeys/confirm":  map[string]any{"name": "x"},
		"DELETE /auth/mfa/passkeys/pk_abc": map[string]any{"otp": e.code()},
	} {
		e.Call(c, request, body).Want(403, "single sign-on")
	}
}

func TestSecondFactors_ChangesNeedAFreshProofAndASession(t *testing.T) {
	e := newEnrolled(t)
	stale, pat := e.caller, e.caller
	stale.SecondFactor = identity.StaleFactor
	pat.Session, pat.Method = "", identity.MethodPAT
	for _, request := range []string{
		"POST /auth/mfa/totp", "POST /auth/mfa/totp/confirm", "POST /auth/mfa/passkeys",
		"POST /auth/mfa/passkeys/confirm",
	} {
		e.Call(stale, request, map[string]any{"otp": "000000"}).Want(403, "a second factor is needed",
			"POST /auth/refresh")
		e.Call(pat, request, map[string]any{"otp": "000000"}).Want(403, "personal access token")
	}
	e.Call(pat, "GET /auth/mfa").Want(403)
}

// A person who comes back from a provider cannot send a code there: the session waits for it.
func TestSecondFactor_AfterASignInAtAProvider(t *testing.T) {
	in := newProviderFixture(t)
	first := in.signIn("google")
	user := userOf(first)["id"].(string)
	e := &enrolled{fixture: in.fixture, caller: in.callerOf(first)}
	e.setUp()
	e.demand(apitest.Org, "Strict", true)
	e.Clock.Advance(time.Minute)

	waiting := in.signIn("google")
	if s := in.sessionOf(waiting); !s.Pending || s.Proved != 0 || s.Method != "google" {
		t.Errorf("session %+v", s)
	}
	if tenants := waiting["tenants"].([]any); len(tenants) != 0 {
		t.Errorf("it tells of %v", tenants)
	}
	refused := in.want(403, "POST", "/auth/refresh", map[string]any{"refreshToken": waiting["refreshToken"]})
	if !strings.HasPrefix(refused["message"].(string), "a second factor is needed: ") {
		t.Errorf("%v", refused)
	}
	in.want(403, "POST", "/auth/refresh", map[string]any{"refreshToken": waiting["refreshToken"], "otp": e.wrongCode()})
	got := in.want(200, "POST", "/auth/refresh",
		map[string]any{"refreshToken": waiting["refreshToken"], "otp": e.code()})
	if s := in.sessionOf(got); s.Pending || s.Proved == 0 || s.Org != apitest.Org || s.User != user {
		t.Errorf("session %+v", s)
	}

	token := in.google.Sign(t, in.google.Claims("alice"))
	body := map[string]any{"provider": "google", "token": token}
	in.want(403, "POST", "/auth/login", body)
	e.Clock.Advance(time.Minute)
	body["otp"] = e.code()
	in.want(200, "POST", "/auth/login", body)
}
