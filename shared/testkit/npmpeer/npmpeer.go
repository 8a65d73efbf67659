// Package npmpeer starts programs of other makers beside a test: servers from npm that test this service. It starts
// nothing unless peers are requested, and skips the test when a program is not available.
package npmpeer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Variable set to 1 lets tests start peers.
const Variable = "LAMPLIGHTER_PEERS"

const (
	fetchTime = 3 * time.Minute
	startTime = 30 * time.Second
)

// SkipUnlessWanted skips the test with a message, unless peers are requested.
func SkipUnlessWanted(tb testing.TB) {
	tb.Helper()
	if os.Getenv(Variable) != "1" {
		tb.Skip("SKIPPED: set " + Variable + "=1 to run against other makers' programs")
	}
}

// InstallNode installs packages of npm, each with its exact version, into a folder of build/peers that is kept, and
// returns the folder: the packages are in its node_modules. The test is skipped when node or npm is missing or cannot
// fetch them.
func InstallNode(tb testing.TB, name string, packages ...string) string {
	tb.Helper()
	SkipUnlessWanted(tb)
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			tb.Skip("SKIPPED: " + tool + " is not installed, which " + name + " needs")
		}
	}
	dir := filepath.Join(ModuleRoot(tb), "build", "peers", name+"-"+fingerprint(packages))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	install(tb, dir, packages)
	return dir
}

// fingerprint names a set of packages in a folder's name.
func fingerprint(packages []string) string {
	return strings.NewReplacer("/", "_", "@", "-").Replace(strings.Join(packages, "+"))
}

// install fetches the packages into a folder beside dir, and then renames it to dir, so that dir is complete or
// missing. Scripts of packages do not run.
func install(tb testing.TB, dir string, packages []string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		tb.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "fetch-*")
	if err != nil {
		tb.Fatal(err)
	}
	defer os.RemoveAll(fresh) //nolint:errcheck // a leftover is harmless
	ctx, cancel := context.WithTimeout(tb.Context(), fetchTime)
	defer cancel()
	args := append([]string{"install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"},
		packages...)
	cmd := exec.CommandContext(ctx, "npm", args...) //nolint:gosec // what a test names
	cmd.Dir = fresh
	if err = os.WriteFile(filepath.Join(fresh, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
		tb.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Skipf("SKIPPED: npm cannot fetch %s: %v\n%s", strings.Join(packages, ", "), err, out)
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		tb.Fatal(err)
	}
}

// FreePort returns a port on which no program listens.
func FreePort(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // for a moment only
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // a TCP listener has one
}

// StartPeer runs cmd until the test ends, and waits until it listens on the ports.
func StartPeer(tb testing.TB, cmd *exec.Cmd, ports ...string) {
	tb.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if tb.Failed() && testing.Verbose() {
			tb.Logf("%s said:\n%s", cmd.Path, out.String())
		}
	})
	for _, port := range ports {
		listening(tb, cmd.Path, port)
	}
}

func listening(tb testing.TB, program, port string) {
	tb.Helper()
	for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			tb.Fatalf("%s does not listen on %s: %v", program, port, err)
		}
	}
}

// ModuleRoot returns the folder of go.mod.
func ModuleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	tb.Fatalf("no go.mod above the working directory: %v", err)
	return ""
}
