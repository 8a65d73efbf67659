package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/race"
)

// served is a `lamplighter serve` in this process.
type served struct {
	mu    sync.Mutex
	out   bytes.Buffer
	dir   string        // folder of the service; empty if the test has no use for it
	last  string        // printed only when the service is ready
	ready chan struct{} // gets one value then
	done  chan error    // closed behind its one value
	stop  context.CancelFunc
}

// Write stores the output of the command, and signals ready at the line that ends its start.
func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := bytes.Contains(s.out.Bytes(), []byte(s.last))
	s.out.Write(p)
	if !before && bytes.Contains(s.out.Bytes(), []byte(s.last)) {
		s.ready <- struct{}{}
	}
	return len(p), nil
}

// lastCommand is a text in the last of the printed first commands.
const lastCommand = `"resourceUID"`

func (s *served) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// serveIn runs the command on the folder dir until the test ends, and waits until it has printed the first commands.
func serveIn(t *testing.T, dir string) *served {
	t.Helper()
	s := serveUntil(t, lastCommand, func(ctx context.Context, out io.Writer) error {
		return run(ctx, []string{"serve", "-root", "../..", "-dir", dir, "-addr", "127.0.0.1:0"}, out, io.Discard)
	})
	s.dir = dir
	return s
}

// inFolder returns commands of the documentation with the folder of this service in the place of .lamplighter, which
// is that of make run.
func (s *served) inFolder(commands string) string {
	return strings.ReplaceAll(commands, ".lamplighter/", s.dir+"/")
}

// serveUntil runs a command until the test ends, and waits until it has printed last.
func serveUntil(t *testing.T, last string, command func(context.Context, io.Writer) error) *served {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	s := &served{last: last, ready: make(chan struct{}, 1), done: make(chan error, 1), stop: stop}
	go func() {
		s.done <- command(ctx, s)
		close(s.done)
	}()
	t.Cleanup(func() {
		s.stop()
		<-s.done
	})
	select {
	case err := <-s.done:
		t.Fatalf("serve ended: %v\n%s", err, s.printed())
	case <-s.ready:
	}
	return s
}

// shut stops the command and checks that it ends without an error.
func (s *served) shut(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("serve ended with: %v", err)
	}
}

// needShell skips the test on systems without a shell for the commands.
func needShell(t *testing.T) {
	t.Helper()
	race.SkipRacedBy(t, "cmd/lamplighter/e2e")
	for _, tool := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: no %s on this machine: the commands were not tried", tool)
		}
	}
}

func TestTheWalkOfTheReadmeWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk of the README waits for a real stop")
	}
	s := serveIn(t, t.TempDir())
	out := s.paste(t, t.TempDir(), section(t, "Now try it:\n\n```sh\n", "```"))
	answers := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool { return line == "" })
	for i, a := range answers {
		if !strings.HasPrefix(a, `{"data":`) {
			t.Errorf("answer %d of %d: %.300s", i+1, len(answers), a)
		}
	}
	for _, want := range []string{
		`"status":"succeeded"`, `"changedBy":"manual:demo@lamplighter.example"`,
		`"total":1`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nowhere in the answers: %s", want)
		}
	}
	s.shut(t)
}

// TestREADME_TheFirstCommandsWork runs the commands of the README, which need no shell function of the tour.
func TestREADME_TheFirstCommandsWork(t *testing.T) {
	t.Parallel()
	needShell(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, commands, found := strings.Cut(string(readme), "```sh\nAPI=http://127.0.0.1:8080\n")
	commands, _, closed := strings.Cut(commands, "```")
	if !found || !closed {
		t.Fatal("the README has no commands to try first")
	}
	s := serveIn(t, t.TempDir())
	script := "API=" + s.address() + "\n" + s.inFolder(commands)
	out, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script).CombinedOutput() //nolint:gosec // ours
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantIn(t, string(out), `"data":{"total":360,`, `"type":"aws-ec2"`, `"totalCostUSD":"`, `"service_name"`)
	s.shut(t)
}

