package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/tabletest"
)

// recordedRows returns the rows of a chain, oldest first, without the parts that differ between runs. The chain must be
// valid.
func recordedRows(t *testing.T, p *platform.Platform, at audit.Place) []audit.Row {
	t.Helper()
	s := p.Table
	if _, err := audit.New(p).Link(t.Context(), at, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	ctx := table.Within(t.Context(), "")
	v, err := audit.VerifyChain(ctx, s, at, nil, func(int64) bool { return false })
	if err != nil || !v.Holds {
		t.Fatalf("%s: %+v %v", at.PK, v, err)
	}
	page, err := s.Query(ctx, table.Query{PK: at.PK, From: "0", To: ":", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := table.DecodeAll[audit.Row](page.Items)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i].ID, rows[i].Hash, rows[i].PreviousHash = "", "", ""
		if !id.IsValid("req", rows[i].RequestID) {
			t.Errorf("the row's request id is %q", rows[i].RequestID)
		}
		rows[i].RequestID = ""
	}
	return rows
}

// everybodys returns the rows of the organization and of the installation.
func everybodys(t *testing.T, p *platform.Platform) []audit.Row {
	t.Helper()
	rows := recordedRows(t, p, audit.PlaceOf("org_1"))
	for _, at := range audit.SystemPlaces() {
		rows = append(rows, recordedRows(t, p, at)...)
	}
	return rows
}

func TestEachChangeAndEachRefusedOneLeavesOneRow(t *testing.T) {
	reader, homeless, nobody := anna, anna, identity.Caller{}
	reader.Grants = []grant.Grant{{Policies: []string{"resources:read"}, Scope: grant.OrgScope}}
	homeless.Org = ""
	key := "Idempotency-Key: k"
	for name, c := range map[string]struct {
		caller identity.Caller
		line   string
		bodies []string // sent one after the other
		header string
		want   string // operation and status of each row
	}{
		"a change": {anna, "POST /things", []string{lamp}, "", "createThing 200"},
		"two changes": {
			anna, "POST /things",
			[]string{lamp, lamp},
			"",
			"createThing 200, createThing 200",
		},
		"refused for want of a policy": {reader, "POST /things", []string{lamp}, "", "createThing 403"},
		"refused for want of an org":   {homeless, "POST /things", []string{lamp}, "", "createThing 403"},
		"refused for want of a caller": {nobody, "POST /things", []string{lamp}, "", "createThing 401"},
		"not well-formed":              {anna, "POST /things", []string{"{"}, "", "createThing 400"},
		"not valid":                    {anna, "POST /things", []string{`{"name":""}`}, "", "createThing 400"},
		"too large": {
			anna, "POST /things",
			[]string{`{"name":"` + strings.Repeat("x", rest.MaxBody) + `"}`},
			"", "createThing 413",
		},
		"with a query that is no text": {anna, "POST /things?a=%ff", []string{lamp}, "", "createThing 400"},
		"refused by the handler":       {anna, "POST /things", []string{`{"name":"taken"}`}, "", "createThing 409"},
		"failed":                       {anna, "POST /things", []string{`{"name":"broken"}`}, "", "createThing 500"},
		"panicked":                     {anna, "POST /things", []string{`{"name":"panic"}`}, "", "createThing 500"},
		"outside of the fence":         {anna, "POST /things", []string{`{"name":"stored"}`}, "", "createThing 500"},
		"of nobody": {
			nobody, "POST /auth/login",
			[]string{`{"password":"open sesame"}`, `{"password":"guess"}`},
			"", "login 200, login 401",
		},
		"in another shape": {
			nobody, "POST /oauth/token",
			[]string{`{"grant_type":"code"}`, `{"grant_type":"x"}`},
			"", "token 400, token 403",
		},
		"a replay leaves none": {anna, "POST /things", []string{lamp, lamp}, key, "createThing 200"},
		"another body under a used key": {
			anna, "POST /things",
			[]string{lamp, `{"name":"x"}`},
			key,
			"createThing 200, createThing 409",
		},
		"a key that is none": {
			anna, "POST /things",
			[]string{lamp},
			"Idempotency-Key: ",
			"createThing 400",
		},
		"a failure under a key": {
			anna, "POST /things",
			[]string{`{"name":"broken"}`, lamp},
			key,
			"createThing 500, createThing 200",
		},
		"a reading leaves none": {anna, "GET /things/t1", []string{""}, "", ""},
		"a refused reading leaves none": {
			identity.Caller{Org: "org_1", User: "usr_x"},
			"GET /things/t1",
			[]string{""},
			"", "",
		},
		"a HEAD leaves none":             {anna, "HEAD /things/t1", []string{""}, "", ""},
		"a path of nobody leaves none":   {anna, "POST /nothing", []string{lamp}, "", ""},
		"a method of nobody leaves none": {anna, "DELETE /things", []string{lamp}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := openReply(t)
			for _, body := range c.bodies {
				headers := []string{}
				if c.header != "" {
					headers = append(headers, c.header)
				}
				s.sendRequest(c.caller, c.line, body, headers...)
			}
			var got []string
			for _, r := range everybodys(t, s.p) {
				got = append(got, fmt.Sprint(r.Action, " ", r.Status))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// newKeptService returns a service whose handlers add notes to the record.
func newKeptService(t *testing.T, p *platform.Platform) http.Handler {
	t.Helper()
	g := rest.NewGroup("Budgets")
	type budgetName struct {
		Name string `json:"name"`
	}
	type named struct {
		ID   string `path:"budgetID"`
		Body budgetName
	}
	rest.Handle(g, rest.Op{
		ID: "updateBudget", Method: http.MethodPut, Path: "/budgets/{budgetID}",
		Policy: "budgets:write",
	},
		func(ctx context.Context, in *named) (Thing, error) {
			audit.NoteChange(ctx, audit.Change{Before: map[string]any{"name": "old", "clientSecret": "s3cr3t"}})
			if in.Body.Name == "taken" {
				return Thing{}, fault.New(fault.Conflict, "taken")
			}
			return Thing{ID: in.ID, Name: in.Body.Name}, nil
		})
	rest.Handle(g, rest.Op{
		ID: "deleteBudget", Method: http.MethodDelete, Path: "/budgets/{budgetID}",
		Policy: "budgets:write",
	},
		func(ctx context.Context, in *one2) (Thing, error) {
			audit.NoteChange(ctx, audit.Change{Target: "the budget " + in.ID, Before: Thing{ID: in.ID, Name: "old"}})
			return Thing{ID: in.ID}, nil
		})
	rest.Handle(g, rest.Op{
		ID: "searchBudgets", Method: http.MethodPost, Path: "/budgets/search",
		Policy: "budgets:read", Reads: true,
	},
		func(context.Context, *struct{}) ([]Thing, error) { return nil, nil })
	rest.Handle(g, rest.Op{ID: "redeem", Method: http.MethodPost, Path: "/redeem/{inviteToken}/{part}", Public: true},
		func(ctx context.Context, _ *struct {
			Token string `path:"inviteToken"`
			Part  string `path:"part"`
		},
		) (Session, error) {
			audit.NoteActor(ctx, "org_1", "usr_bob", "bob@example.com")
			return Session{"token-of-great-worth"}, nil
		})
	rest.Handle(g, rest.Op{ID: "arrive", Method: http.MethodGet, Path: "/arrive", Public: true, Writes: true},
		func(ctx context.Context, _ *struct{}) (Session, error) {
			audit.NoteActor(ctx, "org_1", "usr_bob", "bob@example.com")
			return Session{"token-of-great-worth"}, nil
		})
	h, _ := rest.Mount(p, g)
	return h
}

type one2 struct {
	ID string `path:"budgetID"`
}

func TestWhatARowSays(t *testing.T) {
	c := clock.NewManual(noon)
	p := &platform.Platform{Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c}
	h := newKeptService(t, p)
	caller := anna
	caller.Email, caller.Method = "anna@example.com", "pat"
	for _, line := range []string{
		`PUT /budgets/bud_1?password=x {"name":"new"}`, `PUT /budgets/bud_1 {"name":"taken"}`, `DELETE /budgets/a%2Fb`,
		`DELETE /budgets/bud_2 `,
		`POST /budgets/search {}`, `POST /redeem/tok-en/lampr_01k0.1.abcdefgh {}`, `GET /arrive `,
	} {
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.RemoteAddr = "192.0.2.7:4711"
		r.Header.Set("X-Forwarded-For", "203.0.113.9") // check 54
		r.Header.Set("X-Request-Id", "request-0001")
		h.ServeHTTP(httptest.NewRecorder(), withCaller(r, caller))
	}
	got, err := json.MarshalIndent(everybodys(t, p), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "audit.json", append(got, '\n'))
}

// An acknowledged request is recorded: if the row cannot be stored, the answer is a failure, and the log contains the
// row.
func TestNothingIsAcknowledgedThatIsNotOnRecord(t *testing.T) {
	s := openReply(t)
	f := table.NewFaultyStore(s.store, s.clock, table.Injection{Harm: table.FailBefore, Method: table.TransactMethod})
	p := s.p.Clone()
	p.Table = table.Fenced(f)
	s.h, _ = rest.Mount(p, s.things(), sessions())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := httptest.NewRequest(http.MethodPost, "/auth/login",
		strings.NewReader(`{"password":"open sesame"}`)).WithContext(ctx)
	r.Header.Set("Idempotency-Key", "k")
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, withCaller(r, identity.Caller{}))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "worth") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	log := s.log.String()
	if !strings.Contains(log, "audit row not written") || !strings.Contains(log, `\"action\":\"login\"`) ||
		strings.Contains(log, "worth") || strings.Contains(log, "sesame") {
		t.Errorf("the log says %s", log)
	}
	f.RemoveFaults()
	r = httptest.NewRequest(http.MethodPost, "/auth/login", strings.NewReader(`{"password":"open sesame"}`))
	r.Header.Set("Idempotency-Key", "k")
	w = httptest.NewRecorder()
	s.h.ServeHTTP(w, withCaller(r, identity.Caller{}))
	if w.Code != http.StatusOK || w.Header().Get("Idempotency-Replayed") != "" {
		t.Errorf("once the store is back: %d %s", w.Code, w.Body)
	}
}

func TestARequestOutsideOfARequestNotesNothing(t *testing.T) {
	audit.NoteChange(t.Context(), audit.Change{Target: "x", Before: func() {}})
	audit.NoteActor(t.Context(), "org_1", "usr_1", "a@example.com")
}

// BenchmarkChange measures a POST that only stores its row; BenchmarkReading measures one without a row.
func BenchmarkChange(b *testing.B)  { benchmark(b, false) }
func BenchmarkReading(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, reads bool) {
	b.Helper()
	p := &platform.Platform{
		Table: table.Fenced(tabletest.New(b)), Clock: clock.System{},
		Log: slog.New(slog.DiscardHandler),
	}
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{
		ID: "doThing", Method: http.MethodPost, Path: "/things",
		Policy: "resources:write", Reads: reads,
	},
		func(context.Context, *struct{}) (Thing, error) { return Thing{ID: "t1", Name: "lamp"}, nil })
	h, _ := rest.Mount(p, g)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(),
			withCaller(httptest.NewRequest(http.MethodPost, "/things", http.NoBody), anna))
	}
}

// HEAD must not have the effect of a GET that changes something.
func TestHeadIsNoWayToChangeAnything(t *testing.T) {
	c := clock.NewManual(noon)
	p := &platform.Platform{Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c}
	h := newKeptService(t, p)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/arrive", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodGet {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if rows := everybodys(t, p); len(rows) != 0 {
		t.Errorf("on record: %v", rows)
	}
}
