package auth

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

type object = map[string]any

// newPasskeyOwner returns ada with one passkey and its recovery codes.
func newPasskeyOwner(t testing.TB) (*enrolled, *authenticator, AddedPasskey) {
	t.Helper()
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	a := newAuthenticator(t, h.Settings.BaseURL, "lamplighter.test")
	return e, a, e.register(a, "Phone")
}

// register adds a passkey in the caller's session.
func (e *enrolled) register(a *authenticator, name string) AddedPasskey {
	e.Helper()
	options := apitest.Data[object](e.Call(e.caller, "POST /auth/mfa/passkeys"))
	credential := a.create(options)
	credential["name"] = name
	return apitest.Data[AddedPasskey](e.Call(e.caller, "POST /auth/mfa/passkeys/confirm", credential))
}

func (e *enrolled) options(email string) object {
	e.Helper()
	body := object{}
	if email != "" {
		body["email"] = email
	}
	return e.want(200, "POST", "/auth/login/passkey", body)
}

// logInByPasskey logs in with a new signature.
func (e *enrolled) logInByPasskey(status int, a *authenticator) object {
	e.Helper()
	a.count++
	return e.want(status, "POST", "/auth/login/passkey/confirm", a.sign(e.options("")))
}

func TestPasskeys_FromRegistrationToRemoval(t *testing.T) {
	e, a, added := newPasskeyOwner(t)
	if added.Name != "Phone" || !strings.HasPrefix(added.ID, "pk_") || added.LastUsedAt != nil ||
		len(added.RecoveryCodes) != 10 {
		t.Errorf("added %+v", added)
	}
	if e.lastMail(mail.SecondFactorChanged).To != ada {
		t.Error("ada was not told")
	}
	e.logInWith(403, "") // the password alone is not enough any more
	e.logInWith(200, added.RecoveryCodes[0])
	in := e.logInByPasskey(200, a)
	s := e.sessionOf(in)
	if !slices.Equal(s.Factors, []string{"passkey"}) || s.Method != "passkey" || s.Proved != e.Clock.Now().Unix() ||
		s.User != e.caller.User {
		t.Errorf("session %+v", s)
	}
	second := newAuthenticator(t, a.origin, a.rp)
	e.Clock.Advance(time.Second)
	if again := e.register(second, ""); again.Name != "Passkey" || len(again.RecoveryCodes) != 0 {
		t.Errorf("the second: %+v", again)
	}
	st := e.status(e.caller)
	if len(st.Passkeys) != 2 || st.Passkeys[0].LastUsedAt == nil || st.RecoveryCodesLeft != 9 || st.TOTP {
		t.Errorf("%+v", st)
	}
	path := "DELETE /auth/mfa/passkeys/"
	e.Call(e.caller, path+added.ID, object{}).Want(400, "otp")
	e.Call(e.caller, path+added.ID, object{"otp": "aaaa-bbbb-cccc-dddd"}).Want(403, "wrong")
	e.Call(e.caller, path+"pk_nothing", object{"otp": added.RecoveryCodes[1]}).Want(404)
	e.Call(e.caller, path+added.ID, object{"otp": added.RecoveryCodes[1]}).Want(200)
	e.logInByPasskey(401, a)
	second.count++
	e.Call(e.caller, path+st.Passkeys[1].ID, object{"assertion": second.sign(e.options(""))}).Want(200)
	if st = e.status(e.caller); len(st.Passkeys) != 0 || st.RecoveryCodesLeft != 0 {
		t.Errorf("at the end %+v", st)
	}
	e.logInWith(200, "")
}

func TestPasskeys_OptionsAreThoseOfTheW3C(t *testing.T) {
	e, a, _ := newPasskeyOwner(t)
	got := apitest.Data[PasskeyCreationOptions](e.Call(e.caller, "POST /auth/mfa/passkeys"))
	if got.RP.ID != "lamplighter.test" || got.User.Name != ada || got.Attestation != "none" ||
		got.AuthenticatorSelection != (PasskeyAuthenticator{"required", true, "required"}) ||
		len(got.ExcludeCredentials) != 1 || got.ExcludeCredentials[0].ID != b64(a.id) || len(got.Challenge) < 22 ||
		!slices.Contains(got.PubKeyCredParams, PasskeyAlgorithm{"public-key", -7}) {
		t.Errorf("%+v", got)
	}
	known, unknown := e.options(ada), e.options("eve@example.com")
	delete(known, "challenge")
	delete(unknown, "challenge")
	if apitest.JSON(known) != apitest.JSON(unknown) || known["userVerification"] != "required" ||
		known["rpId"] != "lamplighter.test" {
		t.Errorf("known %v, unknown %v", known, unknown)
	}
}

