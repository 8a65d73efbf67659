package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/audit"
)

const (
	sharedOwner = "ada@example.com"
	sharedGuest = "eve@example.com"
	sharedSize  = 40 // resources of the account
)

// shared is the records that several versions of the service have in one store, as the last version left them.
type shared struct {
	t       *testing.T
	at      *served
	beside  []*served // other programs on the store now: the first one that sees a mail sends it
	client  *local.Client
	org     string
	account string
	one     testenv.Resource  // acted on
	names   map[string]string // of records, by path
	guest   string            // the role of the guest
	token   string            // a personal access token
	actions []string          // that have succeeded
	rows    int64             // of the audit log
}

// call makes a request that must succeed.
func (s *shared) call(method, path string, in, out any) {
	s.t.Helper()
	if err := s.client.Do(s.t.Context(), method, path, in, out); err != nil {
		s.t.Fatal(err)
	}
}

// takeTurn lets the program find and change the records of the store. In an empty store it makes them first.
func (s *shared) takeTurn(by string, p *served) {
	s.t.Helper()
	s.enter(p)
	if s.account == "" {
		s.begin()
		s.workAll(by)
		return
	}
	s.findAll(by)
	s.changeAll(by)
}

// enter continues with another program. It logs in with the password if there is a user.
func (s *shared) enter(p *served) {
	s.t.Helper()
	s.at, s.client = p, local.NewClient(p.address())
	if s.org != "" {
		s.logIn()
	}
}

func (s *shared) logIn() {
	s.t.Helper()
	if _, err := s.client.Login(s.t.Context(), sharedOwner, testenv.Password, s.org); err != nil {
		s.t.Fatal(err)
	}
}

// mails returns the output of all programs that work on the store. The output contains their mails.
func (s *shared) mails() string {
	printed := []string{s.at.printed()}
	for _, p := range s.beside {
		printed = append(printed, p.printed())
	}
	return strings.Join(printed, "\n")
}

// begin makes one of everything, in an empty store.
func (s *shared) begin() {
	s.t.Helper()
	s.call(http.MethodPost, "/auth/signup",
		map[string]string{"email": sharedOwner, "password": testenv.Password, "name": "Ada"}, nil)
	code := regexp.MustCompile(`(?m)^mail to ` + sharedOwner + `: .*\b(\d{6})\b`)
	eventually(s.t, "the code of the sign-up", func() bool { return code.MatchString(s.mails()) })
	s.call(http.MethodPatch, "/auth/otp/validate",
		map[string]string{"email": sharedOwner, "otp": code.FindStringSubmatch(s.mails())[1]}, nil)
	s.logIn()
	s.org = s.made("/organisations", map[string]any{"name": "Engines"})
	s.logIn()
	s.connect()
	var found []testenv.Resource
	s.call(http.MethodGet, "/resources?type=aws-ec2&status=running&schedulable=true&sort_by=name&limit=100", nil,
		&found)
	s.one = found[0]
	s.names = map[string]string{
		"/users/me": "Ada", "/organisation": "Engines", "/cloud-accounts/" + s.account: "Cloud",
		"/teams/" + s.made("/teams",
			map[string]any{"name": "Weavers", "resources": []string{s.one.ID}}): "Weavers",
		"/roles/" + s.made("/roles",
			map[string]any{"name": "Gardener", "policies": []string{"actions:execute"}}): "Gardener",
		"/resource-groups/" + s.made("/resource-groups",
			map[string]any{"name": "batch", "members": []map[string]any{{"resourceID": s.one.ID}}}): "batch",
	}
	s.guest = "viewer"
	s.call(http.MethodPost, "/users", map[string]string{"email": sharedGuest, "role": s.guest}, nil)
}

// connect connects a simulated account, and waits until it is discovered.
func (s *shared) connect() {
	s.t.Helper()
	var account struct {
		ID    string `json:"id"`
		JobID string `json:"jobID"`
	}
	s.call(http.MethodPost, "/cloud-accounts", map[string]any{
		"provider": "simulated", "authMethod": "simulated", "cloudAccountID": "111122223333", "name": "Cloud",
		"permissionLevel": "read_write", "credentials": testenv.FastCloud(sharedSize).WithBills(13),
	}, &account)
	s.account = account.ID
	s.waitDiscovered(account.JobID)
}

// made creates a record and returns its id.
func (s *shared) made(path string, in map[string]any) string {
	s.t.Helper()
	var out struct {
		ID string `json:"id"`
	}
	s.call(http.MethodPost, path, in, &out)
	return out.ID
}

