package isolation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/resttest"
)

// side is one of the two organizations of a user, with the secrets that only it may know.
type side struct {
	*probe.Caller
	name, number string
	secrets      map[string]bool // ids and names that the other one must not read
	done         map[string]bool // mutating operations that succeeded
}

// newSide makes an organization of the user with one of everything.
func newSide(t *testing.T, s *probe.Service, owner *testenv.Client, name, number string) *side {
	t.Helper()
	var org struct{ ID string }
	owner.Call(http.MethodPost, "/organisations", map[string]string{"name": name}, &org)
	c := s.NewClient()
	c.LogIn("both@example.com", org.ID)
	out := &side{Caller: s.NewCaller(t, c), name: name, number: number, done: map[string]bool{}}
	out.secrets = map[string]bool{org.ID: true, name: true, number: true}
	return out
}

// act calls every operation of the interface description in the organization, as a fuzzer that knows its records.
func (d *side) act(t *testing.T, seed uint64) {
	t.Helper()
	d.Credential(t) // the clock may have gone on since the log-in
	e := d.Settle(t, d.number)
	changes := map[string]bool{}
	for _, ops := range local.Operations(d.Service.Platform) {
		for i := range ops {
			changes[ops[i].ID] = ops[i].Changes()
		}
	}
	resttest.FuzzOperations(t, d.Service, functions.Describe(d.Service.Platform).YAML(), resttest.Options{
		Requests: eachOperation(), Seed: seed, Known: probe.KnownValues(e), Before: d.Signed(t),
		Fixed: map[string]any{"requireMFA": false}, // the user has no second factor
		Skip:  func(id string) bool { d.Service.WaitSettled(); return !changes[id] },
		Seen: func(id string, answer *httptest.ResponseRecorder) {
			if answer.Code/100 == 2 && changes[id] {
				d.done[id] = true
			}
		},
	})
	for _, text := range slices.Concat(slices.Collect(maps.Values(e)), d.rows(t)) {
		for _, id := range probe.IDPattern.FindAllString(text, -1) {
			// Users of both organizations are no secret of either, and the fuzzer makes up ids of its own.
			if !strings.HasPrefix(id, "usr_") && !strings.HasSuffix(id, "zzzzzzzz") {
				d.secrets[id] = true
			}
		}
	}
}

// eachOperation returns how many requests each operation gets.
func eachOperation() int {
	if race.Enabled || testing.Short() {
		return 6
	}
	return 20
}

// rows returns the stored audit rows of the organization.
func (d *side) rows(t *testing.T) []string {
	t.Helper()
	if _, err := audit.New(d.Service.Platform).Link(t.Context(), audit.PlaceOf(d.Org), func() bool {
		return false
	}); err != nil {
		t.Fatal(err)
	}
	var out []string
	q := table.Query{PK: audit.PlaceOf(d.Org).PK, Limit: 1000}
	for q.From, q.To = audit.AllRowKeys(); ; {
		page, err := d.Service.Platform.Table.Query(table.Within(t.Context(), ""), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			out = append(out, string(it.Data))
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out
		}
	}
}

// readable returns the audit log as the organization's administrators can read it: the list, and both forms of the
// export.
func (d *side) readable(t *testing.T) []string {
	t.Helper()
	out := []string{}
	for _, path := range []string{
		"/audit-logs/export", "/audit-logs/export?format=csv", "/audit-logs?limit=100&page=1",
		"/audit-logs?limit=100&page=2",
	} {
		w := d.Ask(t, http.MethodGet, path, "")
		if w.Code != http.StatusOK {
			t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
		}
		out = append(out, strings.Split(w.Body.String(), "\n")...)
	}
	return out
}

