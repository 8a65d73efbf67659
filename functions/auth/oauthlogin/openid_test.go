package oauthlogin_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// fixture is us at a fresh twin in Google's place.
type fixture struct {
	twin      *oauthlogintest.OpenID
	clock     *clock.Manual
	providers oauthlogin.Providers
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	twin := oauthlogintest.NewOpenID(t, c)
	p.Settings.Google = twin.Client()
	return fixture{twin, c, oauthlogin.New(p)}
}

// vouched presents alice's ID token with changes; nil removes a claim.
func (g fixture) vouched(t *testing.T, changes map[string]any) (accounts.Claim, error) {
	t.Helper()
	claims := g.twin.Claims("alice")
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return g.providers.VerifyIDToken(t.Context(), g.twin.Sign(t, claims))
}

// check 22.
func TestIDTokensThatAreRefused(t *testing.T) {
	g := newFixture(t)
	if c, err := g.vouched(t, nil); err != nil || c.Subject != "alice" {
		t.Fatalf("a right one: %+v, %v", c, err)
	}
	now := g.clock.Now()
	for name, changes := range map[string]map[string]any{
		"for another client":             {"aud": "somebody-else"},
		"for nobody":                     {"aud": nil},
		"for many, and issued to nobody": {"aud": []string{oauthlogintest.ClientID, "somebody-else"}},
		"for us, issued to another":      {"azp": "somebody-else"},
		"for many, issued to another": {
			"aud": []string{oauthlogintest.ClientID, "somebody-else"},
			"azp": "somebody-else",
		},
		"of another issuer":                      {"iss": "https://idp.example"},
		"of an issuer that begins like ours":     {"iss": g.twin.URL + ".evil.example"},
		"of our issuer with a slash":             {"iss": g.twin.URL + "/"},
		"of no issuer":                           {"iss": nil},
		"expired":                                {"exp": now.Add(-time.Second).Unix()},
		"without an end":                         {"exp": nil},
		"not good yet":                           {"nbf": now.Add(6 * time.Minute).Unix()},
		"issued in the future":                   {"iat": now.Add(6 * time.Minute).Unix()},
		"of nobody":                              {"sub": nil},
		"of a subject that is a number":          {"sub": 1},
		"of an endless subject":                  {"sub": strings.Repeat("a", 256)},
		"with claims that are looked up outside": {"_claim_names": map[string]string{"email": "missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := g.vouched(t, changes); !fault.Is(err, fault.Unauthenticated) || c != (accounts.Claim{}) {
				t.Errorf("it says %+v, %v", c, err)
			}
		})
	}
}

// check 22: signatures.
func TestForgedIDTokensAreRefused(t *testing.T) {
	g := newFixture(t)
	claims := g.twin.Claims("alice")
	right := g.twin.Sign(t, claims)
	parts := strings.Split(right, ".")
	head := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	own := apitest.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	kid := keyID(t, right)
	for name, token := range map[string]string{
		"by no algorithm":        head(`{"alg":"none"}`) + "." + parts[1] + ".",
		"by nOnE":                head(`{"alg":"nOnE"}`) + "." + parts[1] + ".",
		"by nothing, with a key": head(`{"alg":"none","kid":"`+kid+`"}`) + "." + parts[1] + "." + parts[2],
		"by our secret": oauthlogintest.SignWith(t,
			jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat(oauthlogintest.Secret, 2))}, claims),
		"by a key of the forger": oauthlogintest.SignWith(t, jose.SigningKey{Algorithm: jose.ES256, Key: own},
			claims),
		"in the name of a right key": oauthlogintest.SignWith(t,
			jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: own, KeyID: kid}}, claims),
		"without its signature": parts[0] + "." + parts[1] + ".",
		"cut off":               right[:len(right)-4],
		"of two parts":          parts[0] + "." + parts[1],
		"as JSON":               `{"payload":"` + parts[1] + `","signatures":[]}`,
		"of nothing":            "",
		"endless":               right + strings.Repeat("a", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := g.providers.VerifyIDToken(t.Context(), token); !fault.Is(err, fault.Unauthenticated) ||
				c.Subject != "" {
				t.Errorf("it says %+v, %v", c, err)
			}
		})
	}
	if c, err := g.providers.VerifyIDToken(t.Context(), right); err != nil || c.Subject != "alice" {
		t.Errorf("the right one afterwards: %+v, %v", c, err)
	}
}

func keyID(t *testing.T, token string) string {
	t.Helper()
	jws := apitest.Value(jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256}))(t)
	return jws.Signatures[0].Header.KeyID
}

