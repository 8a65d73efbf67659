package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Without the pepper no address of the store is found again, and without the key of secrets no credential opens. A new
// key in place of a lost one would make both look like an empty store.
func TestOpen_RefusesAStoreWithoutItsKeys(t *testing.T) {
	for _, key := range []string{"pepper.key", "secrets.key"} {
		t.Run(key, func(t *testing.T) {
			o := Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"}
			reopen(t, o)
			path := filepath.Join(o.Dir, "keys", key)
			lost, err := os.ReadFile(path) //nolint:gosec // of the test
			if err == nil {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(o)
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) ||
				!strings.Contains(err.Error(), "restore it") {
				t.Errorf("without %s: %v", key, err)
			}
			if _, err = os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("a new key is in its place: %v", err)
			}
			if err = os.WriteFile(path, lost, 0o600); err != nil {
				t.Fatal(err)
			}
			reopen(t, o)
		})
	}
}

// A pepper that is not the store's, such as that of another copy or one with a flipped bit, finds no address in it.
func TestOpen_RefusesThePepperOfAnotherStore(t *testing.T) {
	o := Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"}
	reopen(t, o)
	path := filepath.Join(o.Dir, "keys", pepperKeyFile)
	right, err := os.ReadFile(path) //nolint:gosec // of the test
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(right)
	wrong[7] ^= 1
	if err = os.WriteFile(path, wrong, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(o)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "another store") || !strings.Contains(err.Error(), "restore") {
		t.Errorf("with another pepper: %v", err)
	}
	if err = os.WriteFile(path, right, 0o600); err != nil {
		t.Fatal(err)
	}
	reopen(t, o)
}

// A first start that was interrupted between its keys and its store goes on.
func TestOpen_MakesAStoreForKeysThatHaveNone(t *testing.T) {
	o := Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"}
	reopen(t, o)
	if err := os.Remove(filepath.Join(o.Dir, "store.db")); err != nil {
		t.Fatal(err)
	}
	reopen(t, o)
}

// reopen opens a service and closes it.
func reopen(t *testing.T, o Options) {
	t.Helper()
	s, err := Open(o)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
