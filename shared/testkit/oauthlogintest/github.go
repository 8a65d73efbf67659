package oauthlogintest

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// GitHub is a server of GitHub. It knows the addresses of the persons in People only.
type GitHub struct {
	server
	People map[string]Person // by login; set it before people sign in
	tokens map[string]string // login by token
}

// Person is a user of GitHub.
type Person struct {
	ID     int64
	Name   string
	Emails []Email // nil: we may not see them
}

// Email is an address of a person.
type Email struct {
	Email    string `json:"email"`
	Primary  bool   `json:"primary"`
	Verified bool   `json:"verified"`
}

// NewGitHub starts a server that ends with the test.
func NewGitHub(tb testing.TB) *GitHub {
	tb.Helper()
	g := &GitHub{tokens: map[string]string{}, People: map[string]Person{
		"alice": {ID: 1815, Name: "Alice", Emails: []Email{
			{"old@example.com", false, true}, {"alice@example.com", true, true}, {"boss@example.com", false, false},
		}},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", func(w http.ResponseWriter, r *http.Request) {
		g.sendBack(w, r, url.Values{})
	})
	mux.HandleFunc("POST /login/oauth/access_token", g.token)
	mux.HandleFunc("GET /api/v3/user", g.user)
	mux.HandleFunc("GET /api/v3/user/emails", g.emails)
	g.start(tb, mux)
	return g
}

// token exchanges a code. Like GitHub it answers 200 to refused requests too.
func (g *GitHub) token(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil || r.PostForm.Get("client_id") != ClientID || r.PostForm.Get("client_secret") != Secret {
		answer(w, http.StatusOK, map[string]string{"error": "incorrect_client_credentials"})
		return
	}
	c, ok := g.redeem(r.PostForm)
	if !ok {
		answer(w, http.StatusOK,
			map[string]string{
				"error":             "bad_verification_code",
				"error_description": "The code passed is incorrect or expired.",
			})
		return
	}
	token := "gho_" + rand.Text()
	g.mu.Lock()
	g.tokens[token] = c.person
	g.mu.Unlock()
	answer(w, http.StatusOK,
		map[string]string{"access_token": token, "token_type": "bearer", "scope": "read:user,user:email"})
}

func (g *GitHub) person(r *http.Request) (login string, p Person, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	login, ok = g.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	return login, g.People[login], ok
}

func (g *GitHub) user(w http.ResponseWriter, r *http.Request) {
	login, p, ok := g.person(r)
	if !ok {
		answer(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	answer(w, http.StatusOK, map[string]any{"id": p.ID, "login": login, "name": p.Name, "email": "shown@example.com"})
}

func (g *GitHub) emails(w http.ResponseWriter, r *http.Request) {
	_, p, ok := g.person(r)
	if !ok || p.Emails == nil {
		answer(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return
	}
	answer(w, http.StatusOK, p.Emails)
}
