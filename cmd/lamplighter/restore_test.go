package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// drillRows is the number of filling rows in the store of a drill.
const drillRows = 5000

// drill is the restore of a store, in the steps of docs/operations/restore.md.
type drill struct {
	t       *testing.T
	setup   testenv.Setup
	restore func() testenv.Setup // makes the copy, of the store as it is, while no service runs on it

	owner credentials // made before the restore point
	code  string      // to reset the password of coder
}

// People of a drill.
const (
	drillOwner = "ada@example.com"
	drillCoder = "grace@example.com"
	drillGuest = "eve@example.com"
)

// credentials are an organization's id and the credentials of one user in it.
type credentials struct{ org, access, refresh, pat, revoked, ticket string }

// TestRestoreDrill restores the embedded store of a laptop from a copy of its folder.
func TestRestoreDrill(t *testing.T) {
	dir := t.TempDir()
	d := &drill{t: t, setup: testenv.Setup{Dir: dir}}
	d.restore = func() testenv.Setup { return testenv.Setup{Dir: copied(t, dir)} }
	d.run()
}

// TestRestoreDrillOnDynoxide restores the store of a DynamoDB of another maker's from a copy of its file.
func TestRestoreDrillOnDynoxide(t *testing.T) {
	dir := t.TempDir()
	d := &drill{
		t:     t,
		setup: testenv.Setup{Dir: t.TempDir(), Remote: tabletest.NewTable(t, tabletest.StartDynoxideIn(t, dir))},
	}
	d.restore = func() testenv.Setup {
		restored := d.setup
		restored.Remote.Endpoint = tabletest.StartDynoxideIn(t, copied(t, dir))
		return restored
	}
	d.run()
}

// copied copies a folder, with the modes of its files.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "restored")
	cmd := exec.CommandContext(t.Context(), "cp", "-a", dir, to) //nolint:gosec // folders of the test's
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

// TestRestoreCommandOnMoto restores a table from its continuous backups. The service itself does not run on moto: it
// copies the whole table for each transaction.
func TestRestoreCommandOnMoto(t *testing.T) {
	r := tabletest.NewTable(t, tabletest.StartMoto(t))
	if err := table.KeepBackups(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_REGION": r.Region, "AWS_ACCESS_KEY_ID": r.KeyID,
		"AWS_SECRET_ACCESS_KEY": r.Secret,
	} {
		t.Setenv(name, value)
	}
	d := &drill{t: t, owner: credentials{org: "org"}}
	from := table.NewDynamoDB(r)
	if err := from.BatchWrite(t.Context(), drillWrites("org")...); err != nil {
		t.Fatal(err)
	}
	to := r
	to.Table += "-restored"
	var out strings.Builder
	d.timed(fmt.Sprintf("restore of %d rows", drillRows), func() {
		err := run(t.Context(), []string{"restore", "-table", r.Table, "-to", to.Table, "-endpoint", r.Endpoint}, &out,
			&out)
		if err != nil || !strings.Contains(out.String(), "TableName="+to.Table+"\nTableStream=20") {
			t.Fatalf("%v: %s", err, out.String())
		}
	})
	if _, err := from.Write(t.Context(),
		table.Put(table.Item{Key: table.Key{PK: table.OrgPK("org") + "DRILL", SK: "too late"}})); err != nil {
		t.Fatal(err)
	}
	restored := table.NewDynamoDB(to)
	if n := d.countRows(t.Context(), restored); n != drillRows {
		t.Errorf("%d of %d rows are there", n, drillRows)
	}
	if _, err := restored.Write(t.Context(),
		table.Put(table.Item{Key: table.Key{PK: "o" + table.OutboxSuffix, SK: "1"}})); err != nil {
		t.Fatal(err)
	}
	if feed, err := restored.Feed(t.Context(), "", 10); err != nil || len(feed.Items) != 1 {
		t.Errorf("the restored table delivers %+v, %v", feed, err)
	}
}

func TestRestoreCommand_SaysWhatItWants(t *testing.T) {
	for name, args := range map[string][]string{
		"wants -table": {"-to", "b"}, "-to, the name": {"-table", "a"},
		`-at is "noon"`: {"-table", "a", "-to", "b", "-at", "noon"},
	} {
		if err := run(t.Context(), append([]string{"restore"}, args...), io.Discard, io.Discard); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v, want it to say %q", args, err, name)
		}
	}
}

