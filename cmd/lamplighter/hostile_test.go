package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/resttest"
)

// attackedService is a service under attack, with what it lets out: its log from debug on, and every answer.
type attackedService struct {
	*testenv.Env
	clock *testenv.Ahead
	log   spill
}

func startAttacked(t *testing.T) *attackedService {
	t.Helper()
	s := &attackedService{clock: &testenv.Ahead{}}
	if now := s.clock.Now().UTC(); now.Hour() >= 20 {
		s.clock.Advance(5 * time.Hour) // what is asked twice is asked on one day
	}
	log := slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.Env = testenv.Start(t, testenv.Setup{Clock: s.clock, Log: log})
	return s
}

// spill keeps what is written to it.
type spill struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write keeps p.
func (s *spill) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *spill) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// caller asks the service in process, through gateway and authorizer, as often as a test needs: an organization has 100
// requests a minute, so the clock goes to the next minute in time, and the access token is signed anew.
type caller struct {
	*testenv.Client
	s         *attackedService
	claims    token.Claims
	asked     atomic.Int64
	mu        sync.Mutex // of the client's token, where several ask at once
	program   string     // a personal access token of the caller's
	asProgram bool       // ask with it instead of the session's token
}

func (s *attackedService) caller(t *testing.T, c *testenv.Client) *caller {
	t.Helper()
	claims, err := s.Platform.Tokens.Verify(t.Context(), c.Token)
	if err != nil {
		t.Fatal(err)
	}
	return &caller{Client: c, s: s, claims: claims}
}

// pace makes room for one more request.
func (c *caller) pace() {
	if c.asked.Add(1)%60 == 0 {
		c.s.clock.Advance(time.Minute)
	}
}

