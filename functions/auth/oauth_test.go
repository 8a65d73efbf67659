package auth

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// providerFixture has a twin of each provider.
type providerFixture struct {
	*fixture
	google *oauthlogintest.OpenID
	github *oauthlogintest.GitHub
}

func newProviderFixture(t testing.TB) *providerFixture {
	t.Helper()
	f := apitest.New(t)
	in := &providerFixture{google: oauthlogintest.NewOpenID(t, f.Clock), github: oauthlogintest.NewGitHub(t)}
	f.Settings.Google, f.Settings.GitHub = in.google.Client(), in.github.Client()
	in.fixture = mountFixture(f)
	return in
}

// goOut begins a sign-in, sends the person, and returns the query of the returning browser.
func (in *providerFixture) goOut(provider, person string) url.Values {
	in.Helper()
	begun := in.want(200, "GET", "/auth/"+provider+"/url", nil)
	address := begun["url"].(string)
	var back url.Values
	if provider == "google" {
		back = in.google.Visit(in.TB, address, person)
	} else {
		back = in.github.Visit(in.TB, address, person)
	}
	if back.Get("state") != begun["state"] {
		in.Fatalf("sent away with the state %v, back with %v", begun["state"], back)
	}
	return back
}

func (in *providerFixture) comeBack(status int, provider string, back url.Values) map[string]any {
	in.Helper()
	return in.want(status, "GET", "/auth/"+provider+"/callback?"+back.Encode(), nil)
}

// signIn returns the whole way of alice.
func (in *providerFixture) signIn(provider string) map[string]any {
	in.Helper()
	return in.comeBack(200, provider, in.goOut(provider, "alice"))
}

func userOf(in map[string]any) map[string]any { return in["user"].(map[string]any) }

func TestSigningInAtAProvider(t *testing.T) {
	for _, provider := range []string{"google", "github"} {
		t.Run(provider, func(t *testing.T) {
			in := newProviderFixture(t)
			first := in.signIn(provider)
			if u := userOf(first); u["email"] != "alice@example.com" || first["tokenType"] != "Bearer" {
				t.Errorf("signed in: %v", first)
			}
			again := in.signIn(provider)
			if userOf(again)["id"] != userOf(first)["id"] {
				t.Errorf("the second time as %v, the first as %v", again["user"], first["user"])
			}
			in.refreshTokens(200, again)
			in.want(401, "POST", "/auth/login", map[string]any{"email": "alice@example.com", "password": password})
		})
	}
}

// A person who first signed in at a provider can set a password later, by a code that only the mailbox's owner reads.
func TestAPasswordForAnAccountOfAProvider(t *testing.T) {
	in := newProviderFixture(t)
	first := in.signIn("github")
	in.want(200, "POST", "/auth/password/forget", map[string]any{"email": "alice@example.com"})
	in.want(200, "PATCH", "/auth/password/reset",
		map[string]any{"email": "alice@example.com", "otp": in.mailedCode(mail.ResetPassword), "password": password})
	got := in.want(200, "POST", "/auth/login", map[string]any{"email": "alice@example.com", "password": password})
	if userOf(got)["id"] != userOf(first)["id"] || userOf(in.signIn("github"))["id"] != userOf(first)["id"] {
		t.Errorf("%v, before %v", got["user"], first["user"])
	}
}

