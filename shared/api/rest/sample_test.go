package rest_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// noon is the time of the tests.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// sampleService is a mounted sample service with its dependencies.
type sampleService struct {
	p     *platform.Platform
	clock *clock.Manual
	store *tabletest.Store
	log   bytes.Buffer
	h     http.Handler
	api   *rest.API
	hits  atomic.Int64  // number of runs of createThing
	enter chan struct{} // a slow handler sends when it runs
	leave chan struct{} // and waits until it may continue
}

func openReply(tb testing.TB) *sampleService {
	tb.Helper()
	s := &sampleService{clock: clock.NewManual(noon)}
	s.store = tabletest.NewAt(tb, s.clock)
	s.p = &platform.Platform{
		Table: table.Fenced(s.store), Clock: s.clock, Log: slog.New(slog.NewJSONHandler(&s.log, nil)),
		Settings: platform.Settings{Pepper: []byte("pepper")},
	}
	s.h, s.api = rest.Mount(s.p, s.things(), sessions(), oauth())
	return s
}

// Thing is the sample record.
type Thing struct {
	ID   string `json:"id"`
	Name string `json:"name" doc:"What people call it"`
}

// Spec is a nested part of a body.
type Spec struct {
	Size int    `json:"size,omitempty" minimum:"1" maximum:"9"`
	Zone string `json:"zone,omitempty" enum:"a,b"`
}

// NewThing is the body of createThing.
type NewThing struct {
	Name string            `json:"name" minLength:"1" maxLength:"20"`
	Kind string            `json:"kind,omitempty" enum:"red,blue"`
	Tags map[string]string `json:"tags,omitempty"`
	Spec *Spec             `json:"spec,omitempty"`
	Day  rest.Time         `json:"day,omitzero"`
}

type creation struct{ Body NewThing }

// ChangedThing is the body of changeThing.
type ChangedThing struct {
	Name rest.Patch[string] `json:"name,omitzero" minLength:"1"`
	Spec rest.Patch[Spec]   `json:"spec,omitzero"`
}

type change struct {
	ID   string `path:"thingID"`
	Body ChangedThing
}

// things can be sorted by name; by default they have their own order.
type things struct{}

var _ rest.Orders[Thing] = things{}

func (things) Orders() []rest.Order[Thing] {
	return []rest.Order[Thing]{{}, rest.OrderByText("name", func(t Thing) string { return t.Name })}
}

type listing struct {
	rest.Page
	rest.Sort[Thing, things]
	Search string `query:"search"`
}

type one struct {
	ID string `path:"thingID"`
}

func (s *sampleService) things() *rest.Group {
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{
		ID: "listThings", Method: http.MethodGet, Path: "/things", Summary: "List things", Policy: "resources:read",
	}, func(_ context.Context, in *listing) (rest.List[Thing], error) {
		return rest.PageOf[Thing](nil, in.Page), nil
	})
	rest.Handle(g, rest.Op{
		ID: "createThing", Method: http.MethodPost, Path: "/things", Summary: "Create a thing",
		Policy: "resources:write",
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "latestThing", Method: http.MethodGet, Path: "/things/latest", Summary: "The latest thing", SignedIn: true,
		Deprecated: true,
	}, func(context.Context, *struct{}) ([]Thing, error) { return nil, nil })
	rest.Handle(g, rest.Op{
		ID: "getThing", Method: http.MethodGet, Path: "/things/{thingID}", Summary: "Get a thing",
		Policy: "resources:read", Scoped: true,
		Statuses: []int{http.StatusNotFound},
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "changeThing", Method: http.MethodPatch, Path: "/things/{thingID}", Summary: "Change a thing",
		SignedIn: true,
	}, func(_ context.Context, in *change) (string, error) {
		switch n := in.Body.Name; {
		case n.Null:
			return "null", nil
		case !n.Sent:
			return "absent", nil
		default:
			return n.Value, nil
		}
	})
	return g
}

// create behaves as the name in its body demands.
func (s *sampleService) create(ctx context.Context, in *creation) (Thing, error) {
	s.hits.Add(1)
	switch in.Body.Name {
	case "broken":
		return Thing{}, fault.NewWithCause(fault.Internal, context.DeadlineExceeded, "secret detail")
	case "panic":
		panic("boom")
	case "taken":
		return Thing{}, fault.New(fault.Conflict, "a thing named %s exists", in.Body.Name)
	case "slow":
		s.enter <- struct{}{}
		<-s.leave
	case "stored":
		_, err := s.p.Table.Write(ctx,
			table.Put(table.Item{Key: table.Key{PK: "ORG#org_other#X", SK: "1"}, Data: []byte(`{}`)}))
		return Thing{}, err
	}
	return Thing{ID: "thing-" + in.Body.Name, Name: in.Body.Name}, nil
}

