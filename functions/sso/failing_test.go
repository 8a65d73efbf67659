package sso

import (
	"net/http"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
	"lamplighter.dev/shared/testkit/apitest"
)

// check 78: each store call of a sign-in fails in turn, before or after it took effect. The answer is never wrong,
// and the next sign-in finds one account and one member.
func TestASignInWhoseStoreFails(t *testing.T) {
	for name, harm := range map[string]table.Harm{"before": table.FailBefore, "after": table.FailAfter} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			for n := 1; ; n++ {
				h, o, w := newConnected(t)
				doc := w.answer(h, h.beginSignOn(ada))
				sound := h.Table
				faulty := table.NewFaultyStore(sound, h.Clock, table.Injection{Harm: harm, Call: n})
				h.Table = faulty
				a := h.finishSignOn(doc)
				h.Table = sound
				if a.Status != http.StatusOK && a.Status != http.StatusInternalServerError {
					t.Fatalf("call %d: status %d: %s", n, a.Status, a.Body)
				}
				again := h.finishSignOn(w.answer(h, h.beginSignOn(ada)))
				again.want(t, http.StatusOK)
				if got := apitest.Read[identity.Access](h.Fixture, identity.AccessKey(o.org)).Members; got != 2 {
					t.Fatalf("call %d: %d members", n, got)
				}
				if a.Status == http.StatusOK && a.user() != again.user() {
					t.Fatalf("call %d: two accounts", n)
				}
				if a.Status == http.StatusInternalServerError {
					refused++
				}
				if n > faulty.CallCount() {
					t.Logf("%d of %d calls failed the sign-in", refused, n-1)
					return
				}
			}
		})
	}
}

// The same of a change of settings: all of it, or nothing.
func TestAChangeOfSettingsWhoseStoreFails(t *testing.T) {
	for name, harm := range map[string]table.Harm{"before": table.FailBefore, "after": table.FailAfter} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				h, o, _ := newConnected(t)
				sound := h.Table
				faulty := table.NewFaultyStore(sound, h.Clock, table.Injection{Harm: harm, Call: n})
				h.Table = faulty
				a := o.askAs(grant.Owner, http.MethodPut, map[string]any{"domains": []string{}})
				h.Table = sound
				proven := domainsOf(o.getSettings())["example.com"] != nil
				_, err := table.Read[maildomain.Claim](anywhere(), sound, maildomain.ClaimKey("example.com"))
				if claimed := !fault.Is(err, fault.NotFound); claimed != proven {
					t.Fatalf("call %d: claimed %t, proven %t, after %d", n, claimed, proven, a.Status)
				}
				if n > faulty.CallCount() {
					return
				}
			}
		})
	}
}