// findAll checks that the program reads all records of the version before. It asks with that version's token.
func (s *shared) findAll(by string) {
	s.t.Helper()
	session := s.client.Token
	s.client.Token = s.token
	defer func() { s.client.Token = session }()
	s.findNames(by)
	var guest struct {
		Roles []struct {
			ID string `json:"roleID"`
		} `json:"roles"`
	}
	if s.call(http.MethodGet, testenv.UserPath(sharedGuest), nil, &guest); len(guest.Roles) != 1 ||
		guest.Roles[0].ID != s.guest {
		s.t.Errorf("%s: the guest is %+v, want %s", by, guest.Roles, s.guest)
	}
	var all []testenv.Resource
	if s.call(http.MethodGet, "/resources?limit=100", nil, &all); len(all) != sharedSize ||
		!slices.Contains(all, s.one) {
		s.t.Errorf("%s: of %d resources none is %+v: %+v", by, len(all), s.one, all)
	}
	var actions struct {
		Items []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"items"`
	}
	s.call(http.MethodGet, "/actions", nil, &actions)
	var got []string
	for _, a := range slices.Backward(actions.Items) {
		got = append(got, a.ID+" "+a.Status)
	}
	if want := s.actions; !slices.Equal(got, want) {
		s.t.Errorf("%s: actions %q, want %q", by, got, want)
	}
}

// findNames checks that records have the names that they were given.
func (s *shared) findNames(by string) {
	s.t.Helper()
	for path, want := range s.names {
		var out struct {
			Name string `json:"name"`
		}
		if s.call(http.MethodGet, path, nil, &out); out.Name != want {
			s.t.Errorf("%s: the name of %s is %q, want %q", by, path, out.Name, want)
		}
	}
}

// changeAll changes one of everything.
func (s *shared) changeAll(by string) {
	s.t.Helper()
	n := len(s.actions)
	for path := range s.names {
		name, method := fmt.Sprintf("%.6s %s %d", path[1:], by, n), http.MethodPut
		in := map[string]any{"name": name}
		switch {
		case path == "/users/me":
			method = http.MethodPatch
		case path == "/organisation":
			in["currency"] = "EUR"
		case strings.HasPrefix(path, "/roles/"):
			in["policies"] = []string{"actions:read"}
		}
		var out struct {
			Name string `json:"name"`
		}
		if s.call(method, path, in, &out); out.Name != name {
			s.t.Errorf("%s: %s %s answers the name %q, want %q", by, method, path, out.Name, name)
		}
		s.names[path] = name
	}
	s.guest = []string{"viewer", "operator"}[n%2]
	s.call(http.MethodPatch, testenv.UserPath(sharedGuest), map[string]string{"role": s.guest}, nil)
	s.discover()
	s.workAll(by)
}

// workAll makes a token, submits an action, and checks the records of both.
func (s *shared) workAll(by string) {
	s.t.Helper()
	var token struct {
		Token string `json:"token"`
	}
	s.call(http.MethodPost, "/personal-access-tokens", map[string]any{"name": fmt.Sprint("token ", len(s.actions))},
		&token)
	s.token = token.Token
	s.act()
	s.prove(by)
}

// act stops the resource, or starts it when it is stopped.
func (s *shared) act() {
	s.t.Helper()
	verb, status := "stop", "stopped"
	if s.one.Status == "stopped" {
		verb, status = "start", "running"
	}
	var action struct {
		ActionID string `json:"actionID"`
		Status   string `json:"status"`
	}
	s.call(http.MethodPost, "/actions", s.one.Order(verb), &action)
	id := action.ActionID
	eventually(s.t, "the end of "+id, func() bool {
		s.call(http.MethodGet, "/actions/"+id, nil, &action)
		return action.Status == "succeeded"
	})
	s.actions = append(s.actions, id+" succeeded")
	s.one.Status = status
}

// discover starts a discovery of the account.
func (s *shared) discover() {
	s.t.Helper()
	var job struct {
		ID string `json:"jobID"`
	}
	s.call(http.MethodPost, "/cloud-accounts/"+s.account+"/discover", map[string]string{}, &job)
	s.waitDiscovered(job.ID)
}

// waitDiscovered waits until the discovery has succeeded.
func (s *shared) waitDiscovered(id string) {
	s.t.Helper()
	var job struct {
		Status string `json:"status"`
	}
	eventually(s.t, "the discovery "+id, func() bool {
		s.call(http.MethodGet, "/cloud-accounts/"+s.account+"/discover/"+id, nil, &job)
		return job.Status == "succeeded"
	})
}

// prove checks that the audit log's chain holds and that the log has grown.
func (s *shared) prove(by string) {
	s.t.Helper()
	var v audit.Verdict
	s.call(http.MethodGet, "/audit-logs/verify", nil, &v)
	if !v.Holds || !v.Complete || v.LastSeq <= s.rows {
		s.t.Errorf("%s: the audit log, of %d rows before: %+v", by, s.rows, v)
	}
	s.rows = v.LastSeq
}

// proveExport lets the version export the audit log from the embedded store in dir, and verify it.
func (s *shared) proveExport(v programVersion, dir string) {
	s.t.Helper()
	var export, proof bytes.Buffer
	file := filepath.Join(s.t.TempDir(), "export.ndjson")
	err := v.run(s.t.Context(), []string{"audit", "export", "-dir", dir, "-org", s.org}, &export)
	if err == nil {
		err = os.WriteFile(file, export.Bytes(), 0o600)
	}
	if err == nil {
		err = v.run(s.t.Context(), []string{"audit", "verify", file}, &proof)
	}
	if err != nil || !strings.HasSuffix(proof.String(), "the chain holds\n") {
		s.t.Errorf("%s: %v\n%s", v.name, err, &proof)
	}
}
