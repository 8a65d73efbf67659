package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/apitest"
)

// visit has an operation that answers the cookie "visit" as it came, and sets it.
func visit(t *testing.T) (http.Handler, *apitest.Fixture) {
	t.Helper()
	f := apitest.New(t)
	g := rest.NewGroup("Visits")
	type data struct {
		Came []string `json:"came"`
	}
	rest.Handle(g, rest.Op{ID: "visit", Method: http.MethodPost, Path: "/visits", Public: true},
		func(ctx context.Context, _ *struct{}) (data, error) {
			rest.SetCookie(ctx, &http.Cookie{Name: "visit", Value: "new", HttpOnly: true})
			rest.SetCookie(ctx, &http.Cookie{Name: "other", Value: "too"})
			return data{rest.CookieValues(ctx, "visit")}, nil
		})
	h, _ := rest.Mount(f.Platform, g)
	return h, f
}

var setByVisit = []string{"visit=new; HttpOnly", "other=too"}

// Cookies pass in both directions through API Gateway, which sends headers in one form or the other.
func TestCookies_PassThroughTheGateway(t *testing.T) {
	h, _ := visit(t)
	fn := rest.AdaptHandler(h)
	for name, c := range map[string]struct {
		single map[string]string
		multi  map[string][]string
		want   string
	}{
		"none":              {nil, map[string][]string{}, `"came":null`},
		"one":               {nil, map[string][]string{"Cookie": {"visit=a"}}, `["a"]`},
		"in lower case":     {nil, map[string][]string{"cookie": {"x=1; visit=a"}}, `["a"]`},
		"in several lines":  {nil, map[string][]string{"Cookie": {"visit=a", "y=2; visit=b"}}, `["a","b"]`},
		"in single headers": {map[string]string{"cookie": "x=1; visit=a"}, nil, `["a"]`},
		"not well-formed":   {nil, map[string][]string{"Cookie": {"=; =x; vi sit=a"}}, `"came":null`},
		"more than a browser has": {
			nil,
			map[string][]string{"Cookie": slices.Repeat([]string{"visit=a"}, 50)},
			`["a","a","a","a"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ev := newEvent("POST", "/visits", "")
			ev.Headers, ev.MultiValueHeaders = c.single, c.multi
			ev.RequestContext.Authorizer = nil
			out, err := fn(t.Context(), ev)
			if err != nil || out.StatusCode != http.StatusOK || !strings.Contains(out.Body, c.want) {
				t.Fatalf("%d %s, %v", out.StatusCode, out.Body, err)
			}
			if got := out.MultiValueHeaders["Set-Cookie"]; !slices.Equal(got, setByVisit) {
				t.Errorf("set %q", got)
			}
		})
	}
}

// The answer that is kept for an Idempotency-Key has no cookie.
func TestCookies_AreNotRepeated(t *testing.T) {
	h, f := visit(t)
	for _, want := range [][]string{setByVisit, nil} {
		r := httptest.NewRequest(http.MethodPost, "/visits", nil)
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(identity.WithCaller(f.Context(), identity.Caller{})))
		if got := w.Header()["Set-Cookie"]; w.Code != http.StatusOK || !slices.Equal(got, want) {
			t.Errorf("%d, set %q, want %q", w.Code, got, want)
		}
	}
}

func TestCookies_OutsideOfARequestThereAreNone(t *testing.T) {
	rest.SetCookie(t.Context(), &http.Cookie{Name: "visit", Value: "new"})
	if got := rest.CookieValues(t.Context(), "visit"); got != nil {
		t.Errorf("%q", got)
	}
}
