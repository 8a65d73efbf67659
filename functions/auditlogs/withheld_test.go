package auditlogs_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/auditlogs"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// TestAnOldRowOfALogInTellsOfNoOtherOrganization reads a row in an old format, which contains all organizations of
// the user.
func TestAnOldRowOfALogInTellsOfNoOtherOrganization(t *testing.T) {
	const org = "org_01k00000000000000000000000"
	c := clock.NewManual(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	p := &platform.Platform{Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c}
	h, _ := rest.Mount(p, auditlogs.Operations(p))
	both := []any{
		map[string]string{"id": org, "name": "Ours"},
		map[string]string{"id": "org_elsewhere", "name": "Theirs"},
	}
	for _, action := range []string{"logIn", "refresh", "finishSignIn", "completeSAML"} {
		row := audit.Row{
			Action: action, Category: audit.Platform, Status: 200,
			Changes: audit.Changes{After: map[string]any{"tenants": both}},
		}
		if _, err := audit.New(p).Append(t.Context(), org, row); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/audit-logs", "/audit-logs?action=logIn", "/audit-logs/export",
		"/audit-logs/export?format=csv",
	} {
		ctx := identity.WithCaller(table.WithOrg(t.Context(), org), identity.Caller{
			Org: org, User: "usr_1", Grants: []grant.Grant{{Policies: []string{"*:*"}, Scope: grant.OrgScope}},
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody))
		if body := w.Body.String(); w.Code != http.StatusOK || strings.Contains(body, "elsewhere") ||
			strings.Contains(body, "Theirs") || !strings.Contains(body, audit.Withheld) {
			t.Errorf("GET %s: %d %s", path, w.Code, body)
		}
	}
	v, err := audit.VerifyChain(table.WithOrg(t.Context(), org), p.Table, audit.PlaceOf(org), nil, func(int64) bool {
		return false
	})
	if err != nil || !v.Holds || v.Rows != 4 {
		t.Errorf("the chain in the store: %+v %v", v, err)
	}
}