// check 21.
func TestStatesThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(in *providerFixture, back url.Values){
		"no state":       func(_ *providerFixture, back url.Values) { back.Del("state") },
		"an empty state": func(_ *providerFixture, back url.Values) { back.Set("state", "") },
		"a state that is made up": func(_ *providerFixture, back url.Values) {
			back.Set("state", strings.Repeat("A", 52))
		},
		"a state cut off": func(_ *providerFixture, back url.Values) {
			back.Set("state", back.Get("state")[:51])
		},
		"a state in small letters": func(_ *providerFixture, back url.Values) {
			back.Set("state", strings.ToLower(back.Get("state")))
		},
		"an endless state": func(_ *providerFixture, back url.Values) {
			back.Set("state", strings.Repeat("A", 4000))
		},
		"a state after 10 minutes": func(in *providerFixture, _ url.Values) {
			in.Clock.Advance(oauthLoginTTL + time.Second)
		},
		"a state of before the store was restored": func(in *providerFixture, _ url.Values) {
			in.Settings.Epoch = in.Clock.Now()
		},
		"a state of a service with another pepper": func(in *providerFixture, _ url.Values) {
			in.Settings.Pepper = []byte("other")
		},
		"a state that was used": func(in *providerFixture, back url.Values) {
			in.comeBack(200, "google", back)
		},
		"a state that was used for nothing": func(in *providerFixture, back url.Values) {
			in.comeBack(401, "google", url.Values{"state": {back.Get("state")}, "error": {"access_denied"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := newProviderFixture(t)
			back := in.goOut("google", "alice")
			change(in, back)
			calls := in.google.Calls("/token")
			refused := in.comeBack(401, "google", back)
			if !strings.HasPrefix(refused["message"].(string), "state:") || in.google.Calls("/token") != calls {
				t.Errorf("%v; the code was sent %d times", refused, in.google.Calls("/token")-calls)
			}
		})
	}
}

// check 21: the state is used up before the code is sent anywhere.
func TestOfTwentyWhoBringTheSameStateOneSignsIn(t *testing.T) {
	in := newProviderFixture(t)
	back := in.goOut("google", "alice")
	var won atomic.Int64
	runTogether(20, func(int) {
		switch status, b, _ := in.call("GET", "/auth/google/callback?"+back.Encode(), nil); status {
		case 200:
			won.Add(1)
		case 401:
		default:
			t.Errorf("%d %s", status, b)
		}
	})
	if won.Load() != 1 || in.google.Calls("/token") != 1 {
		t.Errorf("%d of 20 signed in, and the code was sent %d times", won.Load(), in.google.Calls("/token"))
	}
}

// check 21.
func TestCodesThatAreNotGood(t *testing.T) {
	for _, provider := range []string{"google", "github"} {
		for name, change := range map[string]func(in *providerFixture, back url.Values){
			"none":    func(_ *providerFixture, back url.Values) { back.Del("code") },
			"made up": func(_ *providerFixture, back url.Values) { back.Set("code", "made-up") },
			"endless": func(_ *providerFixture, back url.Values) { back.Set("code", strings.Repeat("a", 5000)) },
			"used": func(in *providerFixture, back url.Values) {
				in.comeBack(200, provider, back)
				back.Set("state", in.goOut(provider, "alice").Get("state"))
			},
			"of another person": func(in *providerFixture, back url.Values) {
				back.Set("code", in.goOut(provider, "eve").Get("code"))
			},
		} {
			t.Run(provider+" "+name, func(t *testing.T) {
				in := newProviderFixture(t)
				back := in.goOut(provider, "alice")
				change(in, back)
				in.comeBack(401, provider, back)
			})
		}
	}
}

// check 21.
func TestProvidersThatThereAreNot(t *testing.T) {
	h := newFixture(t)
	for provider, says := range map[string]string{
		"google": "not configured here", "github": "not configured here",
		"myspace": "is not supported", "saml": "is not supported", "GOOGLE": "is not supported", "%00": "",
	} {
		for _, path := range []string{"/url", "/callback", "/callback?code=a&state=b"} {
			got := h.want(404, "GET", "/auth/"+provider+path, nil)
			if !strings.Contains(got["message"].(string), says) {
				t.Errorf("%s%s: %v", provider, path, got)
			}
		}
	}
	h.want(400, "POST", "/auth/login", map[string]any{"provider": "google", "token": "x"})
	h.want(400, "POST", "/auth/login", map[string]any{"provider": "github", "token": "x"})
}

// check 23: a provider's claim about an address does not open an existing account with that address.
func TestTheSameAddressAtAProviderIsNotTheSamePerson(t *testing.T) {
	const alice = "alice@example.com"
	withPassword := func(in *providerFixture) string {
		u := apitest.Value(CreateVerifiedUser(context.Background(), in.Platform, alice, password, "Alice"))(in)
		return u.ID
	}
	t.Run("at GitHub, whose word is good for no address", func(t *testing.T) {
		in := newProviderFixture(t)
		withPassword(in)
		got := in.comeBack(403, "github", in.goOut("github", "alice"))
		if !strings.Contains(got["message"].(string), "password") {
			t.Errorf("it does not say what to do: %v", got)
		}
	})
	t.Run("at Google, for a domain that it does not run", func(t *testing.T) {
		in := newProviderFixture(t)
		withPassword(in)
		in.comeBack(403, "google", in.goOut("google", "alice"))
		in.comeBack(403, "google", in.goOut("google", "alice")) // nor was it remembered
	})
	t.Run("at Google, not verified", func(t *testing.T) {
		in := newProviderFixture(t)
		withPassword(in)
		in.google.Edit(func(c map[string]any) { c["hd"] = "example.com" })
		in.comeBack(403, "google", in.goOut("google", "mallory"))
	})
	t.Run("at Google, not verified, before there is an account", func(t *testing.T) {
		in := newProviderFixture(t)
		in.comeBack(403, "google", in.goOut("google", "mallory"))
		if u, err := in.s.accounts.Find(context.Background(), alice); err != nil || u.ID != "" {
			t.Errorf("an account was made: %+v, %v", u, err)
		}
	})
	t.Run("but at Google for its own domain, it is", func(t *testing.T) {
		in := newProviderFixture(t)
		id := withPassword(in)
		in.google.Edit(func(c map[string]any) { c["hd"] = "example.com" })
		if got := in.signIn("google"); userOf(got)["id"] != id {
			t.Errorf("signed in as %v, want %s", got["user"], id)
		}
		in.signIn("google")
		// the first time only
		if all := in.Mails(); len(all) != 1 || all[0].Template != mail.ProviderAdded || all[0].To != alice {
			t.Errorf("mails %+v", all)
		}
	})
	t.Run("at one provider after the other", func(t *testing.T) {
		in := newProviderFixture(t)
		in.signIn("google")
		in.comeBack(403, "github", in.goOut("github", "alice"))
	})
	t.Run("and who signed up with it, unverified, is out", func(t *testing.T) {
		in := newProviderFixture(t)
		in.want(200, "POST", "/auth/signup", map[string]any{"email": alice, "password": password})
		squatter := in.mailedCode(mail.VerifyAddress)
		got := in.signIn("github")
		in.want(401, "POST", "/auth/login", map[string]any{"email": alice, "password": password})
		in.want(401, "PATCH", "/auth/otp/validate", map[string]any{"email": alice, "otp": squatter})
		if again := in.signIn("github"); userOf(again)["id"] != userOf(got)["id"] {
			t.Errorf("afterwards %v, before %v", again["user"], got["user"])
		}
	})
}

// check 24.
func TestTheReplyOfOneProviderIsNothingAtTheOther(t *testing.T) {
	for name, change := range map[string]func(in *providerFixture, back url.Values) (to string){
		"google's reply, brought to github": func(*providerFixture, url.Values) string { return "github" },
		"github's state, with google's code": func(in *providerFixture, back url.Values) string {
			back.Set("state", in.goOut("github", "alice").Get("state"))
			return "github"
		},
		"in the name of another issuer": func(_ *providerFixture, back url.Values) string {
			back.Set("iss", "https://idp.example")
			return "google"
		},
		"in nobody's name": func(_ *providerFixture, back url.Values) string { back.Del("iss"); return "google" },
		"of a second server that answers as google": func(in *providerFixture, back url.Values) string {
			second := oauthlogintest.NewOpenID(in.TB, in.Clock)
			begun := in.want(200, "GET", "/auth/google/url", nil)
			other := second.Visit(in.TB, strings.Replace(begun["url"].(string), in.google.URL, second.URL, 1), "alice")
			for k := range back {
				back.Set(k, other.Get(k))
			}
			return "google"
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := newProviderFixture(t)
			back := in.goOut("google", "alice")
			to := change(in, back)
			in.comeBack(401, to, back)
			in.comeBack(401, "google", back) // and the state is gone
		})
	}
}

