package authorizer

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/testkit/apitest"
)

// refusals returns the rows of refused tokens of an organization.
func refusals(fx *apitest.Fixture, org string) []audit.Row {
	fx.Helper()
	apitest.Value(attempts.New(fx.Platform).Tell(fx.Context(), func() bool { return false }))(fx)
	return fx.Audited(org)
}

func TestRefusedTokens_AreRowsOfTheOrganizationThatTheyAreFor(t *testing.T) {
	for name, end := range map[string]func(k *tokenFixture){
		"of a session that was logged out": func(k *tokenFixture) {
			k.Change(identity.SessionKey(sid), table.Set("state", identity.SessionOut))
		},
		"of a user whose sessions were ended": func(k *tokenFixture) {
			k.Change(identity.UserKey(user), table.Set("epoch", 3))
		},
		"of a disabled member": func(k *tokenFixture) {
			k.Change(identity.MemberKey(org, user), table.Set("disabled", true))
		},
		"that began elsewhere than is demanded": func(k *tokenFixture) {
			k.Put(identity.AccessKey(org), identity.Access{SSODomains: []string{"example.com"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTokenFixture(t)
			header := k.session()
			end(k)
			for range 3 {
				if got := verdictOf(k.f, header); got != "Unauthorized" {
					t.Fatal(got)
				}
			}
			rows := refusals(k.Fixture, org)
			if len(rows) != 1 || rows[0].Action != "useToken" || rows[0].Status != 401 || rows[0].Target != user {
				t.Errorf("%+v", rows)
			}
			if text := rows[0].String(); strings.Contains(text, "eyJ") || strings.Contains(text, otherOrg) ||
				!strings.Contains(text, `"count":3`) {
				t.Errorf("the row says %s", text)
			}
			if other := refusals(k.Fixture, otherOrg); len(other) != 0 {
				t.Errorf("the other organization of the user: %+v", other)
			}
		})
	}
}

func TestRefusedPAT_IsARowOfTheOrganizationThatItNames(t *testing.T) {
	k := newTokenFixture(t)
	k.Change(identity.PATKey(k.hash), table.Set("epoch", 1)) // of before a reset of the password
	if got := judgeRequest(k.f, k.request(otherOrg)); got != "Unauthorized" {
		t.Fatal(got)
	}
	if rows := refusals(k.Fixture, otherOrg); len(rows) != 1 || rows[0].Action != "useToken" {
		t.Errorf("%+v", rows)
	}
	if rows := refusals(k.Fixture, org); len(rows) != 0 {
		t.Errorf("in the first organization: %+v", rows)
	}
}

// A token that anybody can make up is nobody's: it costs no call to the store.
func TestForgedTokens_LeaveNothing(t *testing.T) {
	k := newTokenFixture(t)
	for _, header := range []string{"Bearer nonsense", foreignToken(t), "Bearer " + identity.NewPAT()} {
		if got := verdictOf(k.f, header); got != "Unauthorized" {
			t.Fatal(got)
		}
	}
	if left := apitest.Rows[map[string]any](k.Fixture, "ATTEMPT#00"); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
