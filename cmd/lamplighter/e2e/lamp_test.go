package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/identity/grant"
)

// maxCompletion is how long a Tab may take, in a warm service.
const maxCompletion = 150 * time.Millisecond

// lamp is the command line of one user, whose standard input is no terminal.
type lamp struct {
	t       *testing.T
	program string
	folder  string
}

// buildLamp compiles the program.
func buildLamp(t *testing.T) string {
	t.Helper()
	t.Helper()
	path := filepath.Join(t.TempDir(), "lamp")
	build := exec.Command("go", "build", "-o", path, "lamplighter.dev/cmd/lamp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// newLamp returns the command line of a user who has signed in.
func newLamp(t *testing.T, program, url, email string) *lamp {
	t.Helper()
	t.Helper()
	l := &lamp{t: t, program: program, folder: t.TempDir()}
	l.pipe(testenv.Password, 0, "login", "--api", url, "--email", email)
	return l
}

// pipe runs a command with the text as its standard input. It must end with the exit code.
func (l *lamp) pipe(input string, code int, args ...string) string {
	l.t.Helper()
	c := exec.Command(l.program, args...)
	c.Env = append(os.Environ(), "LAMPLIGHTER_CONFIG_DIR="+l.folder, "LAMPLIGHTER_TOKEN=", "LAMPLIGHTER_API=",
		"LAMPLIGHTER_CONTEXT=")
	c.Stdin = strings.NewReader(input)
	var out, said strings.Builder
	c.Stdout, c.Stderr = &out, &said
	_ = c.Run() // the exit code says it
	if got := c.ProcessState.ExitCode(); got != code {
		l.t.Fatalf("lamp %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(),
			said.String())
	}
	return out.String() + said.String()
}

// run runs a command line, split at spaces. The output must hold the texts.
func (l *lamp) run(code int, line string, texts ...string) string {
	l.t.Helper()
	out := l.pipe("", code, strings.Fields(line)...)
	for _, s := range texts {
		if !strings.Contains(out, s) {
			l.t.Errorf("lamp %s: %q is missing in\n%s", line, s, out)
		}
	}
	return out
}

// TestLamp_DoesAUsersDay uses the compiled command line with the whole service.
func TestLamp_DoesAUsersDay(t *testing.T) {
	t.Parallel()
	e := testenv.Start(t, testenv.Setup{})
	ada := e.NewOwner("ada@example.com")
	ada.ConnectAccount("111122223333", testenv.FastCloud(200))
	some := testenv.RunningInstances(t, ada, 2)
	ada.Call(http.MethodPost, "/resource-groups", map[string]any{"name": "Shop", "members": []map[string]any{
		{"resourceID": some[0].ID, "tier": 1}, {"resourceID": some[1].ID, "tier": 2},
	}}, nil)
	ada.Call(http.MethodPost, "/schedules", map[string]any{
		"name": "Nights", "timezone": "Europe/Berlin", "enabled": false,
		"crons": []map[string]string{{"cronExpression": "0 20 * * *", "action": "stop"}},
	}, nil)
	program := buildLamp(t)
	l := newLamp(t, program, e.URL, "ada@example.com")

	l.run(0, "whoami", "ada@example.com", e.URL)
	l.run(0, "get resources --limit 1 -o csv", "name,status,type", "1 are shown, and there may be more")
	l.run(0, "get groups", "Shop", "2")
	l.run(5, "get groups nosuch", "lamp get groups lists them")
	l.run(0, "describe group shop", "failurePolicy: continue")
	l.run(0, "stop group shop --dry-run", "Would stop 2 resources in 2 steps", "Nothing was done")
	l.run(2, "stop group shop", "add --yes")
	l.run(0, "get history", "CHANGED") // still empty
	l.run(0, "stop group shop --yes --wait", "completed: 2 of 2 done", "bulk_")
	l.run(0, "get history -o csv", "stopped", some[0].UID)
	l.run(0, "get bulk", "completed")
	l.run(0, "stop group shop", "Would stop 0 resources; 2 left out", "Nothing was done")

	held := strings.Fields(l.run(0, "hold group shop --on --until 4h --reason test --yes", "Would start 2 resources"))
	e.WaitSettled()
	l.run(0, "get overrides", "force_on")
	l.run(0, "release "+held[0]+" --yes", held[0])
	l.run(0, "wake-link group shop --yes", "/wake/")
	l.run(0, "schedules preview Nights -o csv", "localTime,at,action", "disabled")
	l.run(0, "schedules attach Nights --group shop --yes", "Would attach Shop to Nights")
	l.run(0, "schedules enable Nights --yes", "on 2 resources")
	l.run(0, "schedules disable Nights --yes", "sch_")
	l.run(0, "schedules detach Nights --group shop --yes", "Would detach Shop")
	l.run(0, "costs --by account", "Total")
	l.run(0, "budgets status", "NAME")
	l.run(0, "api GET /resources/summary", `"total": 200`)
	l.run(1, "api POST /teams -F name=", "request")

	testCompletion(l)
	testRenewal(l)
	testRefusal(t, ada, program, e.URL)
	l.run(0, "logout", "Signed out")
	l.run(4, "get groups", "run lamp login")
}

// testCompletion completes a name, and measures how long a Tab takes when the service is warm.
func testCompletion(l *lamp) {
	l.t.Helper()
	least := time.Hour
	for range 20 { // other programs may disturb single runs
		began := time.Now()
		l.run(0, "__complete stop group s", "Shop")
		if least = min(least, time.Since(began)); least <= maxCompletion {
			break
		}
	}
	if l.t.Logf("a Tab takes %s", least); least > maxCompletion {
		l.t.Errorf("a Tab takes %s, at most %s are allowed", least, maxCompletion)
	}
}

// testRenewal replaces the access token by one that the service refuses.
func testRenewal(l *lamp) {
	l.t.Helper()
	path := filepath.Join(l.folder, "credentials.json")
	b, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	expired := strings.Replace(string(b), `"accessToken": "`, `"accessToken": "x`, 1)
	if expired == string(b) {
		l.t.Fatalf("no access token in %s", path)
	}
	if err = os.WriteFile(path, []byte(expired), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.run(0, "get groups", "Shop")
	renewed, err := os.ReadFile(path)
	info, err2 := os.Stat(path)
	if err != nil || err2 != nil || string(renewed) == expired || info.Mode().Perm() != 0o600 {
		l.t.Errorf("the file was not renewed, or has mode %v: %v %v", info.Mode(), err, err2)
	}
	if err = os.Chmod(path, 0o644); err != nil {
		l.t.Fatal(err)
	}
	l.run(4, "get groups", "may be read by other users", "lamp login")
	if err = os.Chmod(path, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// testRefusal has a colleague without the right to act try it.
func testRefusal(t *testing.T, ada *testenv.Client, program, url string) {
	t.Helper()
	ada.InviteColleague("eve@example.com", grant.Viewer)
	eve := newLamp(t, program, url, "eve@example.com")
	eve.run(0, "get groups", "Shop")
	eve.run(1, "stop group shop --yes", "403, request")
}
