package seal_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

var here = seal.Place{Org: "org_1", Kind: "cloud-account", ID: "ca_1"}

func newSealer(tb testing.TB, path string) *seal.Envelope {
	tb.Helper()
	kek, err := seal.OpenKeyFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return seal.NewEnvelope(kek)
}

func TestASecretOpensInItsPlace(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "key")
	for _, plain := range [][]byte{nil, []byte("s"), bytes.Repeat([]byte("secret"), 10_000)} {
		sealed, err := newSealer(t, path).Seal(ctx, here, plain)
		if err != nil {
			t.Fatal(err)
		}
		if len(plain) > 1 && bytes.Contains(sealed, plain[:6]) {
			t.Error("the secret stands in what was sealed")
		}
		got, err := newSealer(t, path).Open(ctx, here, sealed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes come back as %d, %v", len(plain), len(got), err)
		}
	}
}

func TestSealingTwiceShowsNoSameness(t *testing.T) {
	s := newSealer(t, filepath.Join(t.TempDir(), "key"))
	one, err := s.Seal(context.Background(), here, []byte("the same secret"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Seal(context.Background(), here, []byte("the same secret"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(one, two) || bytes.Equal(one[len(one)-16:], two[len(two)-16:]) {
		t.Error("two seals of one secret are alike")
	}
}

func TestASecretDoesNotOpenElsewhere(t *testing.T) {
	ctx := context.Background()
	s := newSealer(t, filepath.Join(t.TempDir(), "key"))
	sealed, err := s.Seal(ctx, here, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]seal.Place{
		"another organization": {Org: "org_2", Kind: here.Kind, ID: here.ID},
		"another kind":         {Org: here.Org, Kind: "webhook", ID: here.ID},
		"another id":           {Org: here.Org, Kind: here.Kind, ID: "ca_2"},
		"shifted borders":      {Org: "org_1c", Kind: "loud-account", ID: here.ID},
		"nowhere":              {},
	} {
		t.Run(name, func(t *testing.T) { refused(t, s, p, sealed) })
	}
	t.Run("another key file", func(t *testing.T) {
		refused(t, newSealer(t, filepath.Join(t.TempDir(), "key")), here, sealed)
	})
}

func refused(t *testing.T, s seal.Sealer, p seal.Place, sealed []byte) {
	t.Helper()
	got, err := s.Open(context.Background(), p, sealed)
	if err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("opened as %q, %v", got, err)
	}
}

func TestDamageIsNoticed(t *testing.T) {
	ctx := context.Background()
	s := newSealer(t, filepath.Join(t.TempDir(), "key"))
	sealed, err := s.Seal(ctx, here, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := s.Open(ctx, here, bad); err == nil {
			t.Errorf("byte %d changed, and it opened", i)
		}
		if _, err := s.Open(ctx, here, sealed[:i]); err == nil {
			t.Errorf("cut to %d bytes, and it opened", i)
		}
	}
}

func TestKeyFiles(t *testing.T) {
	t.Run("are made for their owner alone", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		newSealer(t, path)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
			t.Errorf("%v, %v", info, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-key-*")); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	for _, mode := range []os.FileMode{0o644, 0o640, 0o660, 0o602} {
		t.Run("are refused with mode "+mode.String(), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			newSealer(t, path)
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			if _, err := seal.OpenKeyFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
				t.Errorf("error %v does not say what to do", err)
			}
		})
	}
	t.Run("are refused with another size", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, make([]byte, 31), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.OpenKeyFile(path); err == nil || !strings.Contains(err.Error(), "31") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("rotate: the first wraps, the others still open", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		before := newSealer(t, path)
		old, err := before.Seal(context.Background(), here, []byte("old"))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := seal.RotateKeyFile(path); n != 2 || err != nil {
			t.Fatalf("%d keys, %v", n, err)
		}
		after := newSealer(t, path)
		fresh, err := after.Seal(context.Background(), here, []byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*seal.Envelope{before, after} { // the process that continues to run reads the file again
			for sealed, want := range map[string]string{string(old): "old", string(fresh): "new"} {
				if got, err := s.Open(context.Background(), here, []byte(sealed)); err != nil || string(got) != want {
					t.Errorf("%q, %v; want %q", got, err, want)
				}
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		alone := filepath.Join(t.TempDir(), "alone")
		if err := os.WriteFile(alone, b[:32], 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, newSealer(t, alone), here, old)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	})
	t.Run("are not rotated when they are bad, or not there", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		if _, err := seal.RotateKeyFile(path); err == nil {
			t.Error("made of nothing")
		}
		for _, size := range []int{0, 31, 64 * 32} {
			if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := seal.RotateKeyFile(path); err == nil {
				t.Errorf("one of %d bytes", size)
			}
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.RotateKeyFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("one that others can read: %v", err)
		}
	})
	t.Run("are refused as links", func(t *testing.T) {
		dir := t.TempDir()
		newSealer(t, filepath.Join(dir, "key"))
		if err := os.Symlink(filepath.Join(dir, "key"), filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.OpenKeyFile(filepath.Join(dir, "link")); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("made by many at once are one", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "key")
		sealers := make([]*seal.Envelope, 16)
		var wg sync.WaitGroup
		for i := range sealers {
			wg.Go(func() { sealers[i] = newSealer(t, path) })
		}
		wg.Wait()
		sealed, err := sealers[0].Seal(context.Background(), here, []byte("secret"))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range sealers {
			if _, err := s.Open(context.Background(), here, sealed); err != nil {
				t.Errorf("sealer %d has another key: %v", i, err)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "key")
	if err := os.WriteFile(path, make([]byte, 32), 0o600); err != nil { // the same key in every process of the fuzzer
		f.Fatal(err)
	}
	s := newSealer(f, path)
	sealed, err := s.Seal(context.Background(), here, []byte("secret"))
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range [][]byte{sealed, nil, {1}, {1, 255, 255}, {1, 0, 0}, {2, 0, 0}} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := s.Open(context.Background(), here, b); err == nil && string(got) != "secret" {
			t.Errorf("opened %x as %q", b, got)
		}
	})
}
