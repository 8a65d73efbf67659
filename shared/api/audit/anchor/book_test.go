package anchor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

var firstNight = time.Date(2026, 3, 10, 2, 20, 0, 0, time.UTC)

// shelf is a book in a folder, with the key that signs it.
type shelf struct {
	*Book
	dir  string
	keys token.Documents
}

// newShelf returns a book of three nights, in each of which the chain of org_a has a row more.
func newShelf(t *testing.T) *shelf {
	t.Helper()
	ring, err := token.OpenKeyFile(filepath.Join(t.TempDir(), "keys.pem"), clock.NewManual(firstNight))
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{dir: t.TempDir(), keys: token.NewDocuments(ring)}
	s.Book = NewBook(archive.NewFolderVault(s.dir), s.keys.Verify)
	before := ""
	for i := range 3 {
		n := &Night{At: firstNight.AddDate(0, 0, i), Previous: before, Files: map[string]File{}}
		leaves := Leaves{"org_a": {Chain: "org_a", Seq: int64(i + 1), Hash: strings.Repeat("a", 64), Anchored: n.At}}
		if err = s.AddFile(t.Context(), n, FileOf("org_a"), leaves, File{}); err == nil {
			err = s.Add(t.Context(), s.keys, n)
		}
		if err != nil {
			t.Fatal(err)
		}
		last, _, err := s.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before = last.Digest
	}
	return s
}

// replace writes a file of the vault as somebody does who may.
func (s *shelf) replace(t *testing.T, name string, change func(string) string) {
	t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	b, err := os.ReadFile(path) //nolint:gosec // of the test
	if err == nil {
		err = os.Remove(path)
	}
	if changed := change(string(b)); err == nil && changed != "" {
		err = os.WriteFile(path, []byte(changed), 0o400) //nolint:gosec // of the test
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestBook_ReadsItsNights(t *testing.T) {
	s := newShelf(t)
	nights, err := s.Nights(t.Context())
	if err != nil || len(nights) != 3 || !nights[0].At.Equal(firstNight) {
		t.Fatalf("%+v %v", nights, err)
	}
	got, err := s.Find(t.Context(), "org_a")
	if err != nil || got.Leaf == nil || got.Leaf.Seq != 3 || !got.Night.Equal(firstNight.AddDate(0, 0, 2)) {
		t.Errorf("%+v %v", got, err)
	}
	if got, err = s.Find(t.Context(), "org_b"); err != nil || got.Leaf != nil {
		t.Errorf("a chain without an anchor: %+v %v", got, err)
	}
	if err = s.Add(t.Context(), s.keys, &Night{At: firstNight.Add(time.Hour)}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second night of a day: %v", err)
	}
	empty := NewBook(archive.NewFolderVault(t.TempDir()), s.keys.Verify)
	if got, err = empty.Find(t.Context(), "org_a"); err != nil || got.Leaf != nil || !got.Night.IsZero() {
		t.Errorf("an empty vault: %+v %v", got, err)
	}
}

func TestBook_DetectsAlteredNights(t *testing.T) {
	const middle, last = "nights/2026-03-11.jws", "nights/2026-03-12.jws"
	remove := func(string) string { return "" }
	for name, c := range map[string]struct {
		object string
		change func(string) string
		says   string
	}{
		"a night is missing":         {middle, remove, "a night between them is missing"},
		"the first night is missing": {"nights/2026-03-10.jws", remove, ""}, // its retention is over
		"an earlier night is altered": {
			middle, func(s string) string { return s[:len(s)-10] + "AAAAAAAAAA" },
			"does not name the night before",
		},
		"the last night is altered": {last, func(s string) string {
			return s[:len(s)-10] + "AAAAAAAAAA"
		}, "not accepted"},
		"the last night is no document": {last, func(string) string { return "nothing" }, "not accepted"},
	} {
		s := newShelf(t)
		s.replace(t, c.object, c.change)
		if _, err := s.Nights(t.Context()); (err == nil) != (c.says == "") || err != nil &&
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	s := newShelf(t)
	n, _, err := s.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.replace(t, n.Files[FileOf("org_a")].Object, func(b string) string {
		return strings.Replace(b, `"seq":3`, `"seq":2`, 1)
	})
	if _, err = s.Find(t.Context(), "org_a"); err == nil || !strings.Contains(err.Error(), "altered after the night") {
		t.Errorf("a file with another head: %v", err)
	}
}

func TestBook_TellsOfAReplacedKey(t *testing.T) {
	s := newShelf(t)
	other, err := token.OpenKeyFile(filepath.Join(t.TempDir(), "keys.pem"), clock.NewManual(firstNight))
	if err != nil {
		t.Fatal(err)
	}
	last, _, err := NewBook(archive.NewFolderVault(s.dir), token.NewDocuments(other).Verify).Latest(t.Context())
	if err != nil || !last.UnknownKey {
		t.Errorf("%+v %v", last, err)
	}
	if last, _, err = s.Latest(t.Context()); err != nil || last.UnknownKey {
		t.Errorf("%+v %v", last, err)
	}
	forged := &Night{At: firstNight.AddDate(1, 0, 0), Files: map[string]File{}}
	if err = s.Add(t.Context(), token.NewDocuments(other), forged); err != nil {
		t.Fatal(err)
	}
	last, refused, err := s.Latest(t.Context())
	if err != nil || last.At.Year() != 2026 || refused == nil || !strings.Contains(refused.Error(), "2027") {
		t.Errorf("with a later night of another key: %+v, %v, %v", last, refused, err)
	}
}