func TestPasskeys_LogInsThatAreRefused(t *testing.T) {
	e, good, _ := newPasskeyOwner(t)
	good.count = 5
	e.logInByPasskey(200, good)
	for name, change := range map[string]func(*authenticator, object) object{
		"another origin": func(a *authenticator, o object) object {
			a.origin = "https://evil.test"
			return a.sign(o)
		},
		"another service":      func(a *authenticator, o object) object { a.rp = "evil.test"; return a.sign(o) },
		"without verification": func(a *authenticator, o object) object { a.flags = userPresent; return a.sign(o) },
		"without presence":     func(a *authenticator, o object) object { a.flags = userVerified; return a.sign(o) },
		"an old count":         func(a *authenticator, o object) object { a.count = 3; return a.sign(o) },
		"no count any more":    func(a *authenticator, o object) object { a.count = 0; return a.sign(o) },
		"another key": func(a *authenticator, o object) object {
			a.key = newAuthenticator(t, a.origin, a.rp).key
			return a.sign(o)
		},
		"an unknown credential": func(a *authenticator, o object) object { a.id = []byte("unknown"); return a.sign(o) },
		"an unknown user": func(a *authenticator, o object) object {
			a.handle = b64([]byte("usr_x"))
			return a.sign(o)
		},
		"no user": func(a *authenticator, o object) object { a.handle = ""; return a.sign(o) },
		"an invented challenge": func(a *authenticator, o object) object {
			o["challenge"] = b64([]byte("0123456789abcdef0123456789abcdef"))
			return a.sign(o)
		},
		"a challenge of a registration": func(a *authenticator, _ object) object {
			return a.sign(apitest.Data[object](e.Call(e.caller, "POST /auth/mfa/passkeys")))
		},
		"a challenge for another address": func(a *authenticator, _ object) object {
			return a.sign(e.options("eve@example.com"))
		},
		"six minutes later": func(a *authenticator, o object) object {
			e.Clock.Advance(6 * time.Minute)
			return a.sign(o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := *good
			a.count = 100
			assertion := change(&a, e.options(""))
			if status, b, _ := e.call("POST", "/auth/login/passkey/confirm",
				assertion); status != http.StatusUnauthorized {
				t.Errorf("%d %s", status, b)
			}
		})
	}
	good.count = 7
	e.logInByPasskey(200, good)
	nested := object{"credential": func() object { good.count++; return good.sign(e.options(ada)) }()}
	e.want(200, "POST", "/auth/login/passkey/confirm", nested)
	e.want(400, "POST", "/auth/login/passkey/confirm", object{"id": "x"})
}

// An authenticator that does not count always sends 0.
func TestPasskeys_AChallengeIsGoodOnce(t *testing.T) {
	e, a, _ := newPasskeyOwner(t)
	assertion := a.sign(e.options(""))
	var in atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if e.Call(identity.Caller{}, "POST /auth/login/passkey/confirm", assertion).Status == http.StatusOK {
				in.Add(1)
			}
		})
	}
	wg.Wait()
	if in.Load() != 1 {
		t.Errorf("%d log-ins with one assertion", in.Load())
	}
	e.want(200, "POST", "/auth/login/passkey/confirm", a.sign(e.options("")))
}

