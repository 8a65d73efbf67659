package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
)

const lamp = `{"name":"lamp"}`

func TestIdempotencyKey(t *testing.T) {
	bob, nobody, homeless, vouched := anna, identity.Caller{}, anna, anna
	bob.User = "usr_bob"
	homeless.Org = ""
	vouched.SSO = true
	for name, steps := range map[string][]struct {
		caller           identity.Caller
		line, body, key  string
		wait             time.Duration
		status, replayed int // replayed is the number of the step, from 1, whose answer this is again
	}{
		"the same request gets the first answer again": {
			{anna, "POST /things", lamp, "k", 0, 200, 0}, {anna, "POST /things", lamp, "k", 0, 200, 1},
		},
		"for 24 hours": {
			{anna, "POST /things", lamp, "k", 0, 200, 0},
			{anna, "POST /things", lamp, "k", 24*time.Hour - time.Second, 200, 1},
			{anna, "POST /things", lamp, "k", time.Minute, 200, 0},
		},
		"another body is refused": {
			{anna, "POST /things", lamp, "k", 0, 200, 0}, {anna, "POST /things", `{"name":"x"}`, "k", 0, 409, 0},
		},
		"another query is another request": {
			{anna, "POST /things", lamp, "k", 0, 200, 0}, {anna, "POST /things?a=1", lamp, "k", 0, 409, 0},
		},
		"another caller has keys of their own": {
			{anna, "POST /things", lamp, "k", 0, 200, 0}, {bob, "POST /things", lamp, "k", 0, 200, 0},
		},
		"who the organization's identity provider vouches for is not told what the user was": {
			{anna, "POST /things", lamp, "k", 0, 200, 0},
			{vouched, "POST /things", lamp, "k", 0, 200, 0},
			{vouched, "POST /things", lamp, "k", 0, 200, 2},
		},
		"another path has keys of its own": {
			{nobody, "POST /auth/login", `{"password":"open sesame"}`, "k", 0, 200, 0},
			{nobody, "POST /oauth/token", `{"grant_type":"code"}`, "k", 0, 400, 0},
		},
		"a public operation replays too": {
			{nobody, "POST /auth/login", `{"password":"open sesame"}`, "k", 0, 200, 0},
			{nobody, "POST /auth/login", `{"password":"open sesame"}`, "k", 0, 200, 1},
		},
		"a refusal that is the client's fault is an answer": {
			{anna, "POST /things", `{"name":"taken"}`, "k", 0, 409, 0},
			{anna, "POST /things", `{"name":"taken"}`, "k", 0, 409, 1},
		},
		"a failure of ours frees the key": {
			{anna, "POST /things", `{"name":"broken"}`, "k", 0, 500, 0}, {anna, "POST /things", lamp, "k", 0, 200, 0},
		},
		"a panic frees the key": {
			{anna, "POST /things", `{"name":"panic"}`, "k", 0, 500, 0}, {anna, "POST /things", lamp, "k", 0, 200, 0},
		},
		"a wrong password frees the key": {
			{nobody, "POST /auth/login", `{"password":"guess"}`, "k", 0, 401, 0},
			{nobody, "POST /auth/login", `{"password":"open sesame"}`, "k", 0, 200, 0},
		},
		"a caller of no organization may not, and is told so": {
			{homeless, "POST /things", lamp, "k", 0, 403, 0},
		},
		"only POST has keys": {
			{anna, "PATCH /things/t1", `{"name":"a"}`, "k", 0, 200, 0},
			{anna, "PATCH /things/t1", `{"name":"b"}`, "k", 0, 200, 0},
		},
		"255 characters are a key":         {{anna, "POST /things", lamp, strings.Repeat("k", 255), 0, 200, 0}},
		"256 characters are none":          {{anna, "POST /things", lamp, strings.Repeat("k", 256), 0, 400, 0}},
		"no character is none":             {{anna, "POST /things", lamp, "", 0, 400, 0}},
		"a control character is in no key": {{anna, "POST /things", lamp, "a\tb", 0, 400, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openReply(t)
			var bodies []string
			for i, st := range steps {
				s.clock.Advance(st.wait)
				w := s.sendRequest(st.caller, st.line, st.body, "Idempotency-Key: "+st.key)
				bodies = append(bodies, w.Body.String())
				again := w.Header().Get("Idempotency-Replayed") == "true"
				if w.Code != st.status || again != (st.replayed > 0) {
					t.Errorf("step %d: %d, replayed %v: %s", i+1, w.Code, again, w.Body)
				}
				if st.replayed > 0 && bodies[i] != bodies[st.replayed-1] {
					t.Errorf("step %d answered %s, step %d %s", i+1, bodies[i], st.replayed, bodies[st.replayed-1])
				}
			}
		})
	}
}