// check 22, at the door.
func TestAnIDTokenAtLogIn(t *testing.T) {
	in := newProviderFixture(t)
	logIn := func(status int, claims map[string]any) map[string]any {
		t.Helper()
		return in.want(status, "POST", "/auth/login",
			map[string]any{"provider": "google", "token": in.google.Sign(t, claims)})
	}
	got := logIn(200, in.google.Claims("alice"))
	if again := in.signIn("google"); userOf(again)["id"] != userOf(got)["id"] {
		t.Errorf("by token %v, by code %v", got["user"], again["user"])
	}
	logIn(403, in.google.Claims("mallory"))
	foreign := in.google.Claims("alice")
	foreign["aud"] = "somebody-else"
	logIn(401, foreign)
	in.want(400, "POST", "/auth/login", map[string]any{"provider": "google"})
	in.want(400, "POST", "/auth/login",
		map[string]any{"provider": "github", "token": in.google.Sign(t, in.google.Claims("alice"))})
	in.want(403, "POST", "/auth/login", map[string]any{
		"provider": "google", "token": in.google.Sign(t, in.google.Claims("alice")),
		"tenantID": "org_01k8z3v5y0e6m9x2q4t7r1c8bd",
	})
}

func TestWhatAProviderSaysInPlaceOfACodeIsShownWithCare(t *testing.T) {
	in := newProviderFixture(t)
	for name, c := range map[string]struct{ code, words, want string }{
		"as it is": {"access_denied", "The user said no", "(access_denied: The user said no)"},
		"without line breaks": {
			"access_denied", "no\r\nSet-Cookie: a=b\x00\x1b[31m\u202e",
			"(access_denied: noSet-Cookie: a=b[31m)",
		},
		"in bounds": {
			strings.Repeat("e", 100), strings.Repeat("x", 5000),
			"(" + strings.Repeat("e", 40) + "…: " + strings.Repeat("x", 140) + "…)",
		},
		"when it says nothing":       {"", "", "(it sent no code)"},
		"with tags, which stay text": {"<script>", "</b>", "(<script>: </b>)"},
	} {
		t.Run(name, func(t *testing.T) {
			back := url.Values{
				"state": {in.goOut("google", "alice").Get("state")}, "error": {c.code},
				"error_description": {c.words},
			}
			// the door refuses a NUL before any handler
			if back.Get("error_description") != "" && strings.ContainsRune(c.words, 0) {
				back.Set("error_description", strings.ReplaceAll(c.words, "\x00", ""))
			}
			if got := in.comeBack(401, "google", back); !strings.Contains(got["message"].(string), c.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

// check 27: nothing that a browser brings decides where it goes.
func TestAddressesToGoOnToAreIgnored(t *testing.T) {
	in := newProviderFixture(t)
	for _, evil := range []string{
		"//evil.example", "https:evil.example", `\\evil.example`, "javascript:alert(1)",
		"https://evil.example/",
	} {
		for _, name := range []string{
			"redirect", "redirect_uri", "returnTo", "return_to", "next", "RelayState",
			"url",
		} {
			q := "?" + url.Values{name: {evil}}.Encode()
			status, body, header := in.call("GET", "/auth/google/url"+q, nil)
			if status != 200 || strings.Contains(string(body), "evil") || header.Get("Location") != "" {
				t.Errorf("begun with %s: %d %s %v", q, status, body, header)
			}
			back := in.goOut("google", "alice")
			back.Set(name, evil)
			status, body, header = in.call("GET", "/auth/google/callback?"+back.Encode(), nil)
			if status != 200 || strings.Contains(string(body), "evil") || header.Get("Location") != "" {
				t.Errorf("ended with %s: %d %s %v", name, status, body, header)
			}
		}
		in.Clock.Advance(oauthLoginsPerSource.Per)
	}
}

func TestASignInThatTheProviderIsDownFor(t *testing.T) {
	in := newProviderFixture(t)
	back := in.goOut("google", "alice")
	in.google.Break("/token", 1)
	got := in.comeBack(500, "google", back)
	if got["message"] == "" {
		t.Errorf("%v", got)
	}
	in.signIn("google") // the next one finds it well
}

func TestSignInsOfOnePlaceEnd(t *testing.T) {
	in := newProviderFixture(t)
	for i := range oauthLoginsPerSource.Max {
		if status, b, _ := in.call("GET", "/auth/google/url", nil); status != 200 {
			t.Fatalf("sign-in %d: %d %s", i+1, status, b)
		}
	}
	in.want(403, "GET", "/auth/google/url", nil)
	in.want(403, "GET", "/auth/google/callback?code=a&state=b", nil)
	in.want(403, "POST", "/auth/login", map[string]any{"provider": "google", "token": "x"})
	in.Clock.Advance(oauthLoginsPerSource.Per)
	in.want(200, "GET", "/auth/google/url", nil)
}

// Nothing that is stored of a visit opens anything.
func TestWhatIsStoredOfAVisitIsNoSecret(t *testing.T) {
	in := newProviderFixture(t)
	begun := in.want(200, "GET", "/auth/google/url?tenantID=org_1", nil)
	state := begun["state"].(string)
	a := in.s.deriveAttempt(state)
	it := apitest.Value(in.Table.Get(withAuthPartitions(context.Background()), in.s.oauthLoginKey(state)))(in)
	for _, secret := range []string{a.State, a.Nonce, a.Verifier} {
		if strings.Contains(fmt.Sprintf("%+v %s", it, it.Data), secret) {
			t.Errorf("%q is in %+v %s", secret, it, it.Data)
		}
	}
	if len(a.Verifier) < 43 || a.Nonce == a.Verifier {
		t.Errorf("%+v", a)
	}
}