func TestPasskeys_RegistrationsThatAreRefused(t *testing.T) {
	e, good, _ := newPasskeyOwner(t)
	begin := func() object { return apitest.Data[object](e.Call(e.caller, "POST /auth/mfa/passkeys")) }
	eve := e.caller
	eve.User = e.User("eve").ID
	for name, c := range map[string]struct {
		as     identity.Caller
		create func(*authenticator) object
	}{
		"another origin": {e.caller, func(a *authenticator) object {
			a.origin = "https://evil.test"
			return a.create(begin())
		}},
		"another service": {e.caller, func(a *authenticator) object {
			a.rp = "evil.test"
			return a.create(begin())
		}},
		"without verification": {e.caller, func(a *authenticator) object {
			a.flags = userPresent
			return a.create(begin())
		}},
		"another user's": {eve, func(a *authenticator) object { return a.create(begin()) }},
		"a challenge of a log-in": {e.caller, func(a *authenticator) object {
			o := begin()
			o["challenge"] = e.options("")["challenge"]
			return a.create(o)
		}},
		"no credential": {e.caller, func(*authenticator) object { return object{} }},
		"nonsense": {e.caller, func(a *authenticator) object {
			c := a.create(begin())
			c["response"].(object)["attestationObject"] = "oWNmbXRkbm9uZQ"
			return c
		}},
	} {
		t.Run(name, func(t *testing.T) {
			credential := c.create(newAuthenticator(t, good.origin, good.rp))
			e.Call(c.as, "POST /auth/mfa/passkeys/confirm", credential).Want(400)
		})
	}
	e.Call(e.caller, "POST /auth/mfa/passkeys/confirm", good.create(begin())).Want(409) // it is registered
	credential := newAuthenticator(t, good.origin, good.rp).create(begin())
	e.Call(e.caller, "POST /auth/mfa/passkeys/confirm", credential).Want(200)
	e.Call(e.caller, "POST /auth/mfa/passkeys/confirm", credential).Want(400, "challenge")
	if n := len(e.status(e.caller).Passkeys); n != 2 {
		t.Errorf("%d passkeys", n)
	}
}

func TestPasskeys_AnAssertionProvesTheFactorAtRefresh(t *testing.T) {
	e, a, added := newPasskeyOwner(t)
	in := e.logInWith(200, added.RecoveryCodes[0])
	e.Clock.Advance(time.Hour)
	next := e.want(200, "POST", "/auth/refresh", object{
		"refreshToken": in["refreshToken"], "assertion": a.sign(e.options("")),
	})
	if s := e.sessionOf(next); s.Proved != e.Clock.Now().Unix() || !slices.Contains(s.Factors, "passkey") {
		t.Errorf("session %+v", s)
	}
}

func TestPasskeys_ADisabledAccountStaysOut(t *testing.T) {
	e, a, _ := newPasskeyOwner(t)
	e.Change(identity.UserKey(e.caller.User), table.Set("disabled", true))
	e.logInByPasskey(403, a)
}

func TestPasskeys_WhereTheServiceHasNoName(t *testing.T) {
	for base, want := range map[string]string{
		"":                      "base URL",
		"https://192.0.2.7":     "IP address",
		"https://a.test:8443/v": "host a.test",
		"http://127.0.0.1:8080": "host localhost",
		"http://[::1]:8080":     "host localhost",
	} {
		h := newFixture(t).quickly()
		h.Settings.BaseURL = base
		a := h.Call(identity.Caller{}, "POST /auth/login/passkey", object{})
		if host, ok := strings.CutPrefix(want, "host "); ok {
			if got := apitest.Data[PasskeyRequestOptions](a); got.RPID != host {
				t.Errorf("%s: %+v", base, got)
			}
		} else {
			a.Want(400, want)
		}
	}
}

func TestPasskeys_RowsHoldNoAttestation(t *testing.T) {
	e, _, _ := newPasskeyOwner(t)
	page := apitest.Value(e.Table.Query(e.Anywhere(), table.Query{
		PK: identity.UserKey(e.caller.User).PK, Prefix: identity.SecondFactorPrefix + "PASSKEY#", Limit: 10,
	}))(t)
	var row struct {
		Credential struct{ Attestation map[string]json.RawMessage }
	}
	if len(page.Items) != 1 || json.Unmarshal(page.Items[0].Data, &row) != nil {
		t.Fatalf("%d rows", len(page.Items))
	}
	if len(page.Items[0].Data) > 1500 {
		t.Errorf("%d bytes: %s", len(page.Items[0].Data), page.Items[0].Data)
	}
}