func (s *sampleService) get(_ context.Context, in *one) (Thing, error) {
	switch in.ID {
	case "t1":
		return Thing{ID: "t1", Name: "<lamp> & light"}, nil
	case "limited":
		return Thing{}, fault.New(fault.Limited, "too many codes were asked for")
	case "panic":
		panic("boom")
	}
	return Thing{}, fault.New(fault.NotFound, "thing %.64q was not found", in.ID)
}

// Session is an answer with a secret.
type Session struct {
	AccessToken string `json:"accessToken"`
}

// Password is the body of login.
type Password struct {
	Password string `json:"password" minLength:"4"`
}

// TokenRequest is the body of token.
type TokenRequest struct {
	Grant string `json:"grant_type" minLength:"1"`
}

func sessions() *rest.Group {
	g := rest.NewGroup("Authentication")
	rest.Handle(g, rest.Op{
		ID: "login", Method: http.MethodPost, Path: "/auth/login",
		Summary: "Log in", Public: true, Statuses: []int{http.StatusUnauthorized},
	},
		func(_ context.Context, in *struct{ Body Password }) (Session, error) {
			if in.Body.Password != "open sesame" {
				return Session{}, fault.New(fault.Unauthenticated, "the address or the password is wrong")
			}
			return Session{"token-of-great-worth"}, nil
		})
	rest.Handle(g, rest.Op{
		ID: "keys", Method: http.MethodGet, Path: "/.well-known/jwks.json",
		Summary: "Keys", Public: true, Produces: "application/json",
	},
		func(context.Context, *struct{}) (rest.Raw, error) {
			return rest.Raw{Header: http.Header{"Cache-Control": {"public, max-age=300"}}, Body: []byte(`{"keys":[]}`)},
				nil
		})
	rest.Handle(g, rest.Op{
		ID: "callback", Method: http.MethodGet, Path: "/callback",
		Summary: "Go on", Public: true, Status: http.StatusFound,
	},
		func(context.Context, *struct{}) (rest.Raw, error) {
			return rest.Raw{Header: http.Header{"Location": {"/docs"}}}, nil
		})
	return g
}

func oauth() *rest.Group {
	g := rest.NewGroup("OAuth")
	rest.Handle(g, rest.Op{
		ID: "token", Method: http.MethodPost, Path: "/oauth/token",
		Summary: "Token", Public: true, Statuses: []int{http.StatusForbidden},
	},
		func(_ context.Context, in *struct{ Body TokenRequest }) (Session, error) {
			if in.Body.Grant == "code" {
				return Session{},
					&rest.OAuthError{
						Status: http.StatusBadRequest, Code: "invalid_grant",
						Description: "the code was used",
					}
			}
			return Session{}, fault.New(fault.Denied, "no")
		})
	rest.Handle(g, rest.Op{
		ID: "authorize", Method: http.MethodGet, Path: "/oauth/authorize",
		Summary: "Authorize", Public: true,
	},
		func(_ context.Context, _ *struct {
			Client string `query:"client_id" required:"true"`
		},
		) (Session, error) {
			return Session{}, fault.New(fault.Invalid, "client_id is unknown")
		})
	return g
}

// anna holds all policies in org_1.
var anna = identity.Caller{
	Org: "org_1", User: "usr_anna", Grants: []grant.Grant{{Policies: []string{"*:*"}, Scope: grant.OrgScope}},
}

// withCaller sets the caller, like the authorizer.
func withCaller(r *http.Request, c identity.Caller) *http.Request {
	return r.WithContext(identity.WithCaller(r.Context(), c))
}

// sendRequest sends one request; headers are "Name: value".
func (s *sampleService) sendRequest(c identity.Caller, line, body string,
	headers ...string,
) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	u, err := r.URL.Parse(path)
	if err != nil {
		panic(err)
	}
	if strings.HasPrefix(path, "//") {
		u.Host, u.Path = "", path
	}
	r.URL = u
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		r.Header.Add(name, v)
	}
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, withCaller(r, c))
	return w
}

// compareGolden compares got with a file under testdata, or writes it.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it anew. Got:\n%s", name, got)
	}
}