// credential returns the value of the Authorization header for the next request.
func (c *caller) credential(t testing.TB) string {
	t.Helper()
	c.pace()
	if c.asProgram {
		return "Bearer " + c.program
	}
	now := c.s.clock.Now()
	claims := c.claims
	claims.ID, claims.Issued, claims.Expires = id.New("jti", now), now, now.Add(token.TTL)
	token, err := c.s.Platform.Tokens.Sign(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Token = token
	return "Bearer " + token
}

// spare returns the caller in another session, which a log-out may end.
func (c *caller) spare(t testing.TB) *caller {
	t.Helper()
	at := identity.SessionKey(c.claims.Session)
	ctx := table.Within(t.Context(), identity.SessionPrefix)
	session, err := table.Read[identity.Session](ctx, c.s.Platform.Table, at)
	if err != nil {
		t.Fatal(err)
	}
	session.ID = id.New("spare", c.s.clock.Now())
	row, err := table.NewItem(identity.SessionKey(session.ID), session)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.s.Platform.Table.Write(ctx, table.Put(row)); err != nil {
		t.Fatal(err)
	}
	other := &caller{Client: c.Client, s: c.s, claims: c.claims}
	other.claims.Session = session.ID
	return other
}

// ask sends one request. Header is names and values in turn; the target need not be well-formed. Whatever comes back must
// be no failure of the service, and must be named.
func (c *caller) ask(t testing.TB, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", io.NopCloser(strings.NewReader(body)))
	r.Method, r.RequestURI, r.ContentLength = method, target, int64(len(body))
	u, err := url.ParseRequestURI(target)
	if err != nil {
		t.Fatalf("%s: no server would read it: %v", target, err)
	}
	r.URL = u
	c.sign(t, r)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	c.s.ServeHTTP(w, r)
	if w.Code >= http.StatusInternalServerError || w.Code == http.StatusTooManyRequests ||
		w.Header().Get("X-Request-Id") == "" {
		t.Errorf("%s %.200s %.200s\n answered %d %v %.300s", method, target, body, w.Code, w.Header(), w.Body)
	}
	return w
}

// TestFuzz sends every operation of the whole service what no client should, behind the real gateway and authorizer, as
// the owner of an organization that has something. No operation may only ever be refused, or the fuzzer would be blind.
func TestFuzz(t *testing.T) {
	t.Parallel()
	s := startAttacked(t)
	c := s.caller(t, s.NewOwner("fuzz@example.com"))
	e := c.settle(t, "fuzzed-1")
	refused, record, again := succeeds(t, s), newLedger(s), false
	var limited atomic.Int64
	var o resttest.Options
	before := s.written(t, c.Org)
	values := known(e)
	// the one thing that a path names by it; not where it may become the organization's
	values["name"] = []string{e["metric"]}
	o = resttest.Options{
		Requests: 100, Seed: 7, Known: values, Before: c.signed(t),
		Seen: func(id string, answer *httptest.ResponseRecorder) {
			record.saw(id, answer)
			if scarce[id] && answer.Code == http.StatusTooManyRequests {
				limited.Add(1)
			}
			if answer.Code/100 == 2 {
				delete(refused, id)
			}
		},
		Skip: func(id string) bool {
			if again && !refused[id] {
				return true
			}
			s.WaitSettled() // what runs would refuse the next operation
			if r, ok := restored(e)[id]; ok {
				record.saw(r.operation, c.ask(t, http.MethodPut, r.path, r.body))
			}
			if u, ok := unused(o.Seed)[id]; ok {
				made := c.ask(t, http.MethodPost, u.path, u.body)
				record.saw(u.operation, made)
				values[u.name] = append(values[u.name], regexp.MustCompile(u.id).FindString(made.Body.String()))
				s.WaitSettled()
			}
			return false
		},
	}
	if raced || testing.Short() {
		o.Requests = 12 // enough to find a race; too few to get through everywhere
	}
	began := time.Now()
	seen := resttest.FuzzOperations(t, s, functions.Describe(s.Platform).YAML(), o)
	// some take a hundred guesses, or two
	for again = true; o.Requests == 100 && len(refused) > 0 && len(refused) < 6 && o.Seed < 10; {
		o.Seed++
		for status, n := range resttest.FuzzOperations(t, s, functions.Describe(s.Platform).YAML(), o) {
			seen[status] += n
		}
	}
	t.Logf("%v in %s", seen, time.Since(began))
	if seen[http.StatusTooManyRequests] > int(limited.Load()) || seen[http.StatusUnauthorized] > sum(seen)/10 {
		t.Errorf("the door kept the fuzzer out: %v", seen)
	}
	record.agree(t, before, s.written(t, append(record.made, c.Org)...))
	if len(refused) > 0 && o.Requests == 100 {
		t.Errorf("these were only ever refused: %v", slices.Sorted(maps.Keys(refused)))
	}
}

// scarce are the public operations of which one address has few a minute.
var scarce = map[string]bool{
	"wake": true, "getWakePage": true, "receiveGitHub": true, "receiveGitLab": true, "receiveBuild": true,
	"unsubscribe": true, "getUnsubscribePage": true,
}

// restored returns the changes that bring something back into a state in which an operation can succeed, by the operation before
// which they are made: what the fuzzer changed at last may be a state in which it never does.
func restored(e sampleValues) map[string]struct{ operation, path, body string } {
	group, team := "/resource-groups/"+e["groupID"], "/teams/"+e["teamID"]
	return map[string]struct{ operation, path, body string }{
		// none that it can guess
		"deleteOrganisation": {"updateOrganisation", "/organisation", `{"name":"` + rand.Text() + `"}`},
		"addGroupResource":   {"updateResourceGroup", group, `{"selector":null,"members":[]}`},
		"removeGroupResource": {"updateResourceGroup", group,
			`{"selector":null,"members":[{"resourceID":"` + e["resourceID"] + `"}]}`},
		"removeTeamResource": {"updateTeam", team, `{"resources":["` + e["resourceID"] + `"]}`},
	}
}

// unused returns records that nothing names, by the operation that deletes such records: those that the fuzzer knows are in use by then. Name is
// that of the parameter that takes the id of the record, and id what such an id looks like. Each round makes others.
func unused(round uint64) map[string]struct{ operation, path, body, name, id string } {
	number := fmt.Sprintf("9000000000%02d", round)
	return map[string]struct{ operation, path, body, name, id string }{
		"deleteResourceGroup": {"createResourceGroup", "/resource-groups", `{"name":"Unused ` + number + `"}`,
			"groupID", `grp_\w+`},
		"deleteCloudAccount": {
			"connectCloudAccount", "/cloud-accounts",
			`{"provider":"simulated","authMethod":"simulated","cloudAccountID":"` + number + `","name":"Unused ` +
				number + `",` +
				`"permissionLevel":"read_only","credentials":{"size":"0"}}`, "accountID", `ca_\w+`,
		},
	}
}

func sum(seen map[int]int) int {
	n := 0
	for v := range maps.Values(seen) {
		n += v
	}
	return n
}

// succeeds returns the operations that a fuzzer who has orgValues gets through: all but those that want a code, a password,
// a token or an identity provider of this minute.
func succeeds(t *testing.T, s *attackedService) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, ops := range local.Operations(s.Platform) {
		for i := range ops {
			out[ops[i].ID] = true
		}
	}
	for _, id := range []string{
		"logIn", "refresh", "validateCode", "resetPassword", "cancelAction", "cancelBulkAction", "listClusters",
		"registerCluster", "deregisterCluster",
		"beginSignIn", "finishSignIn", "initiateSAML", "completeSAML", "getSAMLSettings", "setSAMLSettings",
		"deleteSAMLSettings",
		"exchangeGoogleCode", "finalizeGoogleConnection", // a code of this minute
		// of whose optional members some have to be there, and agree
		"connectCloudAccount", "connectCloudOrganisation", "createCalendar",
		// whose configuration depends on its kind
		"createIntegration",
		// whose scope, or address, depends on the type
		"createSubscription", "upsertSubscriptions", "createLegacyNotification",
		"createAutoscalerPolicy", "updateAutoscalerPolicy", "createEventPlan", // whose sizes, or times, have to agree
		"updateEventPlan", "previewEventCost", "previewReadiness", // as above
		// of one that has failed, or is over; of databases alone
		"retryEventPlan", "resetEventPlan", "calculateDatabaseClass",
		"applyAutoscalerPolicy", "resumeAutoscalerPolicy", // of one that is paused, or may be applied
		"redeliverWebhook", "shareRecommendation", // of a delivery that has ended; nobody has one yet
		"getUnsubscribePage", "unsubscribe", "reportEventPlanStatus", // by a signed link; by the executor alone
		"receiveGitHub", "receiveGitLab", "receiveBuild", // whose requests are signed; of which nobody has any yet
		"deleteOverride", "wake", // of one that has ended; of which one address has few
		"deleteCalendar",                          // of one that the schedules use which were made before
		"deleteTeam",                              // of one that a budget is for
		"leaveOrganisation", "deleteOrganisation", // of the one owner, by a name that nobody guesses
		"deleteAssignment", "removeTeamMember", // of a user who was removed before
	} {
		if !out[id] {
			t.Errorf("there is no operation %s any more", id)
		}
		delete(out, id)
	}
	return out
}

