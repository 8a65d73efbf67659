package local

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// gate is a mail server that is down until it is opened.
type gate struct {
	open  atomic.Bool
	tried chan string // the address of each refused mail
	sent  chan string
}

func (g *gate) Send(_ context.Context, m mail.Message) error {
	if !g.open.Load() {
		g.tried <- m.To
		return fault.New(fault.Unavailable, "try later")
	}
	g.sent <- m.To
	return nil
}

// later is the machine's clock, set ahead.
type later struct {
	clock.System
	by atomic.Int64
}

func (l *later) Now() time.Time { return l.System.Now().Add(time.Duration(l.by.Load())) }

// The loops send a failed mail after its pause, and it delays no other mail until then.
func TestTheLoopsTryMailsAgain(t *testing.T) {
	g, c := &gate{tried: make(chan string, 10), sent: make(chan string, 10)}, &later{}
	s, err := Open(Options{
		Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1", Clock: c,
		Sender: g,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	defer func() { stop(); <-done }()
	srv := httptest.NewServer(s)
	defer srv.Close()
	signUp := func(email string) {
		t.Helper()
		body := map[string]string{"email": email, "password": "correct horse battery 43", "name": "Ada"}
		if err := NewClient(srv.URL).Do(ctx, http.MethodPost, "/auth/signup", body, nil); err != nil {
			t.Fatal(err)
		}
	}
	wait := func(from chan string, want string) {
		t.Helper()
		if got := <-from; got != want {
			t.Fatalf("a mail to %s, where one to %s belongs", got, want)
		}
	}
	signUp("first@example.com")
	wait(g.tried, "first@example.com")
	g.open.Store(true)
	signUp("second@example.com")
	wait(g.sent, "second@example.com")
	c.by.Store(int64(16 * time.Second))
	wait(g.sent, "first@example.com")
}

// Every account is discovered once in six hours, by the loops of each minute.
func TestTheLoopsStartDiscoveriesThatAreDue(t *testing.T) {
	c := &later{}
	s, err := Open(Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()
	ctx := t.Context()
	demo, err := s.Demo(ctx, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(srv.URL)
	discovered := func() time.Time {
		t.Helper()
		if err := s.AwaitIdle(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := client.enter(ctx, demo.Password); err != nil { // sessions end in the meantime
			t.Fatal(err)
		}
		var accounts struct {
			Items []struct {
				LastDiscoveredAt time.Time `json:"lastDiscoveredAt"`
			} `json:"items"`
		}
		if err := client.Do(ctx, http.MethodGet, "/cloud-accounts", nil, &accounts); err != nil ||
			len(accounts.Items) != len(demoAccounts) {
			t.Fatalf("%v, %v", accounts, err)
		}
		return accounts.Items[0].LastDiscoveredAt
	}
	if err = s.StartDiscoveries(ctx); err != nil {
		t.Fatal(err)
	}
	before := discovered()
	c.by.Store(int64(6 * time.Hour))
	if err = s.StartDiscoveries(ctx); err != nil {
		t.Fatal(err)
	}
	if after := discovered(); after.Sub(before) < 5*time.Hour {
		t.Errorf("discovered at %v, and six hours later at %v", before, after)
	}
}

// Actions are archived when their month is over, and an organization's part of the archive is erased with the
// organization.
func TestTheLoopsArchiveMonths(t *testing.T) {
	c, dir := &later{}, t.TempDir()
	s, err := Open(Options{Root: "../../..", Dir: dir, NoSync: true, BaseURL: "http://127.0.0.1", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()
	ctx := t.Context()
	r, err := s.Demo(ctx, srv.URL)
	if err != nil || r.UID == "" {
		t.Fatal(r, err)
	}
	client := NewClient(srv.URL)
	do := func(method, path string, in any) {
		t.Helper()
		if _, err := client.enter(ctx, r.Password); err != nil { // sessions end in the meantime
			t.Fatal(err)
		}
		if err := client.Do(ctx, method, path, in, nil); err != nil {
			t.Fatal(err)
		}
	}
	do(http.MethodPost, "/actions", map[string]any{
		"type": "stop", "resourceUID": r.UID, "resourceType": r.Type, "provider": r.Provider,
		"cloudAccountID": r.CloudAccountID, "region": r.Region,
	})
	if err = s.AwaitIdle(ctx); err != nil {
		t.Fatal(err)
	}
	archived := func() []string {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, "archive", "org_*", "*", "actions-0001.ndjson.gz"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for range 2 {
		if err = s.Archive(ctx); err != nil {
			t.Fatal(err)
		}
		if names := archived(); (c.by.Load() > 0) != (len(names) == 1) {
			t.Errorf("after %v there is %v", time.Duration(c.by.Load()), names)
		}
		c.by.Store(int64(60 * 24 * time.Hour))
	}
}

// A mail that the mailer cannot take because of the store does not stop the feed, and is not lost.
func TestDeliver_GoesOnAfterAMailThatCannotBeTaken(t *testing.T) {
	g, c := &gate{tried: make(chan string, 10), sent: make(chan string, 10)},
		clock.NewManual(time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC))
	g.open.Store(true)
	s, err := Open(Options{
		Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1", Clock: c,
		Sender: g,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := table.Within(t.Context(), mail.Prefix)
	var first table.Write
	for i, to := range []string{"first@example.com", "second@example.com"} {
		w, err := mail.QueueMail(ctx, s.Platform.Sealer, c.Now(),
			mail.Mail{Template: mail.PasswordChanged, To: to, Org: to})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Platform.Table.Write(ctx, w); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = w
		}
	}
	s.Platform.Table = table.NewFaultyStore(s.Platform.Table, c,
		table.Injection{Harm: table.FailBefore, PK: first.Item.PK, Call: 1})
	for range 2 { // the second time there is nothing new
		if err = s.Deliver(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-g.sent; got != "second@example.com" || len(g.sent) != 0 {
		t.Fatalf("sent to %s, and %d more", got, len(g.sent))
	}
	c.Advance(2 * time.Minute)
	if err = s.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-g.sent; got != "first@example.com" {
		t.Errorf("sent to %s", got)
	}
}

// hourly is the machine's clock with hours that pass on the test's command.
type hourly struct {
	later
	slept, passes chan struct{}
}

func (h *hourly) Sleep(ctx context.Context, d time.Duration) error {
	if d != membersEvery {
		return h.later.Sleep(ctx, d)
	}
	select {
	case h.slept <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-h.passes:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hourlyLoops is the number of hourly loops: for archives, members, bills, exports and prices.
const hourlyLoops = 5

// pass lets an hour pass for the loops, and waits until they have done their work.
func (h *hourly) pass() {
	h.by.Add(int64(time.Hour))
	for range hourlyLoops {
		h.passes <- struct{}{}
	}
	for range hourlyLoops {
		<-h.slept
	}
}

// A new subscription in a management group becomes a cloud account within the hour, and a disabled one stops being
// one. The loops alone do both.
func TestTheLoopsFindNewMembersOfOrganizations(t *testing.T) {
	tw := &azuretwin.Cloud{Page: 2}
	tw.FillOrganisation()
	azure := httptest.NewServer(tw)
	defer azure.Close()
	c := &hourly{slept: make(chan struct{}), passes: make(chan struct{})}
	s, err := Open(Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	defer func() { stop(); <-done }()
	for range hourlyLoops {
		<-c.slept
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	demo, err := s.Demo(ctx, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(srv.URL)
	do := func(method, path string, in, out any) {
		t.Helper()
		if _, err := client.enter(ctx, demo.Password); err != nil { // sessions end in the meantime
			t.Fatal(err)
		}
		if err := client.Do(ctx, method, path, in, out); err != nil {
			t.Fatal(err)
		}
		if err := s.AwaitIdle(ctx); err != nil {
			t.Fatal(err)
		}
	}
	do(http.MethodPost, "/cloud-organisations", map[string]any{
		"provider": "azure", "organisationID": "acme", "name": "Acme", "authMethod": "service_principal",
		"permissionLevel": "read_only", "endpointURL": azure.URL,
		"credentials": map[string]string{
			"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
			"clientSecret": azuretwin.Secret,
		},
	}, nil)
	status := func() map[string]string {
		t.Helper()
		var accounts struct {
			Items []struct{ CloudAccountID, Status string }
		}
		if err := s.AwaitIdle(ctx); err != nil { // new accounts are discovered at once
			t.Fatal(err)
		}
		do(http.MethodGet, "/cloud-accounts?provider=azure", nil, &accounts)
		out := map[string]string{}
		for _, a := range accounts.Items {
			out[a.CloudAccountID] = a.Status
		}
		return out
	}
	const added, play = "22222222-0000-0000-0000-000000000009", "22222222-0000-0000-0000-000000000003"
	if got := status(); len(got) != 3 || got[play] != "connected" {
		t.Fatalf("connected are %v", got)
	}
	tw.AddMembers(azuretwin.Member{ID: added, Name: "New", Group: "shop"})
	tw.ChangeMember(play, func(m *azuretwin.Member) { m.State = "Disabled" })
	c.pass()
	if got := status(); len(got) != 4 || got[added] != "connected" || got[play] == "disconnected" {
		t.Errorf("an hour later they are %v; want the closed one as it was, until a listing of the next day agrees",
			got)
	}
	var organisations struct {
		Items []struct {
			ID      string
			Members map[string]int
		}
	}
	if do(http.MethodGet, "/cloud-organisations", nil, &organisations); organisations.Items[0].Members["closed"] != 2 {
		t.Errorf("an hour later the members are %v", organisations.Items[0].Members)
	}
}
