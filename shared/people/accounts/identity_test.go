package accounts_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
)

const ada = "ada@example.com"

// claim is from a provider that is not authoritative for ada's address.
var claim = accounts.Claim{Issuer: "https://idp.example", Subject: "1815", Email: ada, Name: "Ada"}

func makeAuthoritative(c accounts.Claim) accounts.Claim {
	c.Authoritative = true
	return c
}

type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{apitest.New(t)}
}

// storeAccount stores an account with ada's address.
func (f *fixture) storeAccount(change func(*identity.User)) identity.User {
	f.Helper()
	u := accounts.NewUser(f.Clock.Now(), ada, "Ada")
	u.Password = "a hash"
	change(&u)
	f.Must(f.Table.Transact(f.Anywhere(),
		apitest.Value(accounts.New(f.Platform).RegisterWrites(u, identity.User{}))(f)...))
	return u
}

func (f *fixture) readUser(user string) identity.User {
	f.Helper()
	u, err := table.Read[identity.User](f.Anywhere(), f.Table, identity.UserKey(user))
	if err != nil && !fault.Is(err, fault.NotFound) {
		f.Fatal(err)
	}
	return u
}

func (f *fixture) signIn(c accounts.Claim) identity.User {
	f.Helper()
	return apitest.Value(accounts.New(f.Platform).FindOrCreateByIdentity(f.Context(), c))(f)
}

func (f *fixture) wantDenied(c accounts.Claim, why string) {
	f.Helper()
	u, err := accounts.New(f.Platform).FindOrCreateByIdentity(f.Context(), c)
	if !fault.Is(err, fault.Denied) || !strings.Contains(fault.Message(err), why) {
		f.Errorf("got %q, %v; want a denial with %q", u.ID, err, why)
	}
}

func verified(u *identity.User)  { u.Verified = true }
func unverified(*identity.User)  {}
func turnedOff(u *identity.User) { u.Verified, u.Disabled = true, true }
func TestSomebodyNewGetsAVerifiedAccountWithoutAPassword(t *testing.T) {
	f := newFixture(t)
	c := claim
	c.Email = " Ada@Example.COM"
	u := f.signIn(c)
	if got := f.readUser(u.ID); got != u || !u.Verified || u.Password != "" || u.Email != ada || u.Name != "Ada" {
		t.Errorf("%+v, stored %+v", u, got)
	}
	if again := f.signIn(c); again != u {
		t.Errorf("the second time %+v", again)
	}
}

// check 23.
func TestAProviderThatIsNotAuthoritativeOpensNoAccountOfTheSameAddress(t *testing.T) {
	f := newFixture(t)
	u := f.storeAccount(verified)
	f.wantDenied(claim, "password")
	if got := f.readUser(u.ID); got != u {
		t.Errorf("the account is now %+v", got)
	}
	f.wantDenied(claim, "password") // and the first attempt did not link it
}

func TestAnAuthoritativeProviderJoinsTheAccountOfTheAddress(t *testing.T) {
	f := newFixture(t)
	u := f.storeAccount(verified)
	if got := f.signIn(makeAuthoritative(claim)); got != u {
		t.Errorf("joined %+v, want %+v", got, u)
	}
	if got := f.signIn(claim); got != u { // the link stays, although the provider is not authoritative now
		t.Errorf("later %+v", got)
	}
}

func TestAnAccountThatNobodyVerifiedGivesWay(t *testing.T) {
	for name, c := range map[string]accounts.Claim{"authoritative": makeAuthoritative(claim), "not": claim} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			squatter := f.storeAccount(unverified)
			u := f.signIn(c)
			if u.ID == squatter.ID || u.Password != "" || f.readUser(squatter.ID).ID != "" {
				t.Errorf("got %+v where %s squatted", u, squatter.ID)
			}
		})
	}
}

// check 23: a claim with an address that the provider has not verified opens no account.
func TestAnAddressThatTheProviderHasNotVerifiedOpensNothing(t *testing.T) {
	for name, address := range map[string]string{"none": "", "no address": "ada", "not deliverable": "ada@localhost"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.storeAccount(verified)
			c := makeAuthoritative(claim)
			c.Email = address
			f.wantDenied(c, "verified")
		})
	}
}

// Issuer and subject identify a person, not the address.
func TestTheSamePersonIsKnownWhateverTheAddressBecomes(t *testing.T) {
	f := newFixture(t)
	u := f.signIn(claim)
	for _, address := range []string{"", "countess@example.org"} {
		c := claim
		c.Email = address
		if got := f.signIn(c); got.ID != u.ID || got.Email != ada {
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
			if got, err := accounts.New(f.Platform).FindOrCreateByIdentity(t.Context(), c); !fault.Is(err,
				fault.Denied) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestADisabledAccountStaysShut(t *testing.T) {
	f := newFixture(t)
	f.storeAccount(turnedOff)
	f.wantDenied(makeAuthoritative(claim), "disabled")

	f = newFixture(t)
	u := f.signIn(claim)
	f.Change(identity.UserKey(u.ID), table.Set("disabled", true))
	f.wantDenied(claim, "disabled")
}

func TestALinkToAnAccountThatIsGoneIsTiedAnew(t *testing.T) {
	f := newFixture(t)
	old := f.signIn(claim)
	f.Write(table.Delete(identity.UserKey(old.ID)), table.Delete(identity.AddressKey(f.Settings.Pepper, ada)))
	u := f.signIn(claim)
	if u.ID == old.ID || f.signIn(claim) != u {
		t.Errorf("%+v after %s", u, old.ID)
	}
}

func TestANameThatIsNoneIsNotTaken(t *testing.T) {
	for name, given := range map[string]string{
		"blank": " ", "a line break": "Ada\nBcc: eve",
		"endless": strings.Repeat("a", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c := claim
			c.Name = given
			if u := f.signIn(c); u.Name != "ada" {
				t.Errorf("%q", u.Name)
			}
		})
	}
}

func TestTwentyFirstSignInsAtOnceMakeOneAccount(t *testing.T) {
	for name, prepare := range map[string]func(*fixture){
		"of nobody":                func(*fixture) {},
		"of an unverified account": func(f *fixture) { f.storeAccount(unverified) },
		"of a verified account":    func(f *fixture) { f.storeAccount(verified) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			prepare(f)
			got := make([]string, 20)
			var wg sync.WaitGroup
			for i := range got {
				wg.Go(func() {
					u, err := accounts.New(f.Platform).FindOrCreateByIdentity(context.Background(),
						makeAuthoritative(claim))
					if err != nil {
						t.Error(err)
					}
					got[i] = u.ID
				})
			}
			wg.Wait()
			u, err := accounts.New(f.Platform).Find(t.Context(), ada)
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
	f := newFixture(t)
	for name, c := range map[string]accounts.Claim{
		"no issuer":  {Subject: "1", Email: ada},
		"no subject": {Issuer: "x", Email: ada},
	} {
		if _, err := accounts.New(f.Platform).FindOrCreateByIdentity(t.Context(), c); !fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
