package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// later is a row member that only a later version of the service knows.
const later = "ofALaterVersion"

// replaced lists the rows that are always written as a whole, with the reason why that loses nothing.
var replaced = map[string]string{
	`AUDIT`: "rows of the audit log are never changed, and hashed as they are",
	`^ORG#.*#INV[# ]?.*`: "the index has a number of its own for its format, and is made anew from records; " +
		"groups are looked at by their heads",
	`^WF#|^SIM#|^FEED#`:         "what stands in for AWS and for clouds on a laptop",
	`^LIMIT#|#IDEM|#COUNT`:      "counters and kept answers",
	`^PENDING#|^OUTBOX|#EVENTS`: "work and mails on their way, which are taken out, not changed",
	`^RIGHTS#`: "a review that waits is asked for anew with each change of rights, and goes when " +
		"it is done",
	`^SIGNIN#|^OTP#|^RESET#`:     "used once, within minutes",
	`^ORG#.*#CONNECT`:            "used once, within minutes",
	`^ORG#.*#CORGMEMBER`:         "what became of a member is found out anew each hour",
	`^ORG#.*#(JOB|SCAN|REFRESH)`: "a discovery under way is begun anew when its rows cannot be read",
}

// isReplaced reports whether rows of the partition are written as a whole.
func isReplaced(k table.Key) bool {
	if strings.HasSuffix(k.PK, "#INV") && strings.HasPrefix(k.SK, "G#") {
		return false
	}
	for pattern := range replaced {
		if regexp.MustCompile(pattern).MatchString(k.PK + " " + k.SK) {
			return true
		}
	}
	return false
}

// TestRows_KeepWhatALaterVersionAdded adds an unknown member to each row, as a later version may. All operations
// still work, and the member stays as long as its row does.
func TestRows_KeepWhatALaterVersionAdded(t *testing.T) {
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	t.Parallel()
	dir := t.TempDir()
	e := testenv.Start(t, testenv.Setup{Dir: dir})
	ada := e.NewOwner("ada@example.com")
	account := ada.ConnectAccount("111122223333", testenv.FastCloud(200))
	testenv.UseEverything(t, e, ada)
	ada.InviteColleague("eve@example.com", "viewer")
	ada.Call(http.MethodPost, "/users", map[string]string{"email": "invited@example.com", "role": "viewer"}, nil)
	registerCluster(ada, account)
	e.Stop()
	marked := mark(t, dir)
	e = testenv.Start(t, testenv.Setup{Dir: dir})
	ada = e.NewClient()
	ada.LogIn("ada@example.com", "")
	changeAll(t, e, ada, account)
	e.Stop()
	e = testenv.Start(t, testenv.Setup{Dir: dir})
	ctx := table.Within(t.Context(), "")
	for _, k := range marked {
		it, err := e.Platform.Table.Get(ctx, k)
		if err == nil && !strings.Contains(string(it.Data), later) {
			t.Errorf("the row %s %s has lost a member: write it by table.PutFields or by its fields, or say in "+
				"replaced why it need not be kept: %s", k.PK, k.SK, it.Data)
		}
	}
}

// registerCluster registers a cluster of the account, or does so again.
func registerCluster(c *testenv.Client, account string) {
	c.Call(http.MethodPut, "/cloud-accounts/"+account+"/clusters/us-east-1/main/access",
		map[string]string{"method": "cloud_iam"}, nil)
}

// mark adds the unknown member to the rows of the store in dir.
func mark(t *testing.T, dir string) []table.Key {
	t.Helper()
	path := filepath.Join(dir, "store.db")
	keys := tabletest.StoredItems(t, path)
	s := tabletest.Open(t, path, clock.System{})
	var out []table.Key
	kinds := map[string]bool{}
	for _, k := range keys {
		if isReplaced(k) {
			continue
		}
		if _, err := s.Write(t.Context(),
			table.Update(k, []table.Change{table.Set(later, map[string]int{"n": 1})}, table.Exists())); err != nil {
			continue // it has expired
		}
		out = append(out, k)
		kinds[regexp.MustCompile(`[a-z0-9]{8,}.*`).ReplaceAllString(strings.TrimPrefix(k.PK, "ORG#"), "…")+" "+
			k.SK[:1]] = true
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows of %d kinds: %v", len(out), len(kinds), kinds)
	return out
}

// changeAll changes one of everything.
func changeAll(t *testing.T, e *testenv.Env, c *testenv.Client, account string) {
	t.Helper()
	change := func(path string, in map[string]any) {
		var all json.RawMessage
		c.Call(http.MethodGet, path, nil, &all)
		body := string(all)
		ids := regexp.MustCompile(`"id":"((?:team|grp|role)_[^"]+)"`).FindStringSubmatch(body)
		if ids == nil {
			t.Fatalf("GET %s lists nothing: %s", path, body)
		}
		c.Call(http.MethodPut, path+"/"+ids[1], in, nil)
	}
	c.Call(http.MethodPatch, "/users/me", map[string]string{"name": "Ada L."}, nil)
	c.Call(http.MethodPatch, testenv.UserPath("eve@example.com"), map[string]string{"role": "operator"}, nil)
	c.Call(http.MethodPatch, testenv.UserPath("invited@example.com"), map[string]string{"role": "operator"}, nil)
	c.Call(http.MethodPut, "/organisation", map[string]any{"name": "Looms", "currency": "EUR"}, nil)
	change("/teams", map[string]any{"name": "Spinners"})
	change("/resource-groups", map[string]any{"name": "nightly"})
	change("/roles", map[string]any{"name": "Planter", "policies": []string{"actions:read"}})
	c.Call(http.MethodPut, "/cloud-accounts/"+account, map[string]any{"name": "Cloud renamed"}, nil)
	registerCluster(c, account)
	testenv.SubmitAction(c, testenv.RunningInstances(t, c, 1)[0], "stop")
	c.Call(http.MethodPost, "/resources/refresh", map[string]string{}, nil)
	e.WaitSettled()
	for _, path := range []string{
		"/users", "/teams", "/roles", "/resource-groups", "/resources", "/cloud-accounts",
		"/actions", "/audit-logs", "/organisations",
	} {
		c.Call(http.MethodGet, path, nil, nil)
	}
}
