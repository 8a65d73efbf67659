package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/rest"
)

type thing struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type create struct {
	Body struct {
		Name string            `json:"name" minLength:"1" maxLength:"20"`
		Kind string            `json:"kind,omitempty" enum:"a,b"`
		Tags map[string]string `json:"tags,omitempty"`
	}
}

type change struct {
	ID   string `path:"thingID"`
	Body struct {
		Name rest.Patch[string] `json:"name,omitzero" minLength:"1"`
	}
}

type list struct {
	rest.Page
	rest.Sort
	Search string `query:"search"`
}

func things() *rest.Group {
	g := rest.NewGroup("Things")
	rest.Handle(g, rest.Op{ID: "listThings", Method: http.MethodGet, Path: "/things", Summary: "List", Policy: "resources:read"},
		func(_ context.Context, in *list) (rest.List[thing], error) {
			return rest.List[thing]{Page: in.Page.Page, Limit: in.Limit}, in.Check("name")
		})
	rest.Handle(g, rest.Op{ID: "createThing", Method: http.MethodPost, Path: "/things", Summary: "Create", Policy: "resources:write", Statuses: []int{400, 409}},
		func(_ context.Context, in *create) (thing, error) {
			return thing{"t1", in.Body.Name}, nil
		})
	rest.Handle(g, rest.Op{ID: "getThing", Method: http.MethodGet, Path: "/things/{thingID}", Summary: "Get", SignedIn: true, Statuses: []int{404}},
		func(_ context.Context, in *struct {
			ID string `path:"thingID"`
		},
		) (thing, error) {
			if in.ID == "panic" {
				panic("boom")
			}
			if in.ID != "t1" {
				return thing{}, fault.New(fault.NotFound, "thing %s not found", in.ID)
			}
			return thing{"t1", "<b>&"}, nil
		})
	rest.Handle(g, rest.Op{ID: "changeThing", Method: http.MethodPatch, Path: "/things/{thingID}", Summary: "Change", SignedIn: true},
		func(_ context.Context, in *change) (thing, error) {
			switch {
			case in.Body.Name.Null:
				return thing{in.ID, "null"}, nil
			case !in.Body.Name.Sent:
				return thing{in.ID, "absent"}, nil
			}
			return thing{in.ID, in.Body.Name.Value}, nil
		})
	return g
}

func TestShapes(t *testing.T) {
	h, api := rest.Mount(&platform.Platform{}, things())
	t.Log(string(api.YAML()))
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/things", ""}, {"GET", "/things?page=0", ""}, {"GET", "/things?limit=1000&x=1", ""}, {"GET", "/things?sort_by=q", ""},
		{"POST", "/things", `{"name":"x"}`}, {"POST", "/things", `{"name":""}`}, {"POST", "/things", `{`}, {"POST", "/things", ``}, {"POST", "/things", `null`}, {"POST", "/things", `[]`},
		{"GET", "/things/t1", ""}, {"GET", "/things/t2", ""}, {"GET", "/things/panic", ""}, {"HEAD", "/things/t1", ""}, {"PATCH", "/things/t1", `{"name":null}`},
		{"PATCH", "/things/t1", `{}`}, {"PATCH", "/things/t1", `{"name":"y"}`}, {"PATCH", "/things/t1", `{"name":3}`}, {"PUT", "/things/t1", ""}, {"GET", "//x", ""},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r = r.WithContext(identity.With(r.Context(), identity.Caller{Org: "org_1", User: "usr_1", Grants: []identity.Grant{{Policies: []string{"*:*"}, Scope: "org"}}}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		t.Log(c.method, c.path, c.body, w.Code, w.Body)
	}
}