// TestKeyWhileTheFirstRuns requires 409 while a request runs, and that a crash releases the key.
func TestKeyWhileTheFirstRuns(t *testing.T) {
	s := openReply(t)
	s.enter, s.leave = make(chan struct{}), make(chan struct{})
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- s.sendRequest(anna, "POST /things", `{"name":"slow"}`, "Idempotency-Key: k") }()
	<-s.enter
	if w := s.sendRequest(anna, "POST /things", `{"name":"slow"}`,
		"Idempotency-Key: k"); w.Code != http.StatusConflict {
		t.Errorf("a duplicate while the first runs: %d %s", w.Code, w.Body)
	}
	s.clock.Advance(2 * time.Minute) // as if the first had crashed: its claim expires
	second := make(chan *httptest.ResponseRecorder)
	go func() { second <- s.sendRequest(anna, "POST /things", `{"name":"slow"}`, "Idempotency-Key: k") }()
	<-s.enter
	close(s.leave)
	a, b := <-first, <-second
	if a.Code != http.StatusOK || b.Code != http.StatusOK || s.hits.Load() != 2 {
		t.Errorf("after the claim ended: %d %d, %d runs", a.Code, b.Code, s.hits.Load())
	}
	w := s.sendRequest(anna, "POST /things", `{"name":"slow"}`, "Idempotency-Key: k")
	if w.Code != http.StatusOK || w.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
}

// TestKeptAnswersAreSecret reads the store as an attacker would.
func TestKeptAnswersAreSecret(t *testing.T) {
	s := openReply(t)
	s.sendRequest(identity.Caller{}, "POST /auth/login", `{"password":"open sesame"}`, "Idempotency-Key: my-key")
	s.sendRequest(anna, "POST /things", lamp, "Idempotency-Key: my-key")
	ctx := table.Within(t.Context(), "")
	page, err := s.store.Query(ctx, table.Query{PK: table.OrgPK("org_1") + "IDEM", Limit: 10})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%d rows, %v", len(page.Items), err)
	}
	row := string(page.Items[0].Data) + page.Items[0].PK + page.Items[0].SK
	for _, secret := range []string{"lamp", "thing-", "my-key", "usr_anna"} {
		if strings.Contains(row, secret) {
			t.Errorf("the row holds %q: %s", secret, row)
		}
	}
}

// TestRoundTrips counts the calls of the store for a request without those of its handler: one for the audit row of a
// change, and two for an Idempotency-Key.
func TestRoundTrips(t *testing.T) {
	for name, c := range map[string]struct {
		line, body string
		headers    []string
		trips      int
	}{
		"a GET costs nothing":                  {"GET /things", "", nil, 0},
		"a POST costs its row":                 {"POST /things", lamp, nil, 1},
		"a POST with a key costs two more":     {"POST /things", lamp, []string{"Idempotency-Key: k"}, 3},
		"a key on another method, nothing":     {"PATCH /things/t1", `{}`, []string{"Idempotency-Key: k"}, 1},
		"a body that is refused costs its row": {"POST /things", `{`, []string{"Idempotency-Key: k"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := openReply(t)
			ctx, meter := table.WithMeter(t.Context())
			r := httptest.NewRequest(strings.Fields(c.line)[0], strings.Fields(c.line)[1],
				strings.NewReader(c.body)).WithContext(ctx)
			for _, h := range c.headers {
				name, v, _ := strings.Cut(h, ": ")
				r.Header.Set(name, v)
			}
			s.h.ServeHTTP(httptest.NewRecorder(), withCaller(r, anna))
			if got := meter.Usage().RoundTrips; got != c.trips {
				t.Errorf("%d round trips, want %d", got, c.trips)
			}
		})
	}
}