// check 22, 24: a token signed by another provider is refused, even with the same client ID.
func TestAnIDTokenOfAnotherProviderIsRefused(t *testing.T) {
	g := newFixture(t)
	other := oauthlogintest.NewOpenID(t, g.clock)
	for name, iss := range map[string]string{"in its own name": other.URL, "in ours": g.twin.URL} {
		claims := other.Claims("alice")
		claims["iss"] = iss
		if c, err := g.providers.VerifyIDToken(t.Context(), other.Sign(t, claims)); !fault.Is(err,
			fault.Unauthenticated) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// check 23: for whose addresses the provider's word is as good as a code mailed there.
func TestGoogleIsAuthoritativeForTheMailboxesThatItRuns(t *testing.T) {
	g := newFixture(t)
	for name, c := range map[string]struct {
		changes map[string]any
		email   string
		want    bool
	}{
		"gmail":             {map[string]any{"email": "ada@gmail.com"}, "ada@gmail.com", true},
		"gmail in capitals": {map[string]any{"email": "Ada@GMail.COM"}, "Ada@GMail.COM", true},
		"a Workspace domain": {
			map[string]any{"email": "ada@example.org", "hd": "example.org"},
			"ada@example.org", true,
		},
		"another domain than the Workspace's": {
			map[string]any{"email": "ada@example.org", "hd": "example.com"},
			"ada@example.org", false,
		},
		"a domain below the Workspace's": {
			map[string]any{"email": "ada@sub.example.org", "hd": "example.org"},
			"ada@sub.example.org", false,
		},
		"an address that looks like gmail": {
			map[string]any{"email": "ada@gmail.com.example.org"},
			"ada@gmail.com.example.org", false,
		},
		"gmail before the @": {
			map[string]any{"email": "gmail.com@example.org"},
			"gmail.com@example.org", false,
		},
		"any other address": {map[string]any{}, "alice@example.com", false},
		"gmail, not verified": {
			map[string]any{"email": "ada@gmail.com", "email_verified": false},
			"",
			false,
		},
		"gmail, verified in words": {
			map[string]any{"email": "ada@gmail.com", "email_verified": "true"},
			"", false,
		},
		"gmail, nothing said of it": {
			map[string]any{"email": "ada@gmail.com", "email_verified": nil},
			"",
			false,
		},
		"no domain, and none of a Workspace":  {map[string]any{"email": "ada", "hd": ""}, "ada", false},
		"no address, and none of a Workspace": {map[string]any{"email": nil}, "", false},
		"a Workspace domain, and not verified ": {map[string]any{
			"email": "ada@example.org", "hd": "example.org",
			"email_verified": nil,
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := g.vouched(t, c.changes)
			if err != nil || got.Email != c.email || got.Authoritative != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestWhatTheTokenEndpointSaysIsCheckedToo(t *testing.T) {
	for name, edit := range map[string]func(map[string]any){
		"another nonce":   func(c map[string]any) { c["nonce"] = "replayed" },
		"no nonce":        func(c map[string]any) { delete(c, "nonce") },
		"another subject": func(c map[string]any) { c["sub"] = "" },
		"another client":  func(c map[string]any) { c["aud"] = "somebody-else" },
	} {
		t.Run(name, func(t *testing.T) {
			g := newFixture(t)
			p := apitest.Value(g.providers.Find(oauthlogin.Google))(t)
			g.twin.Edit(edit)
			a := attempt()
			refusedBy(t, p, a, visit(t, p, g.twin, a, "alice"))
		})
	}
}

// check 9, for the keys of others.
func TestKeysOfAProvider(t *testing.T) {
	t.Run("are read once for many tokens", func(t *testing.T) {
		g := newFixture(t)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := g.vouched(t, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n, d := g.twin.Calls("/keys"), g.twin.Calls("/.well-known/openid-configuration"); n != 1 || d != 1 {
			t.Errorf("read %d times, discovery %d times", n, d)
		}
	})
	t.Run("are read again for a new one", func(t *testing.T) {
		g := newFixture(t)
		apitest.Value(g.vouched(t, nil))(t)
		g.clock.Advance(time.Minute)
		old := g.twin.Sign(t, g.twin.Claims("alice"))
		g.twin.Rotate(t)
		if _, err := g.vouched(t, nil); err != nil {
			t.Error(err)
		}
		if _, err := g.providers.VerifyIDToken(t.Context(), old); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the key before: %v", err)
		}
	})
	t.Run("are read once in 30 seconds for keys that do not exist", func(t *testing.T) {
		g := newFixture(t)
		own := apitest.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
		forged := func() {
			key := jose.JSONWebKey{Key: own, KeyID: rand.Text()}
			token := oauthlogintest.SignWith(t, jose.SigningKey{Algorithm: jose.ES256, Key: key},
				g.twin.Claims("alice"))
			if _, err := g.providers.VerifyIDToken(t.Context(), token); !fault.Is(err, fault.Unauthenticated) {
				t.Fatal(err)
			}
		}
		for range 1000 {
			forged()
		}
		if n := g.twin.Calls("/keys"); n != 1 {
			t.Errorf("read %d times at once", n)
		}
		g.clock.Advance(30 * time.Second)
		forged()
		forged()
		if n := g.twin.Calls("/keys"); n != 2 {
			t.Errorf("read %d times in 30 seconds", n)
		}
	})
	t.Run("of yesterday will do while the provider is down", func(t *testing.T) {
		g := newFixture(t)
		apitest.Value(g.vouched(t, nil))(t)
		g.clock.Advance(2 * time.Hour)
		g.twin.Break("/keys", 3)
		g.twin.Break("/.well-known/openid-configuration", 3)
		if _, err := g.vouched(t, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestAProviderThatFails(t *testing.T) {
	const discovery = "/.well-known/openid-configuration"
	t.Run("for a moment is asked again", func(t *testing.T) {
		g := newFixture(t)
		g.twin.Break(discovery, 1)
		g.twin.Break("/keys", 1)
		if _, err := g.vouched(t, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("is not to blame on the client, and is left in peace for 5 seconds", func(t *testing.T) {
		g := newFixture(t)
		g.twin.Break(discovery, 1000)
		for range 3 {
			if _, err := g.vouched(t, nil); !fault.Is(err, fault.Unavailable) {
				t.Errorf("got %v", err)
			}
		}
		if n := g.twin.Calls(discovery); n != 3 {
			t.Errorf("asked %d times", n)
		}
		g.twin.Break(discovery, 0)
		g.clock.Advance(5 * time.Second)
		if _, err := g.vouched(t, nil); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
	t.Run("at the token endpoint is asked once: the code may be gone", func(t *testing.T) {
		g := newFixture(t)
		p := apitest.Value(g.providers.Find(oauthlogin.Google))(t)
		a := attempt()
		r := visit(t, p, g.twin, a, "alice")
		g.twin.Break("/token", 1)
		if _, err := p.Claim(t.Context(), a, r); !fault.Is(err, fault.Unavailable) || g.twin.Calls("/token") != 1 {
			t.Errorf("got %v after %d calls", err, g.twin.Calls("/token"))
		}
	})
}

// TestADiscoveryThatIsNoGood serves documents that must not be believed.
func TestADiscoveryThatIsNoGood(t *testing.T) {
	for name, handler := range map[string]func(issuer string) http.HandlerFunc{
		"of another issuer": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Write([]byte(`{"issuer":"https://idp.example","authorization_endpoint":"https://a.example",` +
					`"token_endpoint":"https://a.example","jwks_uri":"https://a.example"}`))
			}
		},
		"with an address of a file": func(issuer string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Write([]byte(`{"issuer":"` + issuer +
					`","authorization_endpoint":"https://a.example","token_endpoint":"https://a.example",` +
					`"jwks_uri":"file:///etc/passwd"}`))
			}
		},
		"without addresses": func(issuer string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"issuer":"` + issuer + `"}`)) }
		},
		"without an end": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				for range 3 {
					w.Write([]byte(strings.Repeat(" ", 1<<19)))
				}
			}
		},
		"elsewhere": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }
		},
		"in no JSON": func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h http.HandlerFunc
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h(w, r) }))
			t.Cleanup(srv.Close)
			h = handler(srv.URL)
			p := at(t, platform.Client{ID: "a", Secret: "b", Issuer: srv.URL}, clock.NewManual(apitest.Start))
			if address, err := p.URL(t.Context(), attempt()); !fault.Is(err, fault.Unavailable) {
				t.Errorf("it leads to %q, %v", address, err)
			}
		})
	}
}

func TestWhereTheBrowserIsSent(t *testing.T) {
	g := newFixture(t)
	p := apitest.Value(g.providers.Find(oauthlogin.Google))(t)
	a := attempt()
	address := apitest.Value(p.URL(t.Context(), a))(t)
	u := apitest.Value(url.Parse(address))(t)
	q := u.Query()
	if q.Get("redirect_uri") != "https://lamplighter.test/auth/google/callback" ||
		q.Get("scope") != "openid email profile" ||
		q.Get("state") != a.State || q.Get("nonce") != a.Nonce || strings.Contains(address, a.Verifier) ||
		strings.Contains(address, url.QueryEscape(oauthlogintest.Secret)) {
		t.Errorf("sent to %s", address)
	}
}

func TestProvidersByName(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	none := oauthlogin.New(p)
	for name, says := range map[string]string{
		oauthlogin.Google: "not configured", oauthlogin.GitHub: "not configured",
		"myspace": "is not supported", "Google": "is not supported", "": "is not supported",
	} {
		if _, err := none.Find(name); !fault.Is(err, fault.NotFound) || !strings.Contains(fault.Message(err), says) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := none.VerifyIDToken(t.Context(), "token"); !fault.Is(err, fault.Invalid) {
		t.Errorf("an ID token where Google is off: %v", err)
	}
}
