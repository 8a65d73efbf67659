package googleoauth

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// A certified provider behaves like Google: it issues a refresh token for the code, once, and only with its verifier.
func TestClient_IsUnderstoodByACertifiedProvider(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	const back = "https://lamplighter.test/connect/gcp/oauth-callback"
	peer := oauthlogintest.NewCertified(t, back)
	projects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			w.WriteHeader(http.StatusUnauthorized)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"projects": []map[string]string{{
			"projectId":   "my-project-123",
			"displayName": "Mine",
		}}})
	}))
	t.Cleanup(projects.Close)
	c := New(peer.Client(), back)
	c.projects = projects.URL
	visit := func() (code, verifier string) {
		state, verifier := rand.Text(), rand.Text()+rand.Text()
		address, err := c.URL(t.Context(), state, verifier)
		if err != nil {
			t.Fatal(err)
		}
		got := peer.Visit(t, address, "alice")
		if got.Get("state") != state || got.Get("code") == "" {
			t.Fatalf("back with %v", got)
		}
		return got.Get("code"), verifier
	}
	code, verifier := visit()
	g, err := c.Exchange(t.Context(), code, verifier)
	if err != nil || g.Refresh == "" || len(g.Projects) != 1 ||
		g.Projects[0] != (ListedProject{"my-project-123", "Mine"}) || g.More {
		t.Fatalf("%d projects, %v", len(g.Projects), err)
	}
	if _, err = c.Exchange(t.Context(), code, verifier); !fault.Is(err, fault.Invalid) {
		t.Errorf("a code twice: %v", err)
	}
	if code, _ = visit(); code != "" {
		if _, err = c.Exchange(t.Context(), code, rand.Text()+rand.Text()); !fault.Is(err, fault.Invalid) {
			t.Errorf("a code without its verifier: %v", err)
		}
	}
}