// drillWrites returns the writes that fill the store of a drill.
func drillWrites(org string) []table.Write {
	ws := make([]table.Write, drillRows)
	for i := range ws {
		ws[i] = table.Put(table.Item{
			Key:  table.Key{PK: table.OrgPK(org) + "DRILL", SK: fmt.Sprintf("%06d", i)},
			Data: []byte(`{"filling":true}`),
		})
	}
	return ws
}

// countRows counts the rows that drillWrites has written.
func (d *drill) countRows(ctx context.Context, s table.Store) int {
	d.t.Helper()
	n := 0
	for q := (table.Query{PK: table.OrgPK(d.owner.org) + "DRILL", Limit: 1000}); ; {
		p, err := s.Query(ctx, q)
		if err != nil {
			d.t.Fatal(err)
		}
		n += len(p.Items)
		if q.Cursor = p.Next; q.Cursor == "" {
			return n
		}
	}
}

// timed runs a step of the drill and logs its duration.
func (d *drill) timed(step string, do func()) {
	d.t.Helper()
	began := clock.System{}.Now()
	do()
	d.t.Logf("%-45s %6d ms", step, clock.System{}.Now().Sub(began).Milliseconds())
}

// run makes credentials, restores the store as it is at that point, continues to use the lost store for a while, and
// then checks the restored one.
func (d *drill) run() {
	d.t.Helper()
	d.fill()
	var restored testenv.Setup
	d.timed(fmt.Sprintf("restore of %d rows", drillRows), func() { restored = d.restore() })
	d.goOn()
	d.believes(restored)
	restored.Epoch = clock.System{}.Now()
	var e *testenv.Env
	d.timed("start on the restored store", func() { e = testenv.Start(d.t, restored) })
	d.timed("every credential of before refused", func() { d.refuses(e) })
	d.timed("log-in, and a look at what is there", func() { d.works(e) })
}

// fill makes the records to restore: rows, and credentials of every kind.
func (d *drill) fill() {
	d.t.Helper()
	e := testenv.Start(d.t, d.setup)
	defer e.Stop()
	ada := e.NewOwner(drillOwner)
	if err := e.Platform.Table.BatchWrite(table.WithOrg(d.t.Context(), ada.Org), drillWrites(ada.Org)...); err != nil {
		d.t.Fatal(err)
	}
	for _, email := range []string{drillCoder, drillGuest} {
		if _, err := auth.CreateVerifiedUser(d.t.Context(), e.Platform, email, testenv.Password,
			"Drilled"); err != nil {
			d.t.Fatal(err)
		}
	}
	d.owner = d.logIn(ada)
	d.owner.pat, d.owner.revoked = newToken(ada, "kept"), newToken(ada, "revoked")
	ada.Call(http.MethodPost, "/users", map[string]string{"email": drillGuest, "role": "viewer"}, nil)
	d.owner.ticket, d.code = d.newTicket(e, drillOwner), newCode(e, drillCoder)
}

// logIn returns the tokens of a new session of the owner.
func (d *drill) logIn(c *testenv.Client) credentials {
	d.t.Helper()
	var s struct {
		AccessToken  string `json:"accessToken"`
		RefreshToken string `json:"refreshToken"`
	}
	c.Call(http.MethodPost, "/auth/login",
		map[string]string{"email": drillOwner, "password": testenv.Password, "provider": "email"}, &s)
	return credentials{org: c.Org, access: s.AccessToken, refresh: s.RefreshToken}
}

// newToken makes a personal access token.
func newToken(c *testenv.Client, name string) string {
	var made struct {
		Token string `json:"token"`
	}
	c.Call(http.MethodPost, "/personal-access-tokens", map[string]any{"name": name}, &made)
	return made.Token
}

// newCode requests a mail with a code that resets the password, and returns the code.
func newCode(e *testenv.Env, email string) string {
	e.NewClient().Call(http.MethodPost, "/auth/password/forget", map[string]string{"email": email}, nil)
	return e.WaitForCode(email)
}

