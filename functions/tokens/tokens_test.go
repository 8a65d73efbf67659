package tokens

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ada = "usr_01k8z3v5y0e6m9x2q4t7r1c8ba"
	eve = "usr_01k8z3v5y0e6m9x2q4t7r1c8be"
)

func (d *fixture) get(k table.Key) (table.Item, bool) {
	d.Helper()
	found := apitest.Value(d.Table.BatchGet(table.Within(context.Background(), k.PK), k))(d)
	it, ok := found[k]
	return it, ok
}

// fixture is two users with a session each.
type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{apitest.New(t, Operations)}
	for _, u := range []string{ada, eve} {
		d.Put(identity.UserKey(u), identity.User{ID: u, Email: u + "@example.com", Verified: true})
		d.Put(identity.SessionKey("s-"+u), identity.Session{ID: "s-" + u, User: u, State: identity.SessionLive})
	}
	return d
}

// callerIn returns the caller in a session.
func callerIn(user string) identity.Caller {
	return identity.Caller{User: user, Method: identity.MethodToken, Session: "s-" + user}
}

// callerBy returns the caller with a personal access token.
func callerBy(user string) identity.Caller {
	return identity.Caller{User: user, Method: identity.MethodPAT}
}

// call makes a request; line is its method and the rest of the path after that of the list.
func (d *fixture) call(c identity.Caller, line, body string) apitest.Answer {
	d.Helper()
	method, path, _ := strings.Cut(line, " ")
	return d.Call(c, method+" /personal-access-tokens"+path, body)
}

func (d *fixture) newToken(user, name string, days int) Created {
	d.Helper()
	return apitest.Data[Created](d.call(callerIn(user), "POST ",
		fmt.Sprintf(`{"name":%q,"expiresInDays":%d}`, name, days)))
}

func (d *fixture) tokenNames(user string) []string {
	d.Helper()
	var out []string
	for _, t := range apitest.Data[[]Token](d.call(callerBy(user), "GET ", "")) {
		out = append(out, t.Name)
	}
	return out
}

func TestATokenIsShownOnce(t *testing.T) {
	d := newFixture(t)
	made := apitest.Data[Created](d.call(callerIn(ada), "POST ",
		`{"name":" nightly  ","user":"usr_eve","id":"pat_mine","expires":"2099-01-01"}`))
	if !id.IsValid("pat", made.ID) || made.Name != "nightly" || made.Last4 != made.Secret[len(made.Secret)-4:] ||
		made.LastUsedAt != nil ||
		!made.CreatedAt.Equal(apitest.Start) || !made.ExpiresAt.Equal(apitest.Start.AddDate(0, 0, 90)) {
		t.Errorf("made %+v", made)
	}
	hash := apitest.Value(identity.ParsePAT(made.Secret))(d)
	row, ok := d.get(identity.PATKey(hash))
	if !ok || strings.Contains(string(row.Data), made.Secret) || !row.Expires.Equal(made.ExpiresAt) {
		t.Errorf("stored %s until %s", row.Data, row.Expires)
	}
	a := d.call(callerIn(ada), "GET ", "")
	if strings.Contains(a.Body, made.Secret) || !strings.Contains(a.Body, `"lastUsedAt":null`) ||
		strings.Contains(a.Body, "token") {
		t.Errorf("listed %s", a.Body)
	}
	d.Change(identity.PATKey(hash), table.Set("used", apitest.Start.Add(time.Hour).Unix()))
	if got := apitest.Data[[]Token](d.call(callerBy(ada), "GET ", "")); len(got) != 1 || got[0].LastUsedAt == nil ||
		!got[0].LastUsedAt.Equal(apitest.Start.Add(time.Hour)) {
		t.Errorf("listed %+v", got)
	}
	if got := d.tokenNames(eve); len(got) != 0 {
		t.Errorf("somebody else sees %v", got)
	}
}

func TestWhatATokenCanBeAskedFor(t *testing.T) {
	d := newFixture(t)
	for _, c := range []struct {
		name, body string
		status     int
	}{
		{"a name", `{"name":"a"}`, 200},
		{"the same name", `{"name":"a"}`, 409},
		{"the same name in other case", `{"name":" A "}`, 409},
		{"one day", `{"name":"b","expiresInDays":1}`, 200},
		{"a year", `{"name":"c","expiresInDays":365}`, 200},
		{"no day", `{"name":"d","expiresInDays":0}`, 400},
		{"more than a year", `{"name":"d","expiresInDays":366}`, 400},
		{"half a day", `{"name":"d","expiresInDays":0.5}`, 400},
		{"no name", `{}`, 400},
		{"a blank name", `{"name":" "}`, 400},
		{"a name of two lines", `{"name":"a\nb"}`, 400},
		{"a name that is too long", `{"name":"` + strings.Repeat("x", 101) + `"}`, 400},
	} {
		if a := d.call(callerIn(ada), "POST ", c.body); a.Status != c.status {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Body)
		}
	}
	d.call(callerIn(eve), "POST ", `{"name":"a"}`).Want(http.StatusOK) // the name of somebody else's token
}

