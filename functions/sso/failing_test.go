package sso

import (
	"net/http"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// check 78: each call of a sign-in fails in turn, before or after it took effect. The answer is never a wrong one, and the
// next sign-in finds one account and one member.
func TestASignInWhoseStoreFails(t *testing.T) {
	for name, harm := range map[string]table.Harm{"before": table.FailBefore, "after": table.FailAfter} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			for n := 1; ; n++ {
				h, o, w := connected(t)
				doc := w.answer(h, h.begin(ada))
				sound := h.p.Table
				faulty := table.Faulty(sound, h.clock, table.Injection{Harm: harm, Call: n})
				h.p.Table = faulty
				a := h.finish(doc)
				h.p.Table = sound
				if a.status != http.StatusOK && a.status != http.StatusInternalServerError {
					t.Fatalf("call %d: status %d: %s", n, a.status, a.body)
				}
				again := h.finish(w.answer(h, h.begin(ada)))
				again.want(t, http.StatusOK)
				if got := row[identity.Access](h, identity.AccessKey(o.org)).Members; got != 2 {
					t.Fatalf("call %d: %d members", n, got)
				}
				if a.status == http.StatusOK && a.user() != again.user() {
					t.Fatalf("call %d: two accounts", n)
				}
				if a.status == http.StatusInternalServerError {
					refused++
				}
				if n > faulty.Calls() {
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
				h, o, _ := connected(t)
				sound := h.p.Table
				faulty := table.Faulty(sound, h.clock, table.Injection{Harm: harm, Call: n})
				h.p.Table = faulty
				a := o.ask(grant.Owner, http.MethodPut, map[string]any{"domains": []string{}})
				h.p.Table = sound
				proven := domainsOf(o.get())["example.com"] != nil
				_, err := table.Read[claim](anywhere(), sound, claimKey("example.com"))
				if claimed := !fault.Is(err, fault.NotFound); claimed != proven {
					t.Fatalf("call %d: claimed %t, proven %t, after %d", n, claimed, proven, a.status)
				}
				if n > faulty.Calls() {
					return
				}
			}
		})
	}
}
