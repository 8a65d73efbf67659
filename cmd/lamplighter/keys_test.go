package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// keyed runs `lamplighter keys` on a folder.
func keyed(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append(append([]string{"keys"}, args...), "-dir", dir), &out, &out)
	return out.String(), err
}

// A service that was set up, told to rotate its keys, and restarted opens its sealed values and accepts its tokens.
func TestKeysAreRotatedUnderAService(t *testing.T) {
	dir, c := t.TempDir(), clock.NewManual(clock.System{}.Now())
	open := func() *local.Service {
		t.Helper()
		s, err := local.Open(local.Options{
			Root: "../..", Dir: dir, NoSync: true, BaseURL: "http://127.0.0.1",
			Clock: c,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	place := seal.Place{Org: "org_1", Kind: "cloud-account", ID: "ca_1"}
	s := open()
	sealed, err := s.Platform.Sealer.Seal(t.Context(), place, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	set := func(s *local.Service) string {
		t.Helper()
		b, err := s.Platform.Tokens.JWKS(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := set(s)
	out, err := keyed(t, dir, "rotate")
	if err != nil || strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, "next ") ||
		!strings.Contains(out, "\ncurrent ") {
		t.Errorf("%q, %v", out, err)
	}
	listed, err := keyed(t, dir, "list")
	if err != nil || listed != out {
		t.Errorf("listed are %q, %v; rotated were %q", listed, err, out)
	}
	c.Advance(time.Minute)
	if after := set(s); strings.Count(after, `"kid"`) != 2 || after == before {
		t.Errorf("a running service publishes %s", after)
	}
	if out, err = keyed(t, dir, "rotate", "-secrets"); err != nil || !strings.Contains(out, "has 2 keys") {
		t.Errorf("%q, %v", out, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	if got, err := s.Platform.Sealer.Open(t.Context(), place, sealed); err != nil || string(got) != "secret" {
		t.Errorf("%q, %v", got, err)
	}
	if out, err = keyed(t, dir, "rotate", "-now", "-revoke"); err != nil || !strings.HasPrefix(out, "current ") {
		t.Errorf("%q, %v", out, err)
	}
	c.Advance(time.Minute)
	if after := set(s); strings.Count(after, `"kid"`) != 1 {
		t.Errorf("after a revocation it publishes %s", after)
	}
}

func TestKeysRefusesWhatMakesNoSense(t *testing.T) {
	for _, args := range [][]string{
		{"rotate", "-secrets", "-now"},
		{"rotate", "-revoke"},
		{"list", "-now"},
		{"steal"},
		{"rotate", "-now", "more"},
		{"rotate"},
		{"list"},
		{"rotate", "-secrets"},
	} {
		dir := t.TempDir() // with no service in it
		if out, err := keyed(t, dir, args...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%v made %v", args, left)
		}
	}
}