// known returns the values of orgValues as the fuzzer wants them.
func known(e sampleValues) map[string][]string {
	out := map[string][]string{}
	for name, v := range e {
		out[name] = []string{v}
	}
	out["policyID"] = []string{e["policyID"], e["autoscalerPolicyID"]}
	out["jobID"] = []string{e["jobID"], e["refresh"], e["upload"], e["export"]}
	out["provider"] = []string{"simulated"}
	out["policies"] = []string{"resources:read", "actions:execute"}
	out["email"] = []string{e["email"], "newcomer@example.com"}
	out["authMethod"] = []string{"simulated"}
	out["preset"] = []string{"night"}
	out["resourceType"] = []string{"aws-ec2"}
	out["password"] = []string{testenv.Password}
	out["expiresAt"] = []string{clock.System{}.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339)}
	out["timezone"], out["cronExpression"], out["token"] = []string{"UTC"}, []string{"0 20 * * 1-5"},
		[]string{e["wakeToken"]}
	delete(out, "tenantID")
	return out
}

// signed puts the caller's credential into each request of a fuzzer.
func (c *caller) signed(t *testing.T) func(*http.Request) *http.Request {
	t.Helper()
	return func(r *http.Request) *http.Request {
		c.sign(t, r)
		return r
	}
}

// sign puts the caller's credential into r. A log-out ends a session of its own.
func (c *caller) sign(t testing.TB, r *http.Request) {
	t.Helper()
	who := c
	if r.URL.Path == "/auth/logout" && !c.asProgram {
		who = c.spare(t)
		c.pace()
	}
	r.Header.Set("Authorization", who.credential(t))
}