// check 12: a token cannot make or revoke tokens, and can be listed by one.
func TestATokenMakesNoToken(t *testing.T) {
	d := newFixture(t)
	made := d.newToken(ada, "first", 90)
	for _, line := range []string{"POST ", "DELETE /" + made.ID} {
		body := `{"name":"second"}`
		if a := d.call(callerBy(ada), line, body); a.Status != http.StatusForbidden ||
			!strings.Contains(a.Body, `{"error":{"message":`) {
			t.Errorf("%s: %d %s", line, a.Status, a.Body)
		}
		if a := d.call(identity.Caller{}, line, body); a.Status != http.StatusUnauthorized {
			t.Errorf("%s of nobody: %d", line, a.Status)
		}
	}
	if got := d.tokenNames(ada); !slices.Equal(got, []string{"first"}) {
		t.Errorf("listed %v", got)
	}
}

func TestRevokingATokenLeavesNothing(t *testing.T) {
	d := newFixture(t)
	made := d.newToken(ada, "first", 90)
	hash := apitest.Value(identity.ParsePAT(made.Secret))(d)
	for name, c := range map[string]struct {
		who  string
		path string
	}{
		"of somebody else":     {eve, made.ID},
		"that nobody has":      {ada, "pat_01k8z3v5y0e6m9x2q4t7r1c8bd"},
		"that cannot be one":   {ada, "nonsense"},
		"that is another kind": {ada, ada},
		"spelled otherwise":    {ada, strings.ToUpper(made.ID)},
	} {
		a := d.call(callerIn(c.who), "DELETE /"+c.path, "")
		if a.Status != http.StatusNotFound ||
			!strings.Contains(a.Body, fmt.Sprintf("no personal access token %q", c.path)[:24]) {
			t.Errorf("one %s: %d %s", name, a.Status, a.Body)
		}
	}
	if got := apitest.Data[rest.Deleted](d.call(callerIn(ada), "DELETE /"+made.ID, "")); got.ID != made.ID {
		t.Errorf("revoked %+v", got)
	}
	d.call(callerIn(ada), "DELETE /"+made.ID, "").Want(http.StatusNotFound) // again
	for _, k := range []table.Key{
		identity.PATKey(hash), identity.PATListKey(ada, made.ID), identity.PATDueKey("2026-06-01", made.ID),
	} {
		if it, ok := d.get(k); ok {
			t.Errorf("left %+v", it)
		}
	}
	d.newToken(ada, "first", 90) // the name is free again
}

// A token that is made has the row that announces its end, if it lives long enough for that.
func TestTheEndOfATokenWillBeAnnounced(t *testing.T) {
	d := newFixture(t)
	for days, due := range map[int]string{8: "2026-03-11", 90: "2026-06-01", 7: "2026-03-10"} {
		made := d.newToken(ada, strconv.Itoa(days), days)
		it, ok := d.get(identity.PATDueKey(due, made.ID))
		if ok != (days >= 8) || ok && !it.Expires.Equal(made.ExpiresAt) {
			t.Errorf("%d days: %v %+v", days, ok, it)
		}
	}
}

func TestFiftyTokensAreTheMost(t *testing.T) {
	d := newFixture(t)
	var wg sync.WaitGroup
	for i := range mostTokens + 10 {
		wg.Go(func() {
			for range 10 { // who is told to come one after another comes again
				a := d.call(callerIn(ada), "POST ", fmt.Sprintf(`{"name":"t%d","expiresInDays":1}`, i))
				if a.Status == http.StatusOK || !strings.Contains(a.Body, "at once") {
					return
				}
			}
		})
	}
	wg.Wait()
	if got := d.tokenNames(ada); len(got) != mostTokens {
		t.Fatalf("%d tokens", len(got))
	}
	a := d.call(callerIn(ada), "POST ", `{"name":"one more"}`)
	if a.Status != http.StatusConflict || !strings.Contains(a.Body, "revoke one") {
		t.Errorf("one more: %d %s", a.Status, a.Body)
	}
	d.newToken(eve, "of somebody else", 1)
	d.Clock.Advance(24 * time.Hour)
	d.newToken(ada, "when they have ended", 1)
	if got := d.tokenNames(ada); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

func TestTwoOfOneNameAtOnceAreOne(t *testing.T) {
	d := newFixture(t)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { d.call(callerIn(ada), "POST ", `{"name":"same"}`) })
	}
	wg.Wait()
	if got := d.tokenNames(ada); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

// A reset of the password, like everything that ends all sessions, ends the tokens. Their rows are deleted when the
// next token is created.
func TestAResetEndsTheTokens(t *testing.T) {
	d := newFixture(t)
	old := d.newToken(ada, "old", 90)
	d.Change(identity.UserKey(ada), table.Add("epoch", 1))
	if got := d.tokenNames(ada); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
	d.Change(identity.SessionKey("s-"+ada), table.Add("epoch", 1)) // logged in anew
	d.newToken(ada, "old", 90)
	hash := apitest.Value(identity.ParsePAT(old.Secret))(d)
	for _, k := range []table.Key{
		identity.PATKey(hash), identity.PATListKey(ada, old.ID),
		identity.PATDueKey("2026-06-01", old.ID),
	} {
		if _, ok := d.get(k); ok {
			t.Errorf("%v is still there", k)
		}
	}
}