// newTicket exchanges a new code for a ticket.
func (d *drill) newTicket(e *testenv.Env, email string) string {
	d.t.Helper()
	var got struct {
		Ticket string `json:"resetToken"`
	}
	in := map[string]string{"email": email, "otp": newCode(e, email), "purpose": "password_reset"}
	if e.NewClient().Call(http.MethodPatch, "/auth/otp/validate", in, &got); got.Ticket == "" {
		d.t.Fatal("a code gave no ticket")
	}
	return got.Ticket
}

// goOn changes the lost store after the restore point: it revokes a token and withdraws an invitation.
func (d *drill) goOn() {
	d.t.Helper()
	e := testenv.Start(d.t, d.setup)
	defer e.Stop()
	c := d.client(e, d.owner.access)
	var all []struct{ ID, Name string }
	c.Call(http.MethodGet, "/personal-access-tokens", nil, &all)
	for _, token := range all {
		if token.Name == "revoked" {
			c.Call(http.MethodDelete, "/personal-access-tokens/"+token.ID, nil, nil)
		}
	}
	d.client(e, d.owner.revoked).CallRefused(http.StatusUnauthorized, http.MethodGet, "/organisations", nil)
	c.Call(http.MethodDelete, testenv.UserPath(drillGuest), nil, nil)
	c.Call(http.MethodPost, "/organisations", map[string]string{"name": "Made too late"}, nil)
}

// client returns a client with a token.
func (d *drill) client(e *testenv.Env, token string) *testenv.Client {
	c := e.NewClient()
	c.Token, c.Org = token, d.owner.org
	return c
}

// believes shows why a restore raises the epoch: without it the restored store accepts every credential of the
// restore point.
func (d *drill) believes(restored testenv.Setup) {
	d.t.Helper()
	e := testenv.Start(d.t, restored)
	defer e.Stop()
	for _, token := range []string{d.owner.access, d.owner.pat, d.owner.revoked} {
		d.client(e, token).Call(http.MethodGet, "/organisations", nil, nil)
	}
}

// refuses checks that every credential from before the restore is refused.
func (d *drill) refuses(e *testenv.Env) {
	d.t.Helper()
	for _, token := range []string{d.owner.access, d.owner.pat, d.owner.revoked} {
		d.client(e, token).CallRefused(http.StatusUnauthorized, http.MethodGet, "/organisations", nil)
	}
	const other = "another password of 42 letters"
	for path, in := range map[string]map[string]string{
		"POST /auth/refresh":                 {"refreshToken": d.owner.refresh},
		"PATCH /auth/password/reset":         {"resetToken": d.owner.ticket, "password": other},
		"PATCH /auth/password/reset by code": {"email": drillCoder, "otp": d.code, "password": other},
	} {
		request := strings.Fields(path)
		e.NewClient().CallRefused(http.StatusUnauthorized, request[0], request[1], in)
	}
	var waiting struct {
		Total int `json:"total"`
	}
	guest := e.NewClient()
	guest.LogIn(drillGuest, "")
	if guest.Call(http.MethodGet, "/invitations", nil, &waiting); waiting.Total != 0 || guest.Org != "" {
		d.t.Errorf("%s sees %d invitations, of which one was withdrawn, and works in %q", drillGuest, waiting.Total,
			guest.Org)
	}
}

// works checks that people can log in anew, and that they find the records of the restore point and no later ones.
func (d *drill) works(e *testenv.Env) {
	d.t.Helper()
	c := e.NewClient()
	c.LogIn(drillOwner, d.owner.org)
	var orgs []struct{ Name string }
	if c.Call(http.MethodGet, "/organisations", nil, &orgs); len(orgs) != 1 || strings.Contains(orgs[0].Name, "late") {
		d.t.Errorf("organizations after the restore: %+v", orgs)
	}
	d.client(e, newToken(c, "kept")).Call(http.MethodGet, "/organisations", nil, nil) // a name of before is free
	d.newTicket(e, drillGuest)                                                        // by a new code
	n := d.countRows(table.WithOrg(d.t.Context(), d.owner.org), e.Platform.Table)
	if n != drillRows {
		d.t.Errorf("%d of %d rows are there", n, drillRows)
	}
}
