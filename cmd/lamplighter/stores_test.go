package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/platform"
)

// keptStore describes a store that an earlier version of the service has written.
type keptStore struct {
	Made time.Time           `json:"made"`
	IDs  map[string][]string `json:"ids"` // in the answers to GET, by path
}

// TestStores_OfEarlierVersionsAreRead starts the service on the stores of earlier versions, and finds the records
// that those versions found. It expects an error with the layout's number for a store of another layout. With
// -update, the store of this version replaces the kept store of its layout.
func TestStores_OfEarlierVersionsAreRead(t *testing.T) {
	dir := filepath.Join("testdata", "stores")
	if *update {
		keepStore(t, filepath.Join(dir, fmt.Sprintf("layout%d", platform.Layout)))
	}
	all, err := filepath.Glob(filepath.Join(dir, "layout*.tar.gz"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no stores in %s: %v", dir, err)
	}
	for _, archive := range all {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		t.Run(name, func(t *testing.T) {
			at := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", at) //nolint:gosec // a file of ours
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if name != fmt.Sprintf("layout%d", platform.Layout) {
				_, err := local.Open(local.Options{Root: "../..", Dir: at, NoSync: true})
				if err == nil || !strings.Contains(err.Error(), strings.Replace(name, "layout", "layout ", 1)) {
					t.Errorf("it was not refused by its layout: %v", err)
				}
				return
			}
			readStore(t, at, strings.TrimSuffix(archive, ".tar.gz")+".json")
		})
	}
}

// readStore compares the answers of the service on the store in dir with the kept answers.
func readStore(t *testing.T, dir, answers string) {
	t.Helper()
	b, err := os.ReadFile(answers) //nolint:gosec // of ours
	var want keptStore
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	var c testenv.Ahead
	c.Advance(want.Made.Sub(c.Now()))
	e := testenv.Start(t, testenv.Setup{Dir: dir, Clock: &c})
	ada := e.NewClient()
	ada.LogIn("ada@example.com", "")
	for path, ids := range want.IDs {
		if got := idsOf(ada, path); !slices.Equal(got, ids) {
			t.Errorf("GET %s: %d ids, want %d: %v, want %v", path, len(got), len(ids), got, ids)
		}
	}
}

// idsOf returns the ids in an answer.
func idsOf(c *testenv.Client, path string) []string {
	var answer json.RawMessage
	c.Call(http.MethodGet, path, nil, &answer)
	ids := regexp.MustCompile(`"[a-z]{2,5}_[0-9a-z]{26}"`).FindAllString(string(answer), -1)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// keepStore writes a store with one of everything, and the answers from it.
func keepStore(t *testing.T, to string) {
	t.Helper()
	dir := t.TempDir()
	e := testenv.Start(t, testenv.Setup{Dir: dir})
	ada := e.NewOwner("ada@example.com")
	ada.ConnectAccount("111122223333", testenv.FastCloud(40))
	testenv.UseEverything(t, e, ada)
	ada.InviteColleague("eve@example.com", "viewer")
	ada.Call(http.MethodPost, "/users", map[string]string{"email": "invited@example.com", "role": "viewer"}, nil)
	ada.Call(http.MethodPost, "/personal-access-tokens", map[string]any{"name": "program"}, nil)
	scheduled(t, ada)
	kept := keptStore{Made: time.Now().UTC().Truncate(time.Second), IDs: map[string][]string{}}
	for _, path := range []string{
		"/users", "/teams", "/roles", "/resource-groups", "/resources", "/cloud-accounts", "/actions",
		"/actions/bulk/latest", "/organisations",
		"/personal-access-tokens", "/organisation", "/users/me", "/schedules", "/calendars",
	} {
		kept.IDs[path] = idsOf(ada, path)
	}
	e.Stop()
	b, err := json.MarshalIndent(kept, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o750)
	}
	if err == nil {
		err = os.WriteFile(to+".json", append(b, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "tar", "-czf", to+".tar.gz", //nolint:gosec // of ours
		"-C", dir, "keys", "store.db")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// scheduled makes a calendar, and a schedule for the first resource that fires only on a rare day.
func scheduled(t *testing.T, c *testenv.Client) {
	t.Helper()
	var made struct{ ID string }
	c.Call(http.MethodPost, "/calendars",
		map[string]any{
			"name": "Holidays", "effect": "no_action",
			"entries": []any{map[string]any{"from": "2026-12-24", "yearly": true}},
		}, &made)
	c.Call(http.MethodPost, "/schedules", map[string]any{
		"name": "Leap", "calendarIDs": []string{made.ID},
		"crons": []any{map[string]any{"cronExpression": "0 0 29 2 *", "action": "stop"}},
	}, &made)
	var some []struct{ ID string }
	if c.Call(http.MethodGet, "/resources?limit=1", nil, &some); len(some) == 0 {
		t.Fatal("no resource to attach")
	}
	c.Call(http.MethodPost, "/schedules/"+made.ID+"/attachments", map[string]string{"resourceID": some[0].ID}, nil)
}
