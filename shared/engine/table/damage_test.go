package table_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/seed"
)

// sound is a store file with everything that a store has, and the rows in it.
type sound struct {
	bytes []byte
	rows  map[table.Key]string
	feed  []string
}

// soundPartitions are the partitions of a sound store.
var soundPartitions = []string{"ORG#1#A", "ORG#1#B", "MAIL" + table.OutboxSuffix}

// makeSound makes a store with large, expiring and replaced items, free pages and a feed. It returns the file as Close
// leaves it, and as a process leaves it that is killed.
func makeSound(t *testing.T) (closed, killed sound) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sound.db")
	s, err := table.Open(path, table.Options{NoSync: true, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		var ws []table.Write
		for i := range 500 {
			k := table.Key{PK: soundPartitions[i%3], SK: fmt.Sprintf("%06d", i*7%500)}
			it := table.Item{Key: k, Data: fmt.Appendf(nil, `{"i":%d,"text":%q}`, i, strings.Repeat("x", i*i%900))}
			if i%5 == 0 {
				it.Expires = clock.System{}.Now().Add(time.Duration(1000+i) * time.Hour)
			}
			if i%97 == 0 {
				it.Data = fmt.Appendf(nil, `{"i":%d,"text":%q}`, i, strings.Repeat("y", 9000))
			}
			if w := table.Put(it); round < 3 || i%2 == 0 {
				ws = append(ws, w)
			} else if i%3 == 0 {
				ws = append(ws, table.Delete(k))
			}
		}
		if err = s.BatchWrite(t.Context(), ws...); err != nil {
			t.Fatal(err)
		}
	}
	killed = readSound(t, s, path)
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	closed = killed
	closed.bytes = readFile(t, path)
	return closed, killed
}