// paste runs commands of the tour after its first block, in a folder, and returns their output.
func (s *served) paste(t *testing.T, dir, commands string) string {
	t.Helper()
	before := section(t, "```sh\nAPI=http://127.0.0.1:8080\n", "```")
	script := "API=" + s.address() + "; TOKEN=\n" + s.inFolder(before+commands)
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script) //nolint:gosec // the commands of the tour
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// wantIn checks that the output of commands contains the texts, and no error.
func wantIn(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(out, want) {
			t.Errorf("nowhere in the answers: %s", want)
		}
	}
	if strings.Contains(out, `{"error":`) {
		t.Error("an error is in the answers")
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestTheWalkThatTellsAndPreparesWorks runs the commands of the tour's page on notifications, autoscaling and event
// readiness.
func TestTheWalkThatTellsAndPreparesWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk waits for a real stop")
	}
	s := serveIn(t, t.TempDir())
	out := s.paste(t, t.TempDir(), section(t, "# Notifications, and capacity for an event\n\n"+pasteFirst, "```"))
	wantIn(t, out, `"created":2,"updated":0`, `"secret":"whsec_`, `"eventKey":"resource.stopped"`,
		`"method":"multiplier"`, `"estimatedExtraCost":`,
		`"ready":true`, `"shortfall":0`, `"eventId":"evt_`, `"key":"cost.anomaly.team.emergency"`)
	s.shut(t)
}

// TestTheWalkWithFaultsKeepsToItsOrganization runs the tour's commands for a cloud with faults, and checks that the
// demo's organization does not have that cloud.
func TestTheWalkWithFaultsKeepsToItsOrganization(t *testing.T) {
	t.Parallel()
	needShell(t)
	s := serveIn(t, t.TempDir())
	out := s.paste(t, t.TempDir(),
		section(t, "out of the demo's budgets and reports.\n\n"+pasteFirst, "```")+"\nget /cloud-accounts\n")
	wantIn(t, out, `"name":"Faulty"`, `"total":5,`)
	if _, demo, _ := strings.Cut(out, `"total":5,`); strings.Contains(demo, "Faulty") {
		t.Errorf("the cloud with faults is in the demo's organization: %s", out)
	}
	s.shut(t)
}

// TestWaitFor_GivesUpWithAMessage runs the tour's wait_for, with a sleep of no time, against an answer that never
// contains the text.
func TestWaitFor_GivesUpWithAMessage(t *testing.T) {
	t.Parallel()
	needShell(t)
	before := section(t, "```sh\nAPI=http://127.0.0.1:8080\n", "login\n\n# wait_for")
	waits := section(t, "after 3 minutes it gives up and says so\n", "```")
	script := before + waits +
		"\nsleep() { :; }\nget() { echo '{\"data\":{\"status\":\"failed\"}}'; }\nwait_for /x '\"status\":\"ok\"'\n"
	out, err := exec.CommandContext(t.Context(), "bash", "-u", "-c", script).CombinedOutput()
	if err == nil || !strings.Contains(
		string(out), `gave up waiting for "status":"ok" at /x; the last answer was: {"data":{"status":"failed"}}`) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestTheWalkWithPeopleWorks runs the commands of the tour's page on people, tokens and the audit log.
func TestTheWalkWithPeopleWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	people := section(t, "# People, roles, tokens and the audit log\n\n"+pasteFirst, "```")
	people, verify, found := strings.Cut(people, "go run ./cmd/lamplighter ")
	if !found {
		t.Fatal("the tour does not prove its export")
	}
	work := t.TempDir()
	s := serveIn(t, t.TempDir())
	out := s.paste(t, work, people)
	for i, answer := range strings.Split(strings.TrimSpace(out), "\n") {
		if answer != "" && !strings.HasPrefix(answer, `{"data":`) {
			t.Errorf("answer %d: %.300s", i+1, answer)
		}
	}
	wantIn(t, out, `"data":{"total":1,`, `"holds":true`, `"action":"createPersonalAccessToken"`)
	args := strings.Fields(verify)[1:] // without the word audit
	args[len(args)-1] = filepath.Join(work, args[len(args)-1])
	if proof := printed(t, args...); !strings.Contains(proof, "the chain holds") {
		t.Errorf("the proof: %s", proof)
	}
	s.shut(t)
}

