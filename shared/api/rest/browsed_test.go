package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

type arrival struct {
	Name string `json:"name" doc:"Who arrived"`
}

type arrivalInput struct {
	By string `query:"by" doc:"What the caller is"`
}

func arrive(ctx context.Context, in *arrivalInput) (rest.Browsed[arrival], error) {
	audit.NoteActor(ctx, apitest.Org, "", "ada@example.com")
	home := &rest.Raw{Status: http.StatusSeeOther, Header: http.Header{"Location": {"/console/"}}}
	switch in.By {
	case "browser":
	case "stranger":
		home.Failure = fault.New(fault.Denied, "not you")
	case "fault":
		home.Failure = fault.New(fault.Internal, "broken")
	default:
		return rest.Browsed[arrival]{Data: arrival{"Ada"}}, nil
	}
	return rest.Browsed[arrival]{Page: home}, nil
}

// A redirect that tells of a failure is recorded with the status of the failure.
func TestBrowsed_AnswersProgramsAndBrowsers(t *testing.T) {
	f := apitest.New(t, func(p *platform.Platform) *rest.Group {
		g := rest.NewGroup("Arrivals")
		rest.Handle(g, rest.Op{
			ID: "arrive", Method: http.MethodGet, Path: "/arrivals", Public: true, Writes: true,
			Produces: "text/html; charset=utf-8", Statuses: []int{http.StatusForbidden},
		}, arrive)
		return g
	})
	for by, want := range map[string]struct{ status, audited int }{
		"program": {200, 200}, "browser": {303, 303}, "stranger": {303, 403}, "fault": {303, 500},
	} {
		t.Run(by, func(t *testing.T) {
			a := f.Call(identity.Caller{}, "GET /arrivals?by="+by)
			if a.Status != want.status || (a.Header.Get("Location") == "/console/") != (want.status == 303) {
				t.Errorf("%s, %v", a, a.Header)
			}
			if row := f.LastAudited(apitest.Org); row.Status != want.audited {
				t.Errorf("audited as %d, want %d", row.Status, want.audited)
			}
		})
	}
	about := string(f.Description())
	for _, part := range []string{`"303":`, `"text/html":{}`, `"name":{`} {
		if !strings.Contains(about, part) {
			t.Errorf("the description has no %s: %s", part, about)
		}
	}
}