// readSound reads all that is in an open store.
func readSound(t *testing.T, s *table.Embedded, path string) sound {
	t.Helper()
	out := sound{bytes: readFile(t, path), rows: map[table.Key]string{}}
	for _, pk := range soundPartitions {
		for q := (table.Query{PK: pk, Limit: table.MaxPage}); ; {
			page, err := s.Query(t.Context(), q)
			if err != nil {
				t.Fatalf("it opened, and %s cannot be read: %v", pk, err)
			}
			for _, it := range page.Items {
				out.rows[it.Key] = fmt.Sprint(string(it.Data), it.Expires.Unix())
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	for cursor := ""; ; {
		f, err := s.Feed(t.Context(), cursor, table.MaxPage)
		if err != nil {
			t.Fatalf("it opened, and the feed cannot be read: %v", err)
		}
		for _, it := range f.Items {
			out.feed = append(out.feed, fmt.Sprint(it.PK, it.SK, string(it.Data)))
		}
		if cursor = f.Next; len(f.Items) == 0 {
			return out
		}
	}
}

// opensOrIsRefused opens a damaged file. Either the store has all rows of was and works, or the file is refused in one
// line that names it and the way out, and is unchanged.
func opensOrIsRefused(t *testing.T, damaged []byte, was sound) (opened bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := table.Open(path, table.Options{NoSync: true, SweepEvery: -1})
	if err != nil {
		if text := err.Error(); strings.Contains(text, "\n") || strings.Count(text, path) != 1 ||
			!strings.Contains(text, "restore a copy") && !strings.Contains(text, "move this one away") &&
				!strings.Contains(text, "use the newer program") {
			t.Errorf("it is refused with %q, where one line with the file and the way out belongs", text)
		}
		if !bytes.Equal(readFile(t, path), damaged) {
			t.Error("the refused file was changed")
		}
		if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
			t.Errorf("beside the file there is now %q", left)
		}
		return false
	}
	has := readSound(t, s, path)
	if !maps.Equal(has.rows, was.rows) || strings.Join(has.feed, " ") != strings.Join(was.feed, " ") {
		t.Errorf("it opens with %d rows and %d entries, of %d and %d, or with others", len(has.rows), len(has.feed),
			len(was.rows), len(was.feed))
	}
	ws := newRows("more", 300)
	if err = s.BatchWrite(t.Context(), ws...); err == nil {
		err = s.Close()
	}
	if err == nil {
		if s, err = table.Open(path, table.Options{NoSync: true, SweepEvery: -1}); err == nil {
			err = s.Close()
		}
	}
	if err != nil {
		t.Errorf("it opens, and does not work: %v", err)
	}
	return true
}

func TestOpen_FilesWithFlippedBitsOpenCompletelyOrAreRefused(t *testing.T) {
	closed, killed := makeSound(t)
	r := seed.Fixed(t, 13, 0)
	opened := 0
	for n := range 60 {
		was := closed
		if n%2 == 1 {
			was = killed
		}
		damaged := bytes.Clone(was.bytes)
		used := len(trimFile(damaged))
		if n%6 == 0 { // the heads and the first pages
			used = 4 * os.Getpagesize()
		}
		at, bit := r.IntN(used), r.IntN(8)
		damaged[at] ^= 1 << bit
		t.Run(fmt.Sprintf("file %d with bit %d of byte %d", n, bit, at), func(t *testing.T) {
			if opensOrIsRefused(t, damaged, was) {
				opened++
			}
		})
	}
	if t.Logf("%d of 60 open", opened); opened == 0 || opened == 60 {
		t.Errorf("%d of 60 files open", opened)
	}
}

// TestOpen_NoFlippedBitIsOverlooked flips one bit in each used byte of a small store.
func TestOpen_NoFlippedBitIsOverlooked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "small.db")
	s, err := table.Open(path, table.Options{NoSync: true, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i, pk := range soundPartitions {
		it := table.Item{Key: table.Key{PK: pk, SK: "1"}, Data: []byte(`{"a":1}`)}
		if i == 1 {
			it.Expires = clock.System{}.Now().Add(1000 * time.Hour)
		}
		if _, err = s.Write(t.Context(), table.Put(it)); err != nil {
			t.Fatal(err)
		}
	}
	was := readSound(t, s, path)
	if err = s.Close(); err != nil {
		t.Fatal(err)
	}
	was.bytes = readFile(t, path)
	r := seed.Fixed(t, 13, 1)
	for at, b := range was.bytes {
		if b == 0 {
			continue // the places of short files that hold something
		}
		damaged := bytes.Clone(was.bytes)
		damaged[at] ^= 1 << r.IntN(8)
		if opensOrIsRefused(t, damaged, was); t.Failed() {
			t.Fatalf("byte %d: %x became %x", at, b, damaged[at])
		}
	}
}

// crafted edits a store file as somebody does who knows its form.
type crafted struct {
	b    []byte
	size int // of a page
}

// head returns the head in the page, which is the newer one if it has the higher number.
func (c crafted) head(page int) []byte { return c.b[page*c.size+16 : page*c.size+80] }

// newer returns the number of the page with the newer head.
func (c crafted) newer() int {
	if binary.NativeEndian.Uint64(c.head(1)[48:]) > binary.NativeEndian.Uint64(c.head(0)[48:]) {
		return 1
	}
	return 0
}

// set writes a number into the newer head, and mends the checksum.
func (c crafted) set(at int, n uint64) { c.setIn(c.newer(), at, n) }

func (c crafted) setIn(page, at int, n uint64) {
	head := c.head(page)
	if at < 16 {
		binary.NativeEndian.PutUint32(head[at:], uint32(n))
	} else {
		binary.NativeEndian.PutUint64(head[at:], n)
	}
	h := fnv.New64a()
	_, _ = h.Write(head[:56])
	binary.NativeEndian.PutUint64(head[56:], h.Sum64())
}

// get returns a number of the newer head.
func (c crafted) get(at int) uint64 { return binary.NativeEndian.Uint64(c.head(c.newer())[at:]) }

// page returns the page with the number.
func (c crafted) page(n uint64) []byte { return c.b[int(n)*c.size : int(n+1)*c.size] }

// find returns the first page in use with the flags.
func (c crafted) find(flags uint16) []byte {
	for n := uint64(2); n < c.get(headPages); n++ {
		p := c.page(n)
		if binary.NativeEndian.Uint16(p[8:]) == flags && binary.NativeEndian.Uint64(p) == n && !c.isFree(n) &&
			n != c.get(headRoot) {
			return p
		}
	}
	panic(fmt.Sprintf("no page has the flags %#x", flags))
}

// isFree reports whether a page is in the list of free pages.
func (c crafted) isFree(n uint64) bool {
	list := c.page(c.get(headFree))
	for i := range int(binary.NativeEndian.Uint16(list[10:])) {
		if binary.NativeEndian.Uint64(list[16+8*i:]) == n {
			return true
		}
	}
	return false
}

// The places of numbers in a head.
const (
	headVersion = 4
	headSize    = 8
	headRoot    = 16
	headFree    = 32
	headPages   = 40
	headTx      = 48
)

func put16(b []byte, n uint16) { binary.NativeEndian.PutUint16(b, n) }
func put32(b []byte, n uint32) { binary.NativeEndian.PutUint32(b, n) }
func put64(b []byte, n uint64) { binary.NativeEndian.PutUint64(b, n) }

// craft are the crafted files, by what is wrong with them. A function may return other bytes.
var craft = map[string]func(c crafted) []byte{
	"no byte":                      func(crafted) []byte { return nil },
	"one byte":                     func(c crafted) []byte { return c.b[:1] },
	"a part of the first head":     func(c crafted) []byte { return c.b[:40] },
	"one page":                     func(c crafted) []byte { return c.b[:c.size] },
	"two pages":                    func(c crafted) []byte { return c.b[:2*c.size] },
	"half of the pages":            func(c crafted) []byte { return c.b[:int(c.get(headPages))/2*c.size] },
	"a byte too few":               func(c crafted) []byte { return c.b[:int(c.get(headPages))*c.size-1] },
	"zeros":                        func(c crafted) []byte { return make([]byte, len(c.b)) },
	"ones":                         func(c crafted) []byte { return bytes.Repeat([]byte{0xFF}, len(c.b)) },
	"pages of no bytes":            func(c crafted) []byte { c.set(headSize, 0); return c.b },
	"pages of three bytes":         func(c crafted) []byte { c.set(headSize, 3); return c.b },
	"pages of a gigabyte":          func(c crafted) []byte { c.set(headSize, 1<<30); return c.b },
	"another version of bbolt":     func(c crafted) []byte { c.set(headVersion, 3); return c.b },
	"a root behind the end":        func(c crafted) []byte { c.set(headRoot, 1<<40); return c.b },
	"a head as root":               func(c crafted) []byte { c.set(headRoot, 0); return c.b },
	"free pages as root":           func(c crafted) []byte { c.set(headRoot, c.get(headFree)); return c.b },
	"more pages than bytes":        func(c crafted) []byte { c.set(headPages, 1<<50); return c.b },
	"fewer pages than are in use":  func(c crafted) []byte { c.set(headPages, c.get(headPages)/2); return c.b },
	"free pages behind the end":    func(c crafted) []byte { c.set(headFree, 1<<40); return c.b },
	"rows as free pages":           func(c crafted) []byte { c.set(headFree, c.get(headRoot)); return c.b },
	"two heads of one transaction": func(c crafted) []byte { c.setIn(1-c.newer(), headTx, c.get(headTx)); return c.b },
	"a head of the far future":     func(c crafted) []byte { c.set(headTx, c.get(headTx)+1000); return c.b },
	"the newer head wiped out":     func(c crafted) []byte { clear(c.head(c.newer())); return c.b },
	"the older head wiped out":     func(c crafted) []byte { clear(c.head(1 - c.newer())); return c.b },
	"the older head altered":       func(c crafted) []byte { c.head(1 - c.newer())[20] ^= 1; return c.b },
	"the newer head altered":       func(c crafted) []byte { c.head(c.newer())[20] ^= 1; return c.b },
	"a free page in use": func(c crafted) []byte {
		put64(c.page(c.get(headFree))[16:], c.get(headRoot))
		return c.b
	},
	"a free page twice": func(c crafted) []byte {
		list := c.page(c.get(headFree))
		copy(list[16:24], list[24:32])
		return c.b
	},
	"a free page behind the end": func(c crafted) []byte { put64(c.page(c.get(headFree))[16:], 1<<62); return c.b },
	"a list of free pages without end": func(c crafted) []byte {
		list := c.page(c.get(headFree))
		put16(list[10:], 0xFFFF)
		put64(list[16:], 1<<61)
		return c.b
	},
	"a root of no kind":        func(c crafted) []byte { put16(c.page(c.get(headRoot))[8:], 0x40); return c.b },
	"a root of two kinds":      func(c crafted) []byte { put16(c.page(c.get(headRoot))[8:], 3); return c.b },
	"a root of too many parts": func(c crafted) []byte { put16(c.page(c.get(headRoot))[10:], 0xFFFF); return c.b },
	"a root of no parts":       func(c crafted) []byte { put16(c.page(c.get(headRoot))[10:], 0); return c.b },
	"a root that covers all": func(c crafted) []byte {
		put32(c.page(c.get(headRoot))[12:], 0xFFFFFFFF)
		return c.b
	},
	"a page of another number":    func(c crafted) []byte { put64(c.find(2), 1<<20); return c.b },
	"a branch that leads to it":   func(c crafted) []byte { b := c.find(1); copy(b[24:32], b[:8]); return c.b },
	"a branch that leads nowhere": func(c crafted) []byte { put64(c.find(1)[24:], 1<<63); return c.b },
	"a branch with a page twice":  func(c crafted) []byte { b := c.find(1); copy(b[40:48], b[24:32]); return c.b },
	"a row behind its page":       func(c crafted) []byte { put32(c.find(2)[20:], 1<<31); return c.b },
	"a key without end":           func(c crafted) []byte { put32(c.find(2)[24:], 0xFFFFFFFF); return c.b },
	"a key of no length":          func(c crafted) []byte { put32(c.find(2)[24:], 0); return c.b },
	"a value without end":         func(c crafted) []byte { put32(c.find(2)[28:], 0xFFFFFFFF); return c.b },
	"a row as a part":             func(c crafted) []byte { put32(c.find(2)[16:], 1); return c.b },
	"a row fewer":                 func(c crafted) []byte { b := c.find(2); put16(b[10:], b16(b[10:])-1); return c.b },
	"parts of wrong places": func(c crafted) []byte {
		root := c.page(c.get(headRoot))
		for at := 16; at < 16+16*int(b16(root[10:])); at += 16 {
			value := at + int(b32(root[at+4:])) + int(b32(root[at+8:]))
			put64(root[value:], c.get(headPages)-1)
		}
		return c.b
	},
}

func b16(b []byte) uint16 { return binary.NativeEndian.Uint16(b) }
func b32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }

func TestOpen_CraftedFilesOpenCompletelyOrAreRefused(t *testing.T) {
	closed, _ := makeSound(t)
	opens := map[string]bool{"the older head wiped out": false, "the older head altered": true}
	for name, edit := range craft {
		t.Run(name, func(t *testing.T) {
			c := crafted{bytes.Clone(closed.bytes), os.Getpagesize()}
			if got := opensOrIsRefused(t, edit(c), closed); got != opens[name] {
				t.Errorf("it opens: %v, want %v", got, opens[name])
			}
		})
	}
}

// A file that is damaged while it is open is an error of each operation, and never ends the process.
func TestEmbedded_AFileThatIsCutWhileItIsOpenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := table.Open(path, table.Options{NoSync: true, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err = s.BatchWrite(t.Context(), newRows("p", 5000)...); err != nil {
		t.Fatal(err)
	}
	if err = os.Truncate(path, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	_, readErr := s.Get(t.Context(), table.Key{PK: "p", SK: "00000003"})
	_, writeErr := s.Write(t.Context(), table.Put(table.Item{Key: table.Key{PK: "p", SK: "00000003"}}))
	for what, err := range map[string]error{"a read": readErr, "a write": writeErr, "the end": s.Close()} {
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "restore a copy") {
			t.Errorf("%s of a file that was cut: %v", what, err)
		}
	}
}

// BenchmarkOpen_Gigabyte opens a store of a gigabyte, which is checked completely before.
func BenchmarkOpen_Gigabyte(b *testing.B) {
	size := 1 << 30
	if testing.Short() {
		size = 16 << 20
	}
	path := filepath.Join(b.TempDir(), "store.db")
	s, err := table.Open(path, table.Options{NoSync: true, SweepEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	const perBatch, bytesOfItem = 20_000, 1000
	for n := 0; n < size/bytesOfItem; n += perBatch {
		ws := make([]table.Write, perBatch)
		for i := range ws {
			k := table.Key{PK: fmt.Sprintf("ORG#%02d#A", i%20), SK: fmt.Sprintf("%09d", n+i)}
			data := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", bytesOfItem))
			ws[i] = table.Put(table.Item{Key: k, Data: data})
		}
		if err = s.BatchWrite(b.Context(), ws...); err != nil {
			b.Fatal(err)
		}
	}
	if err = s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if s, err = table.Open(path, table.Options{NoSync: true, SweepEvery: -1}); err == nil {
			b.StopTimer()
			err = s.Close()
			b.StartTimer()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size()>>20)*float64(b.N)/b.Elapsed().Seconds(), "MB/s")
}
