package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// newFile returns a file of credentials with one for the context "default".
func newFile(t *testing.T, c Credential) CredentialsFile {
	t.Helper()
	f := CredentialsFile{PrivateFile: PrivateFile{
		Path: filepath.Join(t.TempDir(), "sub", "credentials.json"), WayOut: "run lamp login",
	}}
	if err := f.Change(t.Context(), "default", func(Credential) (Credential, error) { return c, nil }); err != nil {
		t.Fatal(err)
	}
	return f
}

// rotating is a service that accepts only its newest access token and exchanges its newest refresh token once.
type rotating struct {
	mu        sync.Mutex
	n         int
	refreshes atomic.Int32
}

func (s *rotating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.URL.Path == "/auth/refresh" && strings.Contains(string(body), fmt.Sprintf(`"r%d"`, s.n)):
		s.n++
		s.refreshes.Add(1)
		fmt.Fprintf(w, `{"data":{"accessToken":"a%d","refreshToken":"r%d"}}`, s.n, s.n)
	case r.Header.Get("Authorization") == fmt.Sprintf("Bearer a%d", s.n):
		io.WriteString(w, `{"data":{}}`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":"Unauthorized"}`)
	}
}

func TestCall_RenewsTheTokenOnceAmongProcesses(t *testing.T) {
	f := newFile(t, Credential{Tokens: Tokens{"expired", "r0"}, Email: "ada@example.com"})
	service := &rotating{}
	trials := make([]*trial, 8)
	for i := range trials {
		trials[i] = newTrial(t, f.Of("default"), func(_ int, w http.ResponseWriter, r *http.Request) {
			service.ServeHTTP(w, r)
		})
	}
	var wg sync.WaitGroup
	for _, tr := range trials {
		wg.Go(func() {
			if err := tr.Call(t.Context(), Request{Method: "GET", Path: "/teams"}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := service.refreshes.Load(); n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
	if c, err := f.Get("default"); err != nil || c.Tokens != (Tokens{"a1", "r1"}) || c.Email != "ada@example.com" {
		t.Errorf("the file has %+v: %v", c, err)
	}
}

func TestCall_AnEndedSessionIsSignedOut(t *testing.T) {
	for name, store := range map[string]TokenStore{
		"a refused refresh token": newFile(t, Credential{Tokens: Tokens{"secret-a", "secret-r"}}).Of("default"),
		"a personal access token": newFile(t, Credential{Tokens: Tokens{Access: "secret-p"}}).Of("default"),
		"a token from outside":    Static("secret-s"),
		"nobody":                  Static(""),
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, store, answer(http.StatusUnauthorized, `{"error":"Unauthorized"}`))
			err := tr.Call(t.Context(), Request{Method: "GET", Path: "/teams"}, nil)
			if !errors.Is(err, ErrSignedOut) || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
}

func TestCall_AnUnavailableRefreshKeepsTheTokens(t *testing.T) {
	f := newFile(t, Credential{Tokens: Tokens{"a", "r"}})
	tr := newTrial(t, f.Of("default"), func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/auth/refresh" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	err := tr.Call(t.Context(), Request{Method: "GET", Path: "/teams"}, nil)
	if errors.Is(err, ErrSignedOut) || !IsStatus(err, 500) {
		t.Error(err)
	}
	if c, err := f.Get("default"); err != nil || c.Tokens != (Tokens{"a", "r"}) {
		t.Errorf("the file has %+v: %v", c, err)
	}
}

func TestCall_APersonalAccessTokenPicksItsOrganisation(t *testing.T) {
	for name, c := range map[string]struct {
		tokens Tokens
		want   string
	}{
		"a personal access token names it": {Tokens{Access: "p"}, "org_1"},
		"a session belongs to one already": {Tokens{"a", "r"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, newFile(t, Credential{Tokens: c.tokens}).Of("default"), answer(200, `{"data":{}}`))
			tr.o.Organisation = "org_1"
			if err := tr.Call(t.Context(), Request{Method: "GET", Path: "/teams"}, nil); err != nil {
				t.Fatal(err)
			}
			if got := tr.sent()[0].Header.Get("X-Organisation-Id"); got != c.want {
				t.Errorf("the header is %q, want %q", got, c.want)
			}
		})
	}
}

func TestLogIn_SendsTheCredentialsWithoutAToken(t *testing.T) {
	tr := newTrial(t, Static("old"),
		answer(200, `{"data":{"accessToken":"a","refreshToken":"r","tenants":[{"id":"o"}]}}`))
	s, err := tr.LogIn(t.Context(), Credentials{Email: "ada@example.com", Password: "p"})
	if err != nil || s.Tokens() != (Tokens{"a", "r"}) || s.Tenants[0].ID != "o" {
		t.Errorf("%+v: %v", s, err)
	}
	if h := tr.sent()[0].Header; h.Get("Authorization") != "" || h.Get("Idempotency-Key") != "" {
		t.Errorf("headers %v", h)
	}
	if want := `{"email":"ada@example.com","password":"p"}`; tr.bodies[0] != want {
		t.Errorf("sent %s, want %s", tr.bodies[0], want)
	}
}

func TestNeedsCode(t *testing.T) {
	tr := newTrial(t, nil, answer(403, `{"error":{"message":"a second factor is needed"}}`))
	if _, err := tr.LogIn(t.Context(), Credentials{}); !NeedsCode(err) {
		t.Error(err)
	}
}

func TestPrivateFile_RefusesWhatItCannotTrust(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"a file that others may read": {`{"version":1,"content":{}}`, 0o644, "may be read by other users (mode 0644)"},
		"a file of the group":         {`{"version":1,"content":{}}`, 0o640, "may be read by other users"},
		"a file that is half written": {`{"version":1,"content":{"default":{"accessTo`, 0o600, "is not whole"},
		"an empty file":               {"", 0o600, "is not whole"},
		"a file of a later version":   {`{"version":2,"content":[]}`, 0o600, "has version 2"},
		"a file of the trial":         {`{"API":"x","AccessToken":"secret"}`, 0o600, "has version 0"},
		"a file of another content":   {`{"version":1,"content":["secret"]}`, 0o600, "members that are not expected"},
		"a file without its content":  {`{"version":1}`, 0o600, "is not whole"},
		"a member of the wrong type":  {`{"version":1,"content":{"a":{"accessToken":7}}}`, 0o600, "not expected"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, Credential{})
			if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.Path, []byte(c.content), c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := f.Get("default")
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "run lamp login") {
				t.Errorf("got %v, want %q and the way out", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a token: %v", err)
			}
		})
	}
}

func TestPrivateFile_IsForItsOwnerAlone(t *testing.T) {
	f := newFile(t, Credential{Email: "ada@example.com"})
	for path, want := range map[string]os.FileMode{
		f.Path: 0o600, filepath.Dir(f.Path): 0o700, f.Path + ".lock": 0o600,
	} {
		if i, err := os.Stat(path); err != nil || i.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", path, i.Mode().Perm(), want, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(f.Path), ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestPrivateFile_ALinkIsRefused(t *testing.T) {
	f := newFile(t, Credential{Email: "ada@example.com"})
	link := f
	link.Path = filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(f.Path, link.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Get("default"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

func TestCredentialsFile_ContextsStandBesideEachOther(t *testing.T) {
	f := newFile(t, Credential{Email: "ada@example.com"})
	set := func(name string, c Credential) {
		if err := f.Change(t.Context(), name, func(Credential) (Credential, error) { return c, nil }); err != nil {
			t.Fatal(err)
		}
	}
	set("other", Credential{Email: "bob@example.com"})
	set("default", Credential{})
	first, err := f.Get("default")
	second, err2 := f.Get("other")
	if first != (Credential{}) || second.Email != "bob@example.com" || errors.Join(err, err2) != nil {
		t.Errorf("%+v %+v %v %v", first, second, err, err2)
	}
}

func TestChange_WaitsForTheLock(t *testing.T) {
	f := newFile(t, Credential{Email: "ada@example.com"})
	w := &watch{}
	f.Clock = w
	release, err := tryLock(f.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	err = f.Change(t.Context(), "default", func(c Credential) (Credential, error) { return c, nil })
	if err == nil || !strings.Contains(err.Error(), "another process holds") || len(w.slept) != lockTries {
		t.Errorf("%d waits: %v", len(w.slept), err)
	}
}
