package oauthlogin_test

import (
	"strings"
	"testing"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

func atGitHub(t *testing.T) (oauthlogin.Provider, *oauthlogintest.GitHub) {
	t.Helper()
	p, _ := apitest.NewPlatform(t)
	twin := oauthlogintest.NewGitHub(t)
	p.Settings.GitHub = twin.Client()
	return named(t, p, oauthlogin.GitHub), twin
}

func TestSomebodyOfGitHubIsTheirNumberAndTheirPrimaryVerifiedAddress(t *testing.T) {
	p, twin := atGitHub(t)
	a := attempt()
	got, err := p.Claim(t.Context(), a, visit(t, p, twin, a, "alice"))
	want := accounts.Claim{Issuer: twin.URL, Subject: "1815", Email: "alice@example.com", Name: "Alice"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

// check 23.
func TestAddressesOfGitHubThatAreNone(t *testing.T) {
	p, twin := atGitHub(t)
	for name, emails := range map[string][]oauthlogintest.Email{
		"the primary is not verified": {
			{Email: "alice@example.com", Primary: true},
			{Email: "other@example.com", Verified: true},
		},
		"none is primary":                {{Email: "alice@example.com", Verified: true}},
		"there is none":                  {},
		"we may not see them":            nil,
		"only the one that others see":   nil,
		"somebody else's, to be claimed": {{Email: "boss@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			twin.People["alice"] = oauthlogintest.Person{ID: 1815, Emails: emails}
			a := attempt()
			got, err := p.Claim(t.Context(), a, visit(t, p, twin, a, "alice"))
			if err != nil || got.Email != "" || got.Subject != "1815" || got.Name != "alice" || got.Authoritative {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestCodesOfGitHub(t *testing.T) {
	p, twin := atGitHub(t)
	t.Run("are good once", func(t *testing.T) { // check 21
		a := attempt()
		r := visit(t, p, twin, a, "alice")
		apitest.Value(p.Claim(t.Context(), a, r))(t)
		refusedBy(t, p, a, r)
	})
	t.Run("are worth nothing without their verifier", func(t *testing.T) {
		a := attempt()
		r := visit(t, p, twin, a, "alice")
		a.Verifier = attempt().Verifier
		refusedBy(t, p, a, r)
	})
	t.Run("of another provider are refused", func(t *testing.T) { // check 24
		g := newFixture(t)
		a := attempt()
		refusedBy(t, p, a, visit(t, at(t, g.twin.Client(), g.clock), g.twin, a, "alice"))
	})
	t.Run("that are none are refused", func(t *testing.T) {
		for _, code := range []string{"", "code", strings.Repeat("a", 4000), "&client_secret=x", "\x00"} {
			refusedBy(t, p, attempt(), oauthlogin.Reply{Code: code})
		}
	})
}

func TestGitHubThatFails(t *testing.T) {
	claim := func(t *testing.T, path string, n int) error {
		t.Helper()
		p, twin := atGitHub(t)
		a := attempt()
		r := visit(t, p, twin, a, "alice")
		twin.Break(path, n)
		_, err := p.Claim(t.Context(), a, r)
		return err
	}
	for _, path := range []string{"/api/v3/user", "/api/v3/user/emails"} {
		if err := claim(t, path, 1); err != nil {
			t.Errorf("%s fails once: %v", path, err)
		}
		if err := claim(t, path, 3); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s fails: %v", path, err)
		}
	}
	if err := claim(t, "/login/oauth/access_token", 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the token endpoint fails: %v", err)
	}
}

func TestNobodyAtGitHubIsNobodyHere(t *testing.T) {
	p, twin := atGitHub(t)
	a := attempt()
	if c, err := p.Claim(t.Context(), a, visit(t, p, twin, a, "ghost")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %+v, %v", c, err)
	}
}
