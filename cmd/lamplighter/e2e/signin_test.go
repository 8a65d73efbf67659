package e2e

import (
	"net/http"
	"net/url"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// welcomed goes from the sign-in at each provider into an organization, through the routes of the template.
func welcomed(t *testing.T, s testenv.Setup) {
	t.Helper()
	google, github := oauthlogintest.NewOpenID(t, clock.System{}), oauthlogintest.NewGitHub(t)
	s.Google, s.GitHub = google.Client(), github.Client()
	e := testenv.Start(t, s)
	c := e.NewClient()
	type arrival struct {
		AccessToken string `json:"accessToken"`
		User        struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	signIn := func(provider, person string, visit func(testing.TB, string, string) url.Values) arrival {
		t.Helper()
		var away struct {
			URL string `json:"url"`
		}
		var in arrival
		c.Call(http.MethodGet, "/auth/"+provider+"/url", nil, &away)
		back := visit(t, away.URL, person).Encode()
		c.Call(http.MethodGet, "/auth/"+provider+"/callback?"+back, nil, &in)
		c.CallRefused(http.StatusUnauthorized, http.MethodGet, "/auth/"+provider+"/callback?"+back, nil)
		return in
	}
	first := signIn("google", "grace", google.Visit)
	other := signIn("github", "alice", github.Visit)
	if again := signIn("google", "grace", google.Visit); again.User.ID != first.User.ID ||
		other.User.ID == first.User.ID {
		t.Errorf("grace is %s, then %s; alice is %s", first.User.ID, again.User.ID, other.User.ID)
	}
	c.Token = first.AccessToken
	c.Call(http.MethodPost, "/organisations", map[string]string{"name": "Engines"}, nil)
	c.Token = ""
	c.CallRefused(http.StatusNotFound, http.MethodGet, "/auth/myspace/url", nil)
	c.CallRefused(http.StatusNotFound, http.MethodGet, "/auth/myspace/callback?code=a&state=b", nil)
	c.CallRefused(http.StatusUnauthorized, http.MethodGet, "/auth/google/callback", nil)
	// no operation: the authorizer is asked first
	c.CallRefused(http.StatusUnauthorized, http.MethodGet, "/auth/google/elsewhere", nil)
}
