package auditlinker

import (
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/testkit/apitest"
)

// The function links the entries of other functions' requests, with only its declared access.
func TestWhatWaitsIsLinkedEachMinute(t *testing.T) {
	f := apitest.New(t)
	for _, org := range []string{apitest.Org, apitest.OtherOrg, ""} {
		for range 3 {
			apitest.Value(audit.New(f.Platform).Append(f.Context(), org, audit.Row{Action: "createTeam"}))(f)
		}
	}
	f.Own(Declaration)
	link := Handler(f.Platform)
	for _, want := range []audit.Due{{}, {Chains: 3, Rows: 9}, {}} {
		if got, err := link(t.Context(), json.RawMessage("{}")); err != nil || got != want {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
		f.Clock.Advance(audit.LinkAfter)
	}
	ctx := table.As(f.Anywhere(), "test", table.Unlimited)
	v, err := audit.VerifyChain(ctx, f.Table, audit.PlaceOf(apitest.Org), nil, func(int64) bool { return false })
	if err != nil || !v.Holds || v.Rows != 3 {
		t.Errorf("%+v %v", v, err)
	}
}

// Counts of refused log-ins become rows of the organizations of the member, with the declared access.
func TestRefusedLogInsAreToldEachMinute(t *testing.T) {
	f := apitest.New(t)
	for _, org := range []string{apitest.Org, apitest.OtherOrg} {
		f.Organization(org, "Org")
		f.Join(org, "bob")
	}
	attempts.New(f.Platform).Note(f.Context(), attempts.Attempt{
		Action: attempts.LogIn, Status: 401, Who: attempts.ByAddress(f.Settings.Pepper, apitest.Email("bob")),
	})
	f.Own(Declaration)
	link := Handler(f.Platform)
	for _, want := range []audit.Due{{}, {Chains: 2, Rows: 2}, {}} {
		if got, err := link(t.Context(), json.RawMessage("{}")); err != nil || got != want {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
		f.Clock.Advance(audit.LinkAfter)
	}
}