// enterAndLeave logs the user in with a password and then refreshes the session, for every pair of organizations: the
// first one by default, each of the two, and a third one, which refuses.
func enterAndLeave(t *testing.T, s *probe.Service, a, b *side) {
	t.Helper()
	c := s.NewClient()
	var in struct{ RefreshToken string }
	for _, org := range []string{"", a.Org, b.Org} {
		c.Call(http.MethodPost, "/auth/login",
			map[string]string{
				"email": "both@example.com", "password": testenv.Password, "provider": "email",
				"tenantID": org,
			}, &in)
		for _, next := range []string{"", b.Org, a.Org} {
			c.Call(http.MethodPost, "/auth/refresh",
				map[string]string{"refreshToken": in.RefreshToken, "tenantID": next}, &in)
		}
		c.CallRefused(http.StatusForbidden, http.MethodPost, "/auth/refresh",
			map[string]string{"refreshToken": in.RefreshToken, "tenantID": "org_01k00000000000000000000009"})
	}
	c.CallRefused(http.StatusForbidden, http.MethodPost, "/auth/login",
		map[string]string{
			"email": "both@example.com", "password": testenv.Password, "provider": "email",
			"tenantID": "org_01k00000000000000000000009",
		})
}

// TestWhatAUserOfTwoOrganizationsDoesInOneIsNoBusinessOfTheOther lets a user of two organizations call everything in
// each. No row, export or mail of one organization may contain an id or a name of the other.
func TestWhatAUserOfTwoOrganizationsDoesInOneIsNoBusinessOfTheOther(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	owner := s.NewOwner("both@example.com")
	a := newSide(t, s, owner, "Aardvark Holdings", "alpha-7781")
	b := newSide(t, s, owner, "Bumblebee Works", "beta-9942")
	a.act(t, 3)
	b.act(t, 5)
	enterAndLeave(t, s, a, b)
	for _, d := range []*side{a, b} {
		if len(d.done) < 25 && eachOperation() > 6 {
			t.Errorf("%s: only %d operations succeeded: %v", d.name, len(d.done), slices.Sorted(maps.Keys(d.done)))
		}
	}
	for _, pair := range [][2]*side{{a, b}, {b, a}} {
		texts := append(pair[0].rows(t), pair[0].readable(t)...)
		for _, text := range texts {
			if secret := heldSecret(text, pair[1]); secret != "" {
				t.Fatalf("a row of %s holds %s of %s: %s", pair[0].name, secret, pair[1].name, text)
			}
		}
		t.Logf("%s: %d operations, %d texts hold none of %d secrets of %s", pair[0].name, len(pair[0].done), len(texts),
			len(pair[1].secrets), pair[1].name)
	}
	mailsOfOne(t, s, a, b)
	tells(t, a)
}

// mailsOfOne checks that no mail mentions both organizations.
func mailsOfOne(t *testing.T, s *probe.Service, a, b *side) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Setup.Dir, "mails", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no mails: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if holds(string(text), a) && holds(string(text), b) {
			t.Errorf("a mail holds something of both: %s", text)
		}
	}
}

func holds(text string, d *side) bool { return heldSecret(text, d) != "" }

// heldSecret returns a secret of d that a text contains, or "". The name and the number of the side are searched for;
// its ids, several thousand, are found by their form.
func heldSecret(text string, d *side) string {
	for _, secret := range []string{d.name, d.number} {
		if strings.Contains(text, secret) {
			return secret
		}
	}
	for _, at := range idTail.FindAllStringIndex(text, -1) {
		for prefix := 1; prefix <= 5 && prefix <= at[0]; prefix++ {
			if id := text[at[0]-prefix : at[1]]; d.secrets[id] {
				return id
			}
		}
	}
	return ""
}

// idTail matches an id without its prefix of up to five letters.
var idTail = regexp.MustCompile(`_[0-9a-z]{26}`)

// tells checks that each row of a change names its target and has its changes.
func tells(t *testing.T, d *side) {
	t.Helper()
	mute := map[string]string{}
	for _, text := range d.rows(t) {
		var r audit.Row
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if r.Status/100 == 2 && (r.Target == "" || r.Changes.Before == nil && r.Changes.After == nil) {
			mute[r.Action] = fmt.Sprintf("%s %s: target %q, changes %v", r.Method, r.Path, r.Target, r.Changes)
		}
	}
	for _, action := range slices.Sorted(maps.Keys(mute)) {
		t.Errorf("a row of %s does not say what it was about: %s", action, mute[action])
	}
}
