package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzCallback sends arbitrary callbacks of a provider. They sign in no user and cause no internal error. STATE
// stands for a valid state.
func FuzzCallback(f *testing.F) {
	for _, q := range []string{
		"", "code=a&state=b", "code=a&state=STATE", "code=&state=STATE",
		"error=access_denied&error_description=no&state=STATE",
		"code=a&code=b&state=STATE&state=STATE", "code=a&state=STATE&iss=https://idp.example", "code=%00&state=STATE",
		"code=a;state=STATE",
		"code=a%26client_secret=x&state=STATE", "state=STATE&code=" + strings.Repeat("a", 5000), "code=%ff&state=%ff",
		"code=a&state=STATE%0d%0a",
	} {
		f.Add("google", q)
		f.Add("github", q)
	}
	f.Add("..", "code=a&state=STATE")
	in := newProviderFixture(f)
	n := 0
	f.Fuzz(func(t *testing.T, provider, query string) {
		in.TB = t
		if strings.Contains(query, "STATE") {
			away := in.goOut("google", "alice")
			query = strings.ReplaceAll(query, "STATE", away.Get("state"))
		}
		r := httptest.NewRequest(http.MethodGet, "/auth/x/callback", nil)
		r.URL = &url.URL{Path: "/auth/" + provider + "/callback", RawQuery: query}
		n++
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", n>>16&255, n>>8&255, n&255)
		w := httptest.NewRecorder()
		in.Handler.ServeHTTP(w, r)
		if !slices.Contains([]int{400, 401, 403, 404, 405}, w.Code) {
			t.Errorf("%q?%q: %d %s", provider, query, w.Code, w.Body)
		}
		in.Clock.Advance(oauthLoginsPerSource.Per)
	})
}
