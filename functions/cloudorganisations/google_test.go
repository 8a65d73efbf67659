package cloudorganisations_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/platform"
)

// google is an issuer that behaves like Google when a person grants access to projects. A code is valid once, with
// the verifier and the address of its request. A refresh token is issued only if the request asks for consent.
type google struct {
	*httptest.Server
	mu       sync.Mutex
	codes    map[string]url.Values // as the browser was sent
	calls    map[string]int
	projects int
	refuse   int  // status of projects:search; 0 answers
	silent   bool // gives no refresh token
}

const refreshToken = "1//hush-hush-refresh"

func newGoogle(t *testing.T) *google {
	t.Helper()
	g := &google{codes: map[string]url.Values{}, calls: map[string]int{}, projects: 450}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		writeReply(w, 200, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/auth", "token_endpoint": g.URL + "/token",
			"jwks_uri":                 g.URL + "/keys",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("GET /v3/projects:search", g.search)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.calls[r.URL.Path]++
		g.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func writeReply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (g *google) client() platform.Client {
	return platform.Client{ID: "lamplighter-test", Secret: "hush-hush-secret", Issuer: g.URL}
}

func (g *google) called(path string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[path]
}

// visit is the browser of a person who agrees: it brings back code and state.
func (g *google) visit(t *testing.T, address string) map[string]any {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "lamplighter-test" ||
		q.Get("prompt") != "consent" || q.Get("access_type") != "offline" {
		t.Fatalf("the browser is sent to %s", address)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	code := rand.Text()
	g.codes[code] = q
	return map[string]any{"code": code, "state": q.Get("state")}
}

func (g *google) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	g.mu.Lock()
	asked := g.codes[r.FormValue("code")]
	delete(g.codes, r.FormValue("code"))
	g.mu.Unlock()
	switch {
	case id != "lamplighter-test" || secret != "hush-hush-secret":
		writeReply(w, 401, map[string]string{"error": "invalid_client"})
	case asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
		asked.Get("redirect_uri") != r.FormValue("redirect_uri"):
		writeReply(w, 400, map[string]string{"error": "invalid_grant", "error_description": "Malformed auth code."})
	case g.silent:
		writeReply(w, 200, map[string]any{"access_token": "hush-hush-access", "token_type": "Bearer"})
	default:
		writeReply(w, 200, map[string]any{
			"access_token": "hush-hush-access", "token_type": "Bearer", "refresh_token": refreshToken,
			"expires_in": 3600,
		})
	}
}

// search lists my-project-001, -002, … in pages of 200.
func (g *google) search(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer hush-hush-access" || g.refuse > 0 {
		writeReply(w, max(g.refuse, 401),
			map[string]any{"error": map[string]string{"message": "Cloud Resource Manager API has not been used in " +
				"project 1 before"}})
		return
	}
	from, _ := strconv.Atoi(r.FormValue("pageToken"))
	size, _ := strconv.Atoi(r.FormValue("pageSize"))
	var page []map[string]string
	for i := from; i < min(from+size, g.projects); i++ {
		page = append(page, map[string]string{"projectId": projectID(i), "displayName": "Project " + strconv.Itoa(i)})
	}
	next := ""
	if from+size < g.projects {
		next = strconv.Itoa(from + size)
	}
	writeReply(w, 200, map[string]any{"projects": page, "nextPageToken": next})
}

func projectID(i int) string { return "my-project-" + strconv.Itoa(10_000 + i)[1:] }
