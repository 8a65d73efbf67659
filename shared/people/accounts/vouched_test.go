package accounts_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
)

const ada = "ada@example.com"

// claim is what a provider says of ada that is not authoritative for her address.
var claim = accounts.Claim{Issuer: "https://idp.example", Subject: "1815", Email: ada, Name: "Ada"}

func authoritative(c accounts.Claim) accounts.Claim {
	c.Authoritative = true
	return c
}

// keep stores an account of ada's address.
func keep(t *testing.T, p *platform.Platform, change func(*identity.User)) identity.User {
	t.Helper()
	u := accounts.New(p.Clock.Now(), ada, "Ada")
	u.Password = "a hash"
	change(&u)
	writes, err := accounts.Of(p).Register(u, identity.User{})
	if err != nil {
		t.Fatal(err)
	}
	if err = p.Table.Transact(within(), writes...); err != nil {
		t.Fatal(err)
	}
	return u
}

func within() context.Context {
	return table.Within(context.Background(), identity.UserPrefix, identity.AddressPrefix, accounts.Prefix)
}

func verified(u *identity.User)  { u.Verified = true }
func unverified(*identity.User)  {}
func turnedOff(u *identity.User) { u.Verified, u.Disabled = true, true }
func read(t *testing.T, p *platform.Platform, user string) identity.User {
	t.Helper()
	u, err := table.Read[identity.User](within(), p.Table, identity.UserKey(user))
	if err != nil && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	return u
}

