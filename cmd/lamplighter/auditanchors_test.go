package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/foundation/clock"
)

// anchorNight makes a night of anchors on the folder of a service that does not run, in place of those from before.
func anchorNight(t *testing.T, dir string) {
	t.Helper()
	s, err := local.Open(local.Options{Root: "../..", Dir: dir, NoSync: true, BaseURL: "http://lamplighter.test"})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(s.LinkAudit(context.Background()), os.RemoveAll(filepath.Join(dir, "anchors")))
	if err = errors.Join(err, s.AnchorAudit(context.Background()), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// auditor logs in anew, for a service that was started anew.
func auditor(e *testenv.Env) *testenv.Client {
	c := e.NewClient()
	c.LogIn("auditor@example.com", "")
	return c
}

// verifyAnchored returns the verdict over HTTP.
func verifyAnchored(c *testenv.Client) (v audit.Verdict) {
	c.Call(http.MethodGet, "/audit-logs/verify", nil, &v)
	return v
}

// TestAnchors_AnOlderCopyOfTheStoreIsDetected puts an older copy of the store back. The interface and the program tell,
// until the operator records the restore.
func TestAnchors_AnOlderCopyOfTheStoreIsDetected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, older := filepath.Join(dir, "store.db"), filepath.Join(t.TempDir(), "older.db")
	e := testenv.Start(t, testenv.Setup{Dir: dir})
	owner := e.NewOwner("auditor@example.com")
	owner.Call(http.MethodPost, "/resource-groups", map[string]any{"name": "before"}, nil)
	if v := verifyAnchored(owner); !v.Holds || v.Anchor.State != audit.NoAnchor {
		t.Errorf("before the first night: %+v", v)
	}
	e.Stop()
	copyFile(t, store, older)
	e.Restart()
	owner = auditor(e)
	for i := range 3 {
		owner.Call(http.MethodPost, "/resource-groups", map[string]any{"name": fmt.Sprint("lost ", i)}, nil)
	}
	verifyAnchored(owner) // links what waits
	e.Stop()
	anchorNight(t, dir)
	e.Restart()
	owner = auditor(e)
	if v := verifyAnchored(owner); !v.Holds || v.Anchor.State != audit.AnchorHolds {
		t.Errorf("after the night: %+v", v)
	}
	keys, err := e.Platform.Tokens.JWKS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.Stop()
	p := anchorProgram{t, dir, owner.Org, filepath.Join(t.TempDir(), "keys.json")}
	if err := os.WriteFile(p.keys, keys, 0o600); err != nil {
		t.Fatal(err)
	}
	p.says("the chain holds", "signature      verified", "1 of 1 nights")

	copyFile(t, older, store)
	p.says("older copy of the store was put back")
	e.Restart()
	owner = auditor(e)
	if v := verifyAnchored(owner); v.Holds || v.Anchor.State != audit.AnchorBroken || v.BrokenAt == nil ||
		!strings.Contains(v.BrokenAt.Why, "older copy") || !strings.Contains(v.BrokenAt.Why, "restore.md") {
		t.Errorf("on the older copy: %+v %+v", v, v.BrokenAt)
	}
	e.Stop()
	e.Setup.Epoch = clock.System{}.Now()
	e.Restart()
	owner = auditor(e)
	if v := verifyAnchored(owner); !v.Holds || v.Anchor.State != audit.AnchorRestored || len(v.Restores) != 1 {
		t.Errorf("with the epoch: %+v %+v", v, v.BrokenAt)
	}
}

// anchorProgram runs `lamplighter audit` on the folder of a service.
type anchorProgram struct {
	t        *testing.T
	dir, org string
	keys     string
}

// says exports the chain, verifies it with its anchors, and compares what is printed.
func (p anchorProgram) says(want ...string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "export.ndjson")
	if err := os.WriteFile(file, []byte(printed(p.t, "export", "-dir", p.dir, "-org", p.org)), 0o600); err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(p.t.Context(), []string{
		"audit", "verify", "-anchors", filepath.Join(p.dir, "anchors"), "-org", p.org, "-keys", p.keys, file,
	}, &out, io.Discard)
	for _, w := range want {
		if !strings.Contains(out.String()+fmt.Sprint(err), w) {
			p.t.Errorf("audit verify prints %s and %v, want %q", &out, err, w)
		}
	}
}

// copyFile copies a file.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from) //nolint:gosec // of the test
	if err == nil {
		err = os.WriteFile(to, b, 0o600) //nolint:gosec // of the test
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditVerify_SaysWhatItWantsOfAnchors(t *testing.T) {
	x := exported(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte(x.first), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"-anchors and -org together": {"-anchors", dir},
		"there are no anchors in":    {"-anchors", dir, "-org", "org_1"},
		"neither a set of JSON Web":  {"-anchors", dir, "-org", "org_1", "-keys", file},
		"read -keys":                 {"-anchors", dir, "-org", "org_1", "-keys", filepath.Join(dir, "none")},
	} {
		err := run(t.Context(), append(append([]string{"audit", "verify"}, args...), file), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