// A reset that comes between the look at the user and the write leaves no token behind, old or new.
func TestATokenIsNotMadeAcrossAReset(t *testing.T) {
	d := newFixture(t)
	s := service{d.Platform}
	ctx := table.Within(t.Context(), identity.UserPrefix, identity.SessionPrefix, identity.PATPrefix,
		identity.PATDuePrefix)
	stale, err := s.beginToken(ctx, callerIn(ada))
	d.Must(err)
	stale.Name, stale.Expires = "stale", stale.Created.AddDate(0, 0, 90)
	d.Change(identity.UserKey(ada), table.Add("epoch", 1))
	d.Change(identity.SessionKey("s-"+ada), table.Add("epoch", 1)) // logged in anew
	fresh := d.newToken(ada, "fresh", 90)
	if err = s.storeToken(ctx, stale, identity.NewPAT()); err == nil ||
		!strings.Contains(err.Error(), "session has ended") {
		t.Errorf("stored: %v", err)
	}
	if got := apitest.Data[[]Token](d.call(callerBy(ada), "GET ", "")); len(got) != 1 || got[0].ID != fresh.ID {
		t.Errorf("listed %+v", got)
	}
}

// A password reset between the authorizer's check and the read of the user ends the session, so it creates no token:
// otherwise a person who stole the session could keep access.
func TestAnEndedSessionMakesNoToken(t *testing.T) {
	d := newFixture(t)
	d.Change(identity.UserKey(ada), table.Add("epoch", 1))
	d.call(callerIn(ada), "POST ", `{"name":"evil"}`).Want(http.StatusUnauthorized)
	if got := d.tokenNames(ada); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
}

func TestATokenOfASingleSignOnSessionIsBoundToItsOrganization(t *testing.T) {
	d := newFixture(t)
	d.Change(identity.SessionKey("s-"+ada), table.Set("sso", "org_1"))
	made := d.newToken(ada, "bound", 90)
	hash := apitest.Value(identity.ParsePAT(made.Secret))(d)
	row, _ := d.get(identity.PATKey(hash))
	if got, err := table.Decode[identity.PAT](row); err != nil || got.SSO != "org_1" {
		t.Errorf("stored %+v, %v", got, err)
	}
}

func TestASecondCreationUnderOneKeyIsTheFirstWithoutItsSecret(t *testing.T) {
	d := newFixture(t)
	once := func() string {
		r := httptest.NewRequest(http.MethodPost, "/personal-access-tokens", strings.NewReader(`{"name":"a"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k1")
		return d.Serve(callerIn(ada), r).Body
	}
	type answer struct {
		Data struct{ ID, Token string }
	}
	var first, second answer
	d.Must(json.Unmarshal([]byte(once()), &first))
	d.Must(json.Unmarshal([]byte(once()), &second))
	if first.Data.ID != second.Data.ID || !strings.HasPrefix(first.Data.Token, "lampp_") || second.Data.Token != "" {
		t.Errorf("first %+v, then %+v; want the same record without its token", first, second)
	}
	if got := d.tokenNames(ada); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

func TestRoundTrips(t *testing.T) {
	d := newFixture(t)
	first := d.newToken(ada, "first", 90)
	for _, c := range []struct {
		line, body string
		most       int
	}{
		{"GET ", "", 2},
		{"POST ", `{"name":"second"}`, 4}, // one of them is the row of the audit log
		{"DELETE /" + first.ID, "", 3},
	} {
		d.call(callerIn(ada), c.line, c.body).Want(http.StatusOK).AtMost(c.most)
	}
}

// An organization that demands a second factor admits only tokens of sessions that had one.
func TestTokensRememberTheSecondFactorOfTheirSession(t *testing.T) {
	for name, proved := range map[string]int64{"without one": 0, "with one": 1_700_000_000} {
		d := newFixture(t)
		d.Change(identity.SessionKey("s-"+ada), table.Set("proved", proved))
		made := apitest.Data[Created](d.call(callerIn(ada), "POST", `{"name":"report"}`))
		hash := apitest.Value(identity.ParsePAT(made.Secret))(t)
		if got := apitest.Read[identity.PAT](d.Fixture, identity.PATKey(hash)); got.MFA != (proved > 0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestATokenNeedsAFreshSecondFactor(t *testing.T) {
	d := newFixture(t)
	c := callerIn(ada)
	c.SecondFactor = identity.StaleFactor
	d.call(c, "POST", `{"name":"report"}`).Want(403, "a second factor is needed", "POST /auth/refresh")
	c.SecondFactor = identity.FreshFactor
	d.call(c, "POST", `{"name":"report"}`).Want(200)
}
