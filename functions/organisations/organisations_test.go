package organisations

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

type answer struct {
	status int
	Data   json.RawMessage `json:"data"`
	Error  json.RawMessage `json:"error"`
}

// call makes a request as the user: a POST when there is a body, else a GET.
func call(t *testing.T, p *platform.Platform, user, body string) answer {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	door, _ := rest.Mount(p, Operations(p))
	r := httptest.NewRequest(method, "/organisations", bytes.NewBufferString(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	door.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Caller{User: user, Method: identity.MethodToken})))
	out := answer{status: w.Code}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%s: %s", err, w.Body)
	}
	return out
}

func list(t *testing.T, p *platform.Platform, user string) []identity.Organisation {
	t.Helper()
	got := call(t, p, user, "")
	var out []identity.Organisation
	if err := json.Unmarshal(got.Data, &out); err != nil || got.status != 200 {
		t.Fatalf("list: %+v, %v", got, err)
	}
	return out
}

func TestTheCreatorOwnsTheOrganization(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	if got := call(t, p, "usr_ada", ""); string(got.Data) != "[]" {
		t.Errorf("before: %s", got.Data)
	}
	got := call(t, p, "usr_ada", `{"name":" Engines ","id":"org_mine","createdBy":"usr_eve"}`)
	var o identity.Organisation
	if err := json.Unmarshal(got.Data, &o); err != nil || got.status != 200 {
		t.Fatalf("create: %+v, %v", got, err)
	}
	if !id.Valid("org", o.ID) || o.Name != "Engines" || o.CreatedBy != "usr_ada" || !o.CreatedAt.Equal(apitest.Start) || !o.UpdatedAt.Equal(o.CreatedAt) {
		t.Errorf("created %+v", o)
	}
	var fields map[string]any
	if err := json.Unmarshal(got.Data, &fields); err != nil || len(fields) != 5 {
		t.Errorf("record %s", got.Data)
	}
	m, err := table.Read[identity.Member](table.WithTenant(context.Background(), o.ID), p.Table, identity.MemberKey(o.ID, "usr_ada"))
	if err != nil {
		t.Fatal(err)
	}
	owner := identity.Caller{Org: o.ID, User: "usr_ada", Grants: identity.Resolve(m.Grants)}
	if !identity.Allows(owner, "organisation:delete") {
		t.Errorf("grants %+v", m.Grants)
	}
	c.Advance(time.Second)
	call(t, p, "usr_ada", `{"name":"Looms"}`)
	if all := list(t, p, "usr_ada"); len(all) != 2 || all[0] != o || all[1].Name != "Looms" {
		t.Errorf("list %+v", all)
	}
	if all := list(t, p, "usr_eve"); len(all) != 0 {
		t.Errorf("somebody else sees %+v", all)
	}
}

func TestNamesOfOrganizations(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	for _, c := range []struct {
		name, user, body string
		status           int
	}{
		{"the first", "usr_ada", `{"name":"Engines"}`, 200},
		{"again", "usr_ada", `{"name":"Engines"}`, 409},
		{"in other case", "usr_ada", `{"name":" ENGINES"}`, 409},
		{"of somebody else", "usr_eve", `{"name":"Engines"}`, 200},
		{"empty", "usr_ada", `{"name":""}`, 400},
		{"only blanks", "usr_ada", `{"name":"   "}`, 400},
		{"none", "usr_ada", `{}`, 400},
		{"too long", "usr_ada", `{"name":"` + strings.Repeat("x", 101) + `"}`, 400},
		{"with a newline", "usr_ada", `{"name":"a\nb"}`, 400},
		{"not a string", "usr_ada", `{"name":7}`, 400},
		{"of nobody", "", `{"name":"Engines"}`, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := call(t, p, c.user, c.body); got.status != c.status {
				t.Errorf("status %d: %s", got.status, got.Error)
			}
		})
	}
}

func TestCreatingTheSameAtOnceMakesOne(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { call(t, p, "usr_ada", `{"name":"Engines"}`) })
	}
	wg.Wait()
	if all := list(t, p, "usr_ada"); len(all) != 1 {
		t.Errorf("%d organizations", len(all))
	}
}
