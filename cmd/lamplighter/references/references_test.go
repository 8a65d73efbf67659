// Package references compares each reference between records, and each sort order of a list, with its declaration.
package references

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
)

// record is a record of the service: its id, and how to read and delete it.
type record struct {
	id     string
	list   string // the path of a list that contains it
	read   string // its own path; "" where it has none
	remove string // its own path for DELETE; "" means read
	shows  string // its text in error messages, if that is not its id
	names  string // its reference to the other record, if that is not the id
}

// namer makes a record that refers to to, and returns it.
type namer func(w *references, to record) record

// references is an organization that the test fills with records that refer to each other.
type references struct {
	*probe.Caller
	t       *testing.T
	account string
	made    int
}

// name returns a name that no record has yet.
func (w *references) name(kind string) string {
	w.made++
	return fmt.Sprintf("%s %d", kind, w.made)
}

// make sends a POST and returns the record at its path.
func (w *references) make(path string, body any) record {
	w.t.Helper()
	var out struct {
		ID string `json:"id"`
	}
	w.Credential(w.t)
	w.Call(http.MethodPost, path, body, &out)
	return record{id: out.ID, list: path, read: path + "/" + out.ID}
}

// text returns the record as a client reads it, or "" if it no longer exists.
func (w *references) text(r record) string {
	w.t.Helper()
	if r.read != "" {
		res := w.Ask(w.t, http.MethodGet, r.read, "")
		if res.Code == http.StatusNotFound {
			return ""
		}
		return res.Body.String()
	}
	res := w.Ask(w.t, http.MethodGet, r.list, "")
	var all any
	if err := json.Unmarshal(res.Body.Bytes(), &all); res.Code != http.StatusOK || err != nil {
		w.t.Fatalf("GET %s: %d %s", r.list, res.Code, res.Body)
	}
	found, err := json.Marshal(findRecord(all, r.id))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimPrefix(string(found), "null")
}

// findRecord returns the object with an id in a JSON value, or nil.
func findRecord(in any, id string) any {
	switch v := in.(type) {
	case map[string]any:
		if v["id"] == id {
			return v
		}
		for _, member := range v {
			if found := findRecord(member, id); found != nil {
				return found
			}
		}
	case []any:
		for _, item := range v {
			if found := findRecord(item, id); found != nil {
				return found
			}
		}
	}
	return nil
}

// key returns the key of a reference's sample: its kinds, and its first field if two references have the same kinds.
func key(r platform.Reference) string {
	if r.From == "integration" && r.To == "cloud account" {
		return r.From + " names " + r.To + " by " + r.Fields[0]
	}
	return r.From + " names " + r.To
}

// TestReferences_ADeletionDoesWhatIsDeclared makes, for each reference that a function declares, the two records over
// HTTP, deletes the named one, and compares the fate of the other one with the declaration. No operation deletes a
// resource: the references to its account test the records that name one.
func TestReferences_ADeletionDoesWhatIsDeclared(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	w := &references{Caller: s.NewCaller(t, s.NewOwner("owner@example.com")), t: t}
	w.account = w.ConnectAccount("base", testenv.FastCloud(60))
	used := map[string]bool{}
	for _, f := range functions.All() {
		for _, r := range f.Names {
			if r.To == "resource" {
				continue
			}
			used[key(r)] = true
			t.Run(strings.ReplaceAll(key(r), " ", "_"), func(t *testing.T) {
				w.t = t
				w.check(r)
			})
		}
	}
	for name := range namers {
		if !used[name] {
			t.Errorf("there is a sample %q, and no such reference is declared", name)
		}
	}
}

// check makes the two records of a reference and deletes the named one.
func (w *references) check(r platform.Reference) {
	w.t.Helper()
	target, makes := targets[r.To], namers[key(r)]
	if target == nil || makes == nil {
		w.t.Fatalf("there is no sample of %q: add it to namers, and %q to targets", key(r), r.To)
	}
	to := target(w)
	from := makes(w, to)
	w.Service.WaitSettled()
	w.outcome(r.OnDelete, from, to, "")
	if r.OnDetach != "" {
		w.outcome(r.OnDetach, from, to, "?detach=true")
	}
}