// TestTheWalkWithRecommendationsWorks runs the commands of the tour's page on recommendations: a change is approved by
// another person, carried out, and taken back.
func TestTheWalkWithRecommendationsWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk waits for bills and a real stop")
	}
	s := serveIn(t, t.TempDir())
	first := section(t, "weeks of metrics are in. Paste the first block of "+
		"[first-steps.md](first-steps.md) before this one.\n\n```sh\n", "```")
	second := section(t, "Paste both blocks above before this one.\n\n```sh\n", "```")
	third := section(t, "Paste all blocks above before this one.\n\n```sh\n", "```")
	out := s.paste(t, t.TempDir(), first+second+third)
	wantIn(t, out, `"reason":"needs_agent"`, `"total":14,`, `"verb":"setting"`, `"verb":"set-lifecycle"`,
		`"verb":"resize"`, `"verb":"scale"`, `"verb":"guard"`, `"verb":"release"`, `"verb":"delete"`,
		`"verb":"change-storage"`, `"status":"marked"`,
		`"byCategory":{`, `"executable":true`, `"status":"dismissed"`, `"approved by ada@example.com"`,
		"what was changed is given back", `"realizedUSD":"`, `"source":"bill of `)
	s.shut(t)
}

// TestTheWalkWithSchedulesWorks runs the commands of the tour's page on schedules, overrides and links.
func TestTheWalkWithSchedulesWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk waits for a real stop")
	}
	s := serveIn(t, t.TempDir())
	out := s.paste(t, t.TempDir(), section(t, "# Schedules and overrides\n\n"+pasteFirst, "```"))
	wantIn(t, out, `"warnings":[]`, `"skipped":"calendar"`, `"changedBy":"override:force_off"`, `{"data":{"id":"ovr_`,
		"/wake/")
	s.shut(t)
}

// TestTheWalkWithCostsWorks runs the commands of the tour's page on costs, and compares the last month with the
// bills.
func TestTheWalkWithCostsWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk waits for 13 months of bills, and until they are judged")
	}
	costs := section(t, "resources were stopped are there as well.\n\n"+pasteFirst, "```")
	s, dir := serveIn(t, t.TempDir()), t.TempDir()
	now := clock.System{}.Now().UTC()
	last := now.AddDate(0, 0, -now.Day()).Format("2006-01")
	check := "\nget '/reports/summary?period=" + last + "'\n"
	out := s.paste(t, dir, costs+check)
	var planted money.Amount
	for _, a := range local.DemoAccounts(now) {
		plan, err := simulated.Planted(a, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range plan.Months {
			if m.Period.Format("2006-01") == last {
				planted = planted.Add(m.Billed)
			}
		}
	}
	wantIn(t, out, `"totalCostUSD":"`+planted.Fixed(2)+`"`, `"signal":"`, `"anomalyType":"`, `"name":"Unassigned"`,
		`"changedBy":"schedule:Weekends off:`,
		`{"provider":"other","count":0,"costUSD":"120.50"}`, `"forecastUSD":{`, `"widgets":[`, `"priceUSD":"`,
		`"columns":["ChargeCategory","BillingCurrency","BilledCost"]`, `"idleUSD":"`)
	picture, err := os.ReadFile(filepath.Join(dir, "trends.svg"))
	if err != nil || !bytes.HasPrefix(picture, []byte("<svg")) {
		t.Errorf("the picture: %v, %.100s", err, picture)
	}
	s.shut(t)
}

