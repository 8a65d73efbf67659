package oauthlogin_test

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// idp is a provider of OpenID Connect that knows alice and mallory: the twin, or somebody else's.
type idp interface {
	Client() platform.Client
	Visit(tb testing.TB, address, person string) url.Values
}

// at is us, registered at a provider in Google's place.
func at(t *testing.T, c platform.Client, clk clock.Clock) oauthlogin.Provider {
	t.Helper()
	p, _ := apitest.NewPlatform(t)
	p.Settings.Google, p.Clock = c, clk
	return named(t, p, oauthlogin.Google)
}

func named(t *testing.T, p *platform.Platform, name string) oauthlogin.Provider {
	t.Helper()
	provider := apitest.Value(oauthlogin.New(p).Find(name))(t)
	return provider
}

func attempt() oauthlogin.Attempt {
	return oauthlogin.Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()}
}

// visit sends a person to the provider, and returns the reply.
func visit(t *testing.T, p oauthlogin.Provider, from idp, a oauthlogin.Attempt, person string) oauthlogin.Reply {
	t.Helper()
	address := apitest.Value(p.URL(t.Context(), a))(t)
	back := from.Visit(t, address, person)
	if back.Get("state") != a.State || back.Get("code") == "" {
		t.Fatalf("back with %v", back)
	}
	return oauthlogin.Reply{Code: back.Get("code"), Issuer: back.Get("iss")}
}

func refusedBy(t *testing.T, p oauthlogin.Provider, a oauthlogin.Attempt, r oauthlogin.Reply) {
	t.Helper()
	if c, err := p.Claim(t.Context(), a, r); !fault.Is(err, fault.Unauthenticated) || c != (accounts.Claim{}) {
		t.Errorf("it says %+v, %v", c, err)
	}
}

// contract checks the behaviour of OpenID Connect providers. It uses two providers, because one could be mistaken for
// the other.
func contract(t *testing.T, one, two idp, clk clock.Clock) {
	t.Helper()
	p := at(t, one.Client(), clk)
	t.Run("a person is known by issuer and subject", func(t *testing.T) {
		a := attempt()
		got, err := p.Claim(t.Context(), a, visit(t, p, one, a, "alice"))
		want := accounts.Claim{Issuer: one.Client().Issuer, Subject: "alice", Email: "alice@example.com", Name: "alice"}
		if err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("an address that is not verified is none", func(t *testing.T) { // check 23
		a := attempt()
		got, err := p.Claim(t.Context(), a, visit(t, p, one, a, "mallory"))
		if err != nil || got.Subject != "mallory" || got.Email != "" || got.Authoritative {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("a code is good once", func(t *testing.T) { // check 21
		a := attempt()
		r := visit(t, p, one, a, "alice")
		apitest.Value(p.Claim(t.Context(), a, r))(t)
		refusedBy(t, p, a, r)
	})
	t.Run("a code is worth nothing without its verifier", func(t *testing.T) {
		a := attempt()
		r := visit(t, p, one, a, "alice")
		a.Verifier = attempt().Verifier
		refusedBy(t, p, a, r)
	})
	t.Run("an ID token of another sign-in is refused", func(t *testing.T) { // check 22
		a := attempt()
		r := visit(t, p, one, a, "alice")
		a.Nonce = attempt().Nonce
		refusedBy(t, p, a, r)
	})
	t.Run("the reply of another provider is refused", func(t *testing.T) { // check 24
		a := attempt()
		r := visit(t, at(t, two.Client(), clk), two, a, "alice")
		if r.Issuer != two.Client().Issuer {
			t.Fatalf("the reply is one of %q", r.Issuer)
		}
		refusedBy(t, p, a, r)
		r.Issuer = one.Client().Issuer
		refusedBy(t, p, a, r)
		r.Issuer = ""
		refusedBy(t, p, a, r)
	})
	t.Run("a wrong secret is a defect of ours", func(t *testing.T) {
		c := one.Client()
		c.Secret = "not the secret"
		p, a := at(t, c, clk), attempt()
		if _, err := p.Claim(t.Context(), a, visit(t, p, one, a, "alice")); !fault.Is(err, fault.Internal) ||
			strings.Contains(err.Error(), c.Secret) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheTwinKeepsTheContract(t *testing.T) {
	clk := clock.NewManual(apitest.Start)
	contract(t, oauthlogintest.NewOpenID(t, clk), oauthlogintest.NewOpenID(t, clk), clk)
}
