package tabletest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// The tested release of dynoxide, and the expected hash of its package.
const (
	dynoxidePackage = "@dynoxide/linux-x64@1.2.1"
	dynoxideTarball = "dynoxide-linux-x64-1.2.1.tgz"
	dynoxideSum     = "sBHqlxJ9ANkLluFkYRfd5r8Y0ApFew4FhOrlhgRAgD4XzEoFOukEo1nuBTQ1+jTtofqwn4NWQ2k0Tn5mNTjgUg=="
)

// WantPeers skips the test with a message, unless peers are wanted.
func WantPeers(tb testing.TB) {
	tb.Helper()
	npmpeer.SkipUnlessWanted(tb)
}

// NewDynoxide returns a store with a new table in a dynoxide that runs until the test ends. It skips the test with a
// message if dynoxide cannot run.
func NewDynoxide(tb testing.TB) table.Store {
	tb.Helper()
	return table.NewDynamoDB(NewTable(tb, StartDynoxide(tb)))
}

// NewTable creates a new table at the endpoint, and returns its location.
func NewTable(tb testing.TB, endpoint string) table.Remote {
	tb.Helper()
	r := table.Remote{Table: "t" + rand.Text(), Region: "us-east-1", Endpoint: endpoint, KeyID: "peer", Secret: "peer"}
	if err := table.CreateTable(tb.Context(), r); err != nil {
		tb.Fatal(err)
	}
	return r
}

// StartDynoxide starts dynoxide with a new file, and returns its endpoint.
func StartDynoxide(tb testing.TB) string {
	tb.Helper()
	return StartDynoxideIn(tb, tb.TempDir())
}

// StartDynoxideIn starts dynoxide with the file in dir, for tests that copy it.
func StartDynoxideIn(tb testing.TB, dir string) string {
	tb.Helper()
	WantPeers(tb)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		tb.Skip("SKIPPED: dynoxide is only to be had for linux/amd64")
	}
	bin := fetchDynoxide(tb)
	port := npmpeer.FreePort(tb)
	args := []string{"serve", "--host", "127.0.0.1", "--port", port, "--db-path", filepath.Join(dir, "dynoxide.db")}
	npmpeer.StartPeer(tb, exec.Command(bin, args...), port) //nolint:gosec,noctx // verified; ends with the test
	return "http://127.0.0.1:" + port
}

// StartMoto starts moto_server, and returns its endpoint. It skips the test with a message if moto_server is not
// installed.
func StartMoto(tb testing.TB) string {
	tb.Helper()
	WantPeers(tb)
	bin, err := exec.LookPath("moto_server")
	if err != nil {
		tb.Skip("SKIPPED: moto_server is not installed (pip install 'moto[server]')")
	}
	port := npmpeer.FreePort(tb)
	npmpeer.StartPeer(tb, exec.Command(bin, "-p", port), port) //nolint:gosec,noctx // installed; ends with the test
	return "http://127.0.0.1:" + port
}

// fetchDynoxide downloads the program with npm once, and keeps it in build/peers.
func fetchDynoxide(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(npmpeer.ModuleRoot(tb), "build", "peers")
	bin := filepath.Join(dir, strings.TrimSuffix(dynoxideTarball, ".tgz"))
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	if _, err := exec.LookPath("npm"); err != nil {
		tb.Skip("SKIPPED: npm, which fetches dynoxide, is not installed")
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", dynoxidePackage)
	cmd.Dir = tb.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Skipf("SKIPPED: npm cannot fetch %s: %v\n%s", dynoxidePackage, err, out)
	}
	if err := unpackProgram(filepath.Join(cmd.Dir, dynoxideTarball), bin); err != nil {
		tb.Fatal(err)
	}
	return bin
}

// unpackProgram verifies the tarball's hash, and extracts the program.
func unpackProgram(tarball, bin string) error {
	b, err := os.ReadFile(tarball) //nolint:gosec // just fetched
	if err != nil {
		return fmt.Errorf("read %s: %w", tarball, err)
	}
	if sum := sha512.Sum512(b); base64.StdEncoding.EncodeToString(sum[:]) != dynoxideSum {
		return fmt.Errorf("%s does not have the expected sha512 sum", tarball)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("read %s: %w", tarball, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			return fmt.Errorf("find the program in %s: %w", tarball, err)
		}
		if h.Name == "package/dynoxide" {
			return installProgram(r, bin)
		}
	}
}

// installProgram writes the program atomically.
func installProgram(r io.Reader, bin string) error {
	f, err := os.CreateTemp(filepath.Dir(bin), "fetch-*")
	if err != nil {
		return fmt.Errorf("install %s: %w", bin, err)
	}
	_, err = io.Copy(f, r) //nolint:gosec // its hash was verified
	err = errors.Join(err, f.Chmod(0o700), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), bin)
	}
	return err
}

// MotoSkips are the cases that moto 5.2 is known to fail.
var MotoSkips = Skips{
	"a comparison between kinds does not hold": "moto orders a text against a number and answers 500 " +
		"(a TypeError of its own)",
	"a page counts what has expired, and a full one goes on": "moto gives a page that is just full no cursor when " +
		"nothing comes after it; DynamoDB does",

	"the meter counts round trips and units": "moto reports one capacity unit whatever the size, half a unit for " +
		"strongly consistent reads and none in transactions",

	"transactions in conflict are each done or refused": "moto copies the table before a transaction and " +
		"puts the copy back when it fails: what others wrote meanwhile is lost",
	"2,400 parallel conditional adds from 12 stores stay exact": "moto tests and adds without a lock, and answers " +
		"240 writers at once so slowly that calls end at their deadline",
}