func TestThePrintedCommandsWorkWhenTheyArePasted(t *testing.T) {
	needShell(t)
	dir := t.TempDir()
	for _, start := range []string{"first", "second"} {
		s := serveIn(t, dir)
		_, commands, found := strings.Cut(s.printed(), "  TOKEN=")
		if !found || strings.Count(commands, "curl ") != 3 {
			t.Fatalf("%s start: not three commands:\n%s", start, s.printed())
		}
		out, err := exec.CommandContext(t.Context(), "bash", "-euc", "TOKEN="+commands).CombinedOutput()
		if err != nil {
			t.Fatalf("%s start: %v\n%s", start, err, out)
		}
		var resources struct {
			Data []struct{ Status string } `json:"data"`
		}
		var action struct {
			Data struct{ ActionID string } `json:"data"`
		}
		answers := json.NewDecoder(bytes.NewReader(out))
		if err = answers.Decode(&resources); err != nil || len(resources.Data) != 3 ||
			resources.Data[0].Status != "running" {
			t.Errorf("%s start: the list: %v\n%s", start, err, out)
		}
		if err = answers.Decode(&action); err != nil || !strings.HasPrefix(action.Data.ActionID, "act_") {
			t.Errorf("%s start: the action: %v\n%s", start, err, out)
		}
		s.shut(t)
	}
}

func TestWhatServeKeepsIsForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	serveIn(t, dir).shut(t)
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if files++; err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// A damaged store is refused by every command that opens one, in one line and before anything is answered.
func TestServe_RefusesADamagedStoreInOneLine(t *testing.T) {
	sound := t.TempDir()
	store, err := table.Open(filepath.Join(sound, "store.db"), table.Options{NoSync: true, Layout: platform.Layout})
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(sound, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(b)
	altered[bytes.Index(b, []byte("lamplighter table"))] ^= 1
	for name, damaged := range map[string][]byte{
		"empty": nil, "cut": b[:3*os.Getpagesize()], "altered": altered, "zeros": make([]byte, len(b)),
	} {
		for _, args := range [][]string{
			{"serve", "-root", "../..", "-addr", "127.0.0.1:0"},
			{"audit", "export", "-org", "org_1"},
			{"work", "parked"},
			{"mails", "dead"},
		} {
			dir, out := t.TempDir(), &bytes.Buffer{}
			if err = os.WriteFile(filepath.Join(dir, "store.db"), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(t.Context(), append(args, "-dir", dir), out, io.Discard)
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "store.db") {
				t.Errorf("%s, %v: %v", name, args, err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "store.db")); !bytes.Equal(got, damaged) || out.Len() > 0 {
				t.Errorf("%s, %v: it was changed, or something was printed: %s %v", name, args, out, err)
			}
		}
	}
}

func TestServeRefusesAndSaysWhatToDo(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	foreign := t.TempDir()
	if err = os.WriteFile(filepath.Join(foreign, "store.db"), bytes.Repeat([]byte("a shopping list\n"), 4096),
		0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		args []string
		want string
	}{
		"a port that another program has": {
			[]string{"-addr", busy.Addr().String()},
			"another program answers on " + busy.Addr().String(),
		},
		"an address that others reach":      {[]string{"-addr", "0.0.0.0:0"}, "must be a loopback address"},
		"an address without a port":         {[]string{"-addr", "127.0.0.1"}, "must be host:port"},
		"a store file of another program":   {[]string{"-addr", "127.0.0.1:0", "-dir", foreign}, "store.db"},
		"a folder without a template":       {[]string{"-addr", "127.0.0.1:0", "-root", foreign}, "-root"},
		"a kind of store that there is not": {[]string{"-store", "abacus"}, `-store is "abacus"`},
		"words after the flags":             {[]string{"now"}, `not "now"`},
		"a provider without its secret":     {[]string{"-google-client-id", "x"}, "LAMPLIGHTER_GOOGLE_CLIENT_SECRET"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"serve", "-root", "../..", "-dir", t.TempDir()}, c.args...)
			err := run(t.Context(), args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	b, err := os.ReadFile(filepath.Join(foreign, "store.db"))
	if err != nil || !bytes.Equal(b, bytes.Repeat([]byte("a shopping list\n"), 4096)) {
		t.Errorf("the foreign file was touched: %v", err)
	}
}
