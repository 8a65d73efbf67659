package auditlogs

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/testkit/apitest"
)

// An administrator reads at once of a refused log-in of a member, in the list, the export and the verified chain.
func TestRefusedLogIns_AreReadAtOnceByTheOrganizationOfTheMember(t *testing.T) {
	a := newFixture(t)
	for _, org := range []string{ours, theirs} {
		a.Organization(org, "Org")
	}
	a.Join(ours, "bob")
	attempts.New(a.Platform).Note(a.Context(), attempts.Attempt{
		Action: attempts.LogIn, Status: 401, IP: "192.0.2.9",
		Who: attempts.ByAddress(a.Settings.Pepper, apitest.Email("bob")),
	})
	for _, query := range []string{"?include=platform", "?email=bob@example.com", "?action=logIn", ""} {
		got := apitest.Data[rest.List[audit.Row]](a.get(ours, "/audit-logs"+query))
		if len(got.Items) != 1 || got.Items[0].Status != 401 || got.Items[0].IP != "192.0.2.9" ||
			got.Items[0].Actor != "bob@example.com" {
			t.Errorf("%s: %+v", query, got)
		}
	}
	if got := apitest.Data[rest.List[audit.Row]](a.get(ours, "/audit-logs?include=cost")); len(got.Items) != 0 {
		t.Errorf("of costs: %+v", got)
	}
	if got := a.get(ours, "/audit-logs/export"); !strings.Contains(got.Body, `"action":"logIn"`) {
		t.Errorf("the export: %s", got.Body)
	}
	if v := apitest.Data[audit.Verdict](a.get(ours, "/audit-logs/verify")); !v.Holds || v.Rows != 1 {
		t.Errorf("the chain: %+v", v)
	}
	if got := apitest.Data[rest.List[audit.Row]](a.get(theirs, "/audit-logs")); len(got.Items) != 0 {
		t.Errorf("another organization: %+v", got)
	}
}

// The function does this with its declared access, and so does the worker.
func TestRefusedLogIns_NeedNoMoreThanTheDeclaredAccess(t *testing.T) {
	a := newFixture(t)
	for _, org := range []string{ours, theirs} {
		a.Organization(org, "Org")
		a.Join(org, "bob")
	}
	attempts.New(a.Platform).Note(a.Context(), attempts.Attempt{
		Action: attempts.LogIn, Status: 401, Who: attempts.ByAddress(a.Settings.Pepper, apitest.Email("bob")),
	})
	a.Own(Declaration)
	if got := apitest.Data[rest.List[audit.Row]](a.get(ours, "/audit-logs")); len(got.Items) != 1 {
		t.Errorf("%+v", got)
	}
	if got := apitest.Data[rest.List[audit.Row]](a.get(theirs, "/audit-logs")); len(got.Items) != 1 {
		t.Errorf("the other organization of the member: %+v", got)
	}
}