// outcome deletes to and checks the declared outcome for from: the deletion is refused with 409, or from is deleted
// too, stays without the name of to, or stays unchanged.
func (w *references) outcome(want platform.Outcome, from, to record, query string) {
	w.t.Helper()
	before := w.text(from)
	if before == "" {
		w.t.Fatalf("%s cannot be read before", from.id)
	}
	path := to.remove
	if path == "" {
		path = to.read
	}
	res := w.Ask(w.t, http.MethodDelete, path+query, "")
	after, answer := w.text(from), fmt.Sprintf("DELETE %s%s: %d %s", path, query, res.Code, res.Body)
	if want == platform.Refused {
		shows := from.shows
		if shows == "" {
			shows = from.id
		}
		if res.Code != http.StatusConflict || !strings.Contains(res.Body.String(), shows) || after != before ||
			w.text(to) == "" {
			w.t.Errorf("%s\nwant 409 that lists %s, and both records as they were:\n%s\n%s", answer, shows, before,
				after)
		}
		return
	}
	if res.Code != http.StatusOK || to.read != "" && w.text(to) != "" {
		w.t.Errorf("%s\nwant 200, and that it is gone", answer)
	}
	switch want { //nolint:exhaustive // Refused has returned
	case platform.Ended:
		if after != "" {
			w.t.Errorf("%s\nwant that %s is gone with it: %s", answer, from.id, after)
		}
	case platform.Detached:
		names := from.names
		if names == "" {
			names = to.id
		}
		if !strings.Contains(before, names) || after == "" || strings.Contains(after, names) {
			w.t.Errorf("%s\nwant that %s stays and names it no more: %s", answer, from.id, after)
		}
	case platform.Kept:
		if after != before {
			w.t.Errorf("%s\nwant that %s stays as it was:\n%s\n%s", answer, from.id, before, after)
		}
	}
}

// resource returns a running instance of an account.
func (w *references) resource(accountID string) testenv.Resource {
	w.t.Helper()
	w.Credential(w.t)
	var all []testenv.Resource
	w.Call(http.MethodGet,
		"/resources?type=aws-ec2&status=running&schedulable=true&sort_by=name&limit=1&cloud_account_id="+accountID, nil,
		&all)
	if len(all) == 0 {
		w.t.Fatalf("no instance of %s runs", accountID)
	}
	return all[0]
}

// TestReferences_AnAppliedPolicyKeepsItsAccount checks that the account of an applied policy cannot be deleted: the
// end of the policy changes the cloud with the account's credentials.
func TestReferences_AnAppliedPolicyKeepsItsAccount(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	w := &references{Caller: s.NewCaller(t, s.NewOwner("owner@example.com")), t: t}
	w.account = w.ConnectAccount("base", testenv.FastCloud(60))
	policy := w.policy(w.account)
	w.Call(http.MethodPost, policy.read+"/apply", nil, nil)
	for _, query := range []string{"", "?detach=true"} {
		answer := w.CallRefused(http.StatusConflict, http.MethodDelete, "/cloud-accounts/"+w.account+query, nil)
		if !strings.Contains(answer, policy.id) || w.text(policy) == "" {
			t.Errorf("DELETE with %q: %s", query, answer)
		}
	}
	w.Call(http.MethodDelete, policy.read, nil, nil)
	w.Call(http.MethodDelete, "/cloud-accounts/"+w.account, nil, nil)
}

// TestReferences_ACallerSeesOnlyTheNamesThatTheyMayRead checks that a refusal lists ids, and adds names only for
// callers that may read them.
func TestReferences_ACallerSeesOnlyTheNamesThatTheyMayRead(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	w := &references{Caller: s.NewCaller(t, s.NewOwner("owner@example.com")), t: t}
	w.account = w.ConnectAccount("base", testenv.FastCloud(60))
	group := targets["resource group"](w)
	hook := namers["webhook names resource group"](w, group)
	role := w.make("/roles",
		map[string]any{"name": "Grouper", "policies": []string{"resource-groups:read", "resource-groups:write"}})
	email := w.AddColleague(t, "grouper@example.com")
	w.Call(http.MethodPatch, "/users/"+email, map[string]string{"role": role.id}, nil)
	narrow := s.NewClient()
	narrow.LogIn(email, w.Org)
	answer := narrow.CallRefused(http.StatusConflict, http.MethodDelete, group.read, nil)
	if !strings.Contains(answer, hook.id) || strings.Contains(answer, "Hook ") {
		t.Errorf("a caller without webhooks:read is answered %s", answer)
	}
	if answer = w.CallRefused(http.StatusConflict, http.MethodDelete, group.read, nil); !strings.Contains(answer,
		"Hook ") {
		t.Errorf("the owner is answered %s", answer)
	}
}
