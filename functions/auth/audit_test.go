package auth

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/testkit/apitest"
)

// auditRows returns the audit entries at places, as action, status and actor.
func (h *fixture) auditRows(places ...audit.Place) []string {
	h.Helper()
	var out []string
	apitest.Value(attempts.New(h.Platform).Tell(h.Context(), func() bool { return false }))(h)
	apitest.LinkAudit(h, h.Platform, places...)
	for _, at := range places {
		page := apitest.Value(h.Table.Query(table.Within(context.Background(), at.PK),
			table.Query{PK: at.PK, Limit: 1000}))(h)
		for _, it := range page.Items {
			row := apitest.Value(table.Decode[audit.Row](it))(h)
			if row.Action == "" {
				continue // where the chain ends
			}
			for _, secret := range []string{password, wrong, "lampr_", "eyJ"} {
				if strings.Contains(string(it.Data), secret) {
					h.Errorf("%q is on record: %s", secret, it.Data)
				}
			}
			out = append(out, row.Action+" "+string('0'+rune(row.Status/100))+" "+row.Actor)
		}
	}
	return out
}

// Log-ins are recorded in the organization that the person enters. Attempts without an organization are recorded in
// the installation's log.
func TestLogInsAreOnRecord(t *testing.T) {
	const org = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	in := newProviderFixture(t)
	u := apitest.Value(CreateVerifiedUser(t.Context(), in.Platform, "alice@example.com", password, "Alice"))(in)
	in.belongTo(u.ID, org, "Engines")
	in.google.Edit(func(c map[string]any) { c["hd"] = "example.com" })
	by := map[string]any{"email": u.Email, "password": password}

	first := in.want(200, "POST", "/auth/login", by)
	in.refreshTokens(200, first)
	in.Clock.Advance(time.Minute)
	in.refreshTokens(401, first) // used twice: the organization should hear of it
	in.signIn("google")
	in.want(200, "POST", "/auth/login",
		map[string]any{"provider": "google", "token": in.google.Sign(t, in.google.Claims("alice"))})
	if got, want := in.auditRows(audit.PlaceOf(org)), []string{
		"logIn 2 alice@example.com", "refresh 2 alice@example.com", "finishSignIn 2 alice@example.com",
		"logIn 2 alice@example.com", "refresh 4 alice@example.com", // counted first, and told when the log is read
	}; !slices.Equal(got, want) {
		t.Errorf("the organization's record: %q\nwant %q", got, want)
	}

	by["tenantID"] = "org_01k8z3v5y0e6m9x2q4t7r1c8bf"
	in.want(403, "POST", "/auth/login", by) // somebody else's: nothing there
	by["password"] = wrong
	in.want(401, "POST", "/auth/login", by)
	in.want(401, "GET", "/auth/google/callback?code=a&state=b", nil)
	got := in.auditRows(audit.SystemPlaces()...)
	if want := []string{
		"refresh 4 alice@example.com", "logIn 4 alice@example.com", "logIn 4 anonymous",
		"finishSignIn 4 anonymous",
	}; !slices.Equal(got, want) {
		t.Errorf("the installation's record: %q\nwant %q", got, want)
	}
	if rows := in.auditRows(audit.PlaceOf("org_01k8z3v5y0e6m9x2q4t7r1c8bf")); len(rows) != 0 {
		t.Errorf("the record of an organization that nobody entered: %q", rows)
	}
}

// A refresh is the most frequent request that writes. Its row is complete before the session is stored, so that it is
// written once, into the organization's log.
func TestRefresh_WritesItsAuditRowOnce(t *testing.T) {
	const org = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	h := newFixture(t)
	u := apitest.Value(CreateVerifiedUser(t.Context(), h.Platform, ada, password, "Ada"))(h)
	h.belongTo(u.ID, org, "Engines")
	in := h.logIn()
	got := h.Call(identity.Caller{}, "POST /auth/refresh", map[string]any{"refreshToken": in["refreshToken"]})
	// the count of the source, the session and the row, both in a transaction; the log-in has noted that rows wait
	if h.Equal("the answer", got.Status, 200); got.Usage.WriteUnits != 1+2+2 {
		t.Errorf("a refresh writes %v units, want 5", got.Usage.WriteUnits)
	}
	h.Clock.Advance(time.Minute)
	h.refreshTokens(401, in)
	if rows := h.auditRows(audit.SystemPlaces()...); !slices.Equal(rows, []string{"refresh 4 ada@example.com"}) {
		t.Errorf("the installation's record: %q", rows)
	}
}

// Nothing is written to an erased organization: it would stay for ever, because the organization is not erased again.
func TestASessionThatOutlivesItsOrganizationLeavesNothingInIt(t *testing.T) {
	const org = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	h := newFixture(t)
	u, err := CreateVerifiedUser(t.Context(), h.Platform, "alice@example.com", password, "Alice")
	h.Must(err)
	h.belongTo(u.ID, org, "Engines")
	first := h.want(200, "POST", "/auth/login", map[string]any{"email": u.Email, "password": password})
	before := h.auditRows(audit.PlaceOf(org))
	h.Write(table.Delete(identity.MembershipKey(u.ID, org)))
	h.Clock.Advance(time.Hour)
	h.refreshTokens(200, first)
	h.Clock.Advance(time.Minute)
	h.refreshTokens(401, first)
	if after := h.auditRows(audit.PlaceOf(org)); !slices.Equal(before, after) {
		t.Errorf("the record of an organization that is no more: %q", after[len(before):])
	}
	if got, want := h.auditRows(audit.SystemPlaces()...),
		[]string{"refresh 2 alice@example.com", "refresh 4 alice@example.com"}; !slices.Equal(got, want) {
		t.Errorf("the installation's record: %q", got)
	}
}