func vouched(t *testing.T, p *platform.Platform, c accounts.Claim) identity.User {
	t.Helper()
	u, err := accounts.Of(p).Vouched(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func denied(t *testing.T, p *platform.Platform, c accounts.Claim, why string) {
	t.Helper()
	u, err := accounts.Of(p).Vouched(t.Context(), c)
	if !fault.Is(err, fault.Denied) || !strings.Contains(fault.Message(err), why) {
		t.Errorf("got %q, %v; want a denial with %q", u.ID, err, why)
	}
}

func TestSomebodyNewGetsAVerifiedAccountWithoutAPassword(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	c := claim
	c.Email = " Ada@Example.COM"
	u := vouched(t, p, c)
	if got := read(t, p, u.ID); got != u || !u.Verified || u.Password != "" || u.Email != ada || u.Name != "Ada" {
		t.Errorf("%+v, stored %+v", u, got)
	}
	if again := vouched(t, p, c); again != u {
		t.Errorf("the second time %+v", again)
	}
}

// check 23.
func TestAProviderThatIsNotAuthoritativeOpensNoAccountOfTheSameAddress(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	u := keep(t, p, verified)
	denied(t, p, claim, "password")
	if got := read(t, p, u.ID); got != u {
		t.Errorf("the account is now %+v", got)
	}
	denied(t, p, claim, "password") // nor was it tied by the first attempt
}

func TestAnAuthoritativeProviderJoinsTheAccountOfTheAddress(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	u := keep(t, p, verified)
	if got := vouched(t, p, authoritative(claim)); got != u {
		t.Errorf("joined %+v, want %+v", got, u)
	}
	if got := vouched(t, p, claim); got != u { // tied for good: nothing is authoritative any more, and need not be
		t.Errorf("later %+v", got)
	}
}

func TestAnAccountThatNobodyVerifiedGivesWay(t *testing.T) {
	for name, c := range map[string]accounts.Claim{"authoritative": authoritative(claim), "not": claim} {
		t.Run(name, func(t *testing.T) {
			p, _ := apitest.NewPlatform(t)
			squatter := keep(t, p, unverified)
			u := vouched(t, p, c)
			if u.ID == squatter.ID || u.Password != "" || read(t, p, squatter.ID).ID != "" {
				t.Errorf("got %+v where %s squatted", u, squatter.ID)
			}
		})
	}
}

// check 23: nothing is believed of an address that the provider itself has not verified.
func TestAnAddressThatTheProviderHasNotVerifiedOpensNothing(t *testing.T) {
	for name, address := range map[string]string{"none": "", "no address": "ada", "not deliverable": "ada@localhost"} {
		t.Run(name, func(t *testing.T) {
			p, _ := apitest.NewPlatform(t)
			keep(t, p, verified)
			c := authoritative(claim)
			c.Email = address
			denied(t, p, c, "verified")
		})
	}
}

// An identity is the issuer and the subject, never the address.
func TestTheSamePersonIsKnownWhateverTheAddressBecomes(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	u := vouched(t, p, claim)
	for _, address := range []string{"", "countess@example.org"} {
		c := claim
		c.Email = address
		if got := vouched(t, p, c); got.ID != u.ID || got.Email != ada {
			t.Errorf("with the address %q it is %+v", address, got)
		}
	}
	for name, c := range map[string]accounts.Claim{
		"another subject":                {Issuer: claim.Issuer, Subject: "1816", Email: ada},
		"another issuer":                 {Issuer: "https://other.example", Subject: claim.Subject, Email: ada},
		"parts that join to the same":    {Issuer: claim.Issuer + "1", Subject: "815", Email: ada},
		"another issuer without address": {Issuer: "https://other.example", Subject: claim.Subject},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := accounts.Of(p).Vouched(t.Context(), c); !fault.Is(err, fault.Denied) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestADisabledAccountStaysShut(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	keep(t, p, turnedOff)
	denied(t, p, authoritative(claim), "disabled")

	p, _ = apitest.NewPlatform(t)
	u := vouched(t, p, claim)
	if _, err := p.Table.Write(within(), table.Update(identity.UserKey(u.ID), []table.Change{table.Set("disabled", true)})); err != nil {
		t.Fatal(err)
	}
	denied(t, p, claim, "disabled")
}

func TestALinkToAnAccountThatIsGoneIsTiedAnew(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	old := vouched(t, p, claim)
	err := p.Table.Transact(within(), table.Delete(identity.UserKey(old.ID)), table.Delete(identity.AddressKey(p.Settings.Pepper, ada)))
	if err != nil {
		t.Fatal(err)
	}
	u := vouched(t, p, claim)
	if u.ID == old.ID || vouched(t, p, claim) != u {
		t.Errorf("%+v after %s", u, old.ID)
	}
}

func TestANameThatIsNoneIsNotTaken(t *testing.T) {
	for name, given := range map[string]string{"blank": " ", "a line break": "Ada\nBcc: eve", "endless": strings.Repeat("a", 1000)} {
		t.Run(name, func(t *testing.T) {
			p, _ := apitest.NewPlatform(t)
			c := claim
			c.Name = given
			if u := vouched(t, p, c); u.Name != "ada" {
				t.Errorf("%q", u.Name)
			}
		})
	}
}

func TestTwentyFirstSignInsAtOnceMakeOneAccount(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *platform.Platform){
		"of nobody":                func(*testing.T, *platform.Platform) {},
		"of an unverified account": func(t *testing.T, p *platform.Platform) { t.Helper(); keep(t, p, unverified) },
		"of a verified account":    func(t *testing.T, p *platform.Platform) { t.Helper(); keep(t, p, verified) },
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := apitest.NewPlatform(t)
			prepare(t, p)
			got := make([]string, 20)
			var wg sync.WaitGroup
			for i := range got {
				wg.Go(func() {
					u, err := accounts.Of(p).Vouched(context.Background(), authoritative(claim))
					if err != nil {
						t.Error(err)
					}
					got[i] = u.ID
				})
			}
			wg.Wait()
			u, err := accounts.Of(p).Find(t.Context(), ada)
			if err != nil || !u.Verified {
				t.Fatalf("%+v, %v", u, err)
			}
			for _, one := range got {
				if one != u.ID {
					t.Errorf("signed in as %q, the account is %s", one, u.ID)
				}
			}
		})
	}
}

func TestAClaimOfNobodyIsADefect(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	for name, c := range map[string]accounts.Claim{"no issuer": {Subject: "1", Email: ada}, "no subject": {Issuer: "x", Email: ada}} {
		if _, err := accounts.Of(p).Vouched(t.Context(), c); !fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
