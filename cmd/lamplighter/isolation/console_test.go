package isolation

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// consoleWorld is the whole service with a provider, as browsers see it.
type consoleWorld struct {
	*testing.T

	service  *testenv.Env
	provider *oauthlogintest.OpenID
	log      *probe.LogBuffer
}

func startConsoleWorld(t *testing.T) *consoleWorld {
	t.Helper()
	w := &consoleWorld{T: t, provider: oauthlogintest.NewOpenID(t, clock.System{}), log: &probe.LogBuffer{}}
	w.service = testenv.Start(t, testenv.Setup{
		Clock: clock.System{}, Google: w.provider.Client(),
		Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return w
}

// cookieJar is the cookies of one browser, by name.
type cookieJar map[string]string

// send makes a request of a browser, and keeps the cookies of the answer.
func (w *consoleWorld) send(jar cookieJar, method, path string, headers map[string]string) *httptest.ResponseRecorder {
	w.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	for name, v := range headers {
		r.Header.Set(name, v)
	}
	for name, v := range jar {
		r.AddCookie(&http.Cookie{Name: name, Value: v})
	}
	a := httptest.NewRecorder()
	w.service.ServeHTTP(a, r)
	for _, c := range a.Result().Cookies() {
		if jar[c.Name] = c.Value; c.MaxAge < 0 {
			delete(jar, c.Name)
		}
	}
	return a
}

// own and foreign are what a browser says about requests of pages of the service and of other sites.
var (
	own     = map[string]string{"X-Lamplighter-Console": "1", "Sec-Fetch-Site": "same-origin"}
	foreign = map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
)

// with returns headers with more of them.
func with(headers map[string]string, name, value string) map[string]string {
	out := maps.Clone(headers)
	out[name] = value
	return out
}

// leave begins a sign-in in the browser, and returns the path of the callback to which the provider sends a person.
func (w *consoleWorld) leave(jar cookieJar, person string) string {
	w.Helper()
	a := w.send(jar, http.MethodGet, "/auth/google/url?for=console", own)
	var begun struct{ Data struct{ URL string } }
	if err := json.Unmarshal(a.Body.Bytes(), &begun); err != nil || a.Code != http.StatusOK {
		w.Fatalf("%d %s, %v", a.Code, a.Body, err)
	}
	return "/auth/google/callback?" + w.provider.Visit(w, begun.Data.URL, person).Encode()
}

// user returns the address of the user who is signed in to the console in a browser, or "".
func (w *consoleWorld) user(jar cookieJar) string {
	w.Helper()
	var in struct {
		Data struct{ User struct{ Email string } }
	}
	a := w.send(jar, http.MethodPost, "/auth/refresh", own)
	if err := json.Unmarshal(a.Body.Bytes(), &in); err != nil || a.Code != http.StatusOK {
		w.Fatalf("%d %s, %v", a.Code, a.Body, err)
	}
	return in.Data.User.Email
}

// An attacker makes requests in the browser of a victim who is signed in, or about to be: each leaves the victim the
// user that they were.
func TestConsole_AnAttackerMovesNoBrowserToAnotherUser(t *testing.T) {
	t.Parallel()
	w := startConsoleWorld(t)
	for name, attack := range map[string]func(victim, attacker cookieJar){
		"a page of another origin begins a sign-in": func(victim, _ cookieJar) {
			w.send(victim, http.MethodGet, "/auth/google/url?for=console", with(foreign, "X-Lamplighter-Console", "1"))
		},
		"a page of another origin refreshes": func(victim, _ cookieJar) {
			w.send(victim, http.MethodPost, "/auth/refresh", with(foreign, "X-Lamplighter-Console", "1"))
		},
		"a frame opens the callback of the attacker": func(victim, attacker cookieJar) {
			w.send(victim, http.MethodGet, w.leave(attacker, "eve"), with(foreign, "Sec-Fetch-Dest", "iframe"))
		},
		"a link opens the callback of the attacker": func(victim, attacker cookieJar) {
			w.send(victim, http.MethodGet, w.leave(attacker, "eve"), with(foreign, "Sec-Fetch-Mode", "navigate"))
		},
		"a form continues a single sign-on": func(victim, _ cookieJar) {
			a := w.send(victim, http.MethodPost, "/auth/saml/continue",
				with(foreign, "Content-Type", "application/x-www-form-urlencoded"))
			if a.Code != http.StatusForbidden {
				w.Errorf("a form: %d %s", a.Code, a.Body)
			}
		},
		"a form logs out": func(victim, _ cookieJar) {
			w.send(victim, http.MethodPost, "/auth/logout", with(foreign, "Content-Type", "text/plain"))
		},
		"a callback with a forged for=console": func(victim, attacker cookieJar) {
			w.send(victim, http.MethodGet, w.leave(attacker, "eve")+"&for=console", foreign)
		},
		"a stolen state with a code of the attacker": func(victim, attacker cookieJar) {
			stolen, err := url.Parse(w.leave(victim, "alice"))
			mine, err2 := url.Parse(w.leave(attacker, "eve"))
			if err != nil || err2 != nil {
				w.Fatal(err, err2)
			}
			q := mine.Query()
			q.Set("state", stolen.Query().Get("state"))
			w.send(attacker, http.MethodGet, "/auth/google/callback?"+q.Encode(), foreign)
			if who := w.user(attacker); who != "" {
				w.Errorf("the attacker is signed in as %s", who)
			}
		},
		"a stolen callback in the browser of the attacker": func(victim, attacker cookieJar) {
			w.send(attacker, http.MethodGet, w.leave(victim, "alice"), foreign)
			if who := w.user(attacker); who != "" {
				w.Errorf("the attacker is signed in as %s", who)
			}
		},
	} {
		for state, before := range map[string]string{"signed in": "alice@example.com", "signed out": ""} {
			t.Run(name+", a victim who is "+state, func(t *testing.T) {
				w.T = t
				victim, attacker := cookieJar{}, cookieJar{}
				if before != "" {
					w.send(victim, http.MethodGet, w.leave(victim, "alice"), foreign)
				}
				if who := w.user(victim); who != before {
					t.Fatalf("the victim is %q before, want %q", who, before)
				}
				attack(victim, attacker)
				if who := w.user(victim); who != before {
					t.Errorf("the victim is %q, want %q", who, before)
				}
			})
		}
	}
	w.T = t
	if !strings.Contains(w.log.String(), "/auth/{provider}/callback") {
		t.Error("the log has no requests")
	}
	for _, secret := range []string{"state=", "code=", "lampr_", "console-"} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
