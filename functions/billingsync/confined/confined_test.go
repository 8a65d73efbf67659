package confined_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"lamplighter.dev/functions/billingsync/confined"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/hostilebill"
)

// childMode is the argument that sets the behaviour of a test's child: to read bills, or to fail as a hostile file
// makes it.
const childMode = "-confined="

func TestMain(m *testing.M) {
	for _, arg := range os.Args {
		if mode, ok := strings.CutPrefix(arg, childMode); ok {
			os.Exit(child(mode))
		}
	}
	os.Exit(m.Run())
}

func child(mode string) int {
	in := io.Reader(os.Stdin)
	if mode != "read" {
		in = &poisoned{os.Stdin, mode, 0}
	}
	if err := confined.Serve(context.Background(), in, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// poisoned is the connection of a child, which fails while it reads the file.
type poisoned struct {
	io.Reader
	mode  string
	reads int
}

func (p *poisoned) Read(b []byte) (int, error) {
	if p.reads++; p.reads > 1 {
		fail(p.mode)
	}
	return p.Reader.Read(b)
}

var kept [][]byte

func overflow(n int) int {
	if n < 0 {
		return n
	}
	return overflow(n+1) + 1
}

func fail(mode string) {
	switch mode {
	case "overflow":
		debug.SetMaxStack(1 << 20)
		_ = overflow(0)
	case "exit":
		os.Exit(7)
	case "once": // more than any machine has, in one piece
		kept = append(kept, make([]byte, 1<<40))
	case "fill": // bit by bit
		for {
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
	}
}

func reader(mode string) *confined.Reader {
	return confined.New([]string{os.Args[0], childMode + mode}, 256<<20)
}

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

func inMemory(b []byte) cloud.BillReader { return memory{bytes.NewReader(b)} }

type readFunc func(
	context.Context, cloud.BillForm, string, cloud.BillReader, func(*bill.Charge) error,
) (billfile.Totals, error)

// readAll reads a file and keeps its charges.
func readAll(t *testing.T, read readFunc, name string, b []byte) ([]bill.Charge, billfile.Totals, error) {
	t.Helper()
	var out []bill.Charge
	totals, err := read(t.Context(), "", name, inMemory(b), func(c *bill.Charge) error {
		out = append(out, *c)
		return nil
	})
	return out, totals, err
}

// bills are files of bills in all forms, and a real one where there is one.
func bills(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"nothing": nil, "no bill": []byte("a,b\n1,2\n"), "a broken row": nil}
	for _, name := range []string{"focus.csv", "cur.csv", "cur2.csv", "azure.csv", "google.json", "focus.ndjson"} {
		b, err := os.ReadFile(filepath.Join("../../../shared/domain/billfile/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	out["a broken row"] = bytes.Replace(out["focus.csv"], []byte("USD"), []byte("MC"), 1)
	root := os.Getenv("LAMPLIGHTER_DATA")
	if root == "" {
		root = "../../../../shared/data"
	}
	b, err := os.ReadFile(filepath.Join(root, "focus", "focus_1.0_sample_1000.csv.gz"))
	if err != nil {
		t.Logf("SKIPPED: no real bill to read: %v", err)
	} else {
		out["the real sample"] = b
	}
	var parquet bytes.Buffer
	w := billfile.NewParquetWriter(&parquet)
	if _, err := billfile.Read(t.Context(), "", "f", inMemory(out["focus.csv"]), w.Add); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out["Parquet"] = parquet.Bytes()
	return out
}

func TestRead_IsWhatReadingInThisProcessIs(t *testing.T) {
	for name, file := range bills(t) {
		t.Run(name, func(t *testing.T) {
			want, wantTotals, wantErr := readAll(t, billfile.Read, name, file)
			got, totals, err := readAll(t, reader("read").Read, name, file)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) ||
				fault.Is(err, fault.Invalid) != fault.Is(wantErr, fault.Invalid) {
				t.Errorf("got  %v\nwant %v", err, wantErr)
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(totals, wantTotals) {
				t.Errorf("%d charges, %+v; want %d, %+v", len(got), totals, len(want), wantTotals)
			}
		})
	}
}

func TestRead_AProcessThatDiesIsAnErrorOfItsFile(t *testing.T) {
	file := bills(t)["focus.csv"]
	for mode, reason := range map[string]string{
		"overflow": "it ended the process that read it", "exit": "it ended the process that read it (exit status 7)",
		"once": "takes more memory", "fill": "takes more memory",
	} {
		t.Run(mode, func(t *testing.T) {
			if mode == "once" && runtime.GOOS != "linux" {
				t.Skip("only Linux refuses address space")
			}
			_, _, err := readAll(t, reader(mode).Read, "f", file)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), reason) {
				t.Errorf("got %v; want %q", err, reason)
			}
		})
	}
}

func TestRead_FilesThatEndedTheProcessAreRefused(t *testing.T) {
	for _, f := range hostilebill.Five() {
		t.Run(f.Name, func(t *testing.T) {
			_, _, err := readAll(t, reader("read").Read, "f", f.Content)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Message(err), f.Refused) {
				t.Errorf("got %.500v; want %q", err, f.Refused)
			}
		})
	}
}

func TestRead_OthersErrors(t *testing.T) {
	file := bytes.Repeat(bills(t)["focus.csv"], 1)
	read := func(r cloud.BillReader, take func(*bill.Charge) error) error {
		_, err := reader("read").Read(t.Context(), "", "f", r, take)
		return err
	}
	ignore := func(*bill.Charge) error { return nil }
	lost := fault.New(fault.Unavailable, "the table does not answer")
	if err := read(inMemory(file), func(*bill.Charge) error { return lost }); !errors.Is(err, lost) {
		t.Errorf("the taker's error became %v", err)
	}
	other := fault.New(fault.Invalid, "a row of 2026-03 in a bill of 2026-02")
	err := read(inMemory(file), func(*bill.Charge) error { return other })
	if got := fault.Message(err); !fault.Is(err, fault.Invalid) ||
		got != "f, row 1: a row of 2026-03 in a bill of 2026-02" {
		t.Errorf("what is invalid to the taker became %q", got)
	}
	if err := read(broken{inMemory(file)}, ignore); fault.Is(err, fault.Invalid) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("an error of the network became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader("read").Read(ctx, "", "f", inMemory(file), ignore); !errors.Is(err, context.Canceled) {
		t.Errorf("reading was not canceled: %v", err)
	}
	missing := confined.New([]string{filepath.Join(t.TempDir(), "none")}, 1<<30)
	if _, err := missing.Read(t.Context(), "", "f", inMemory(file), ignore); err == nil ||
		fault.Is(err, fault.Invalid) {
		t.Errorf("a command that is not there: %v", err)
	}
}

// broken is a file that cannot be read.
type broken struct{ cloud.BillReader }

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// BenchmarkRead reads the bill of the same million rows as the benchmark of package bill, which LAMPLIGHTER_BENCH
// keeps.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(os.Getenv("LAMPLIGHTER_BENCH"), "focus-1000000.parquet")
	file, err := os.ReadFile(path)
	if err != nil {
		b.Skipf("no file to read: %v", err)
	}
	for name, read := range map[string]readFunc{
		"in this process":         billfile.Read,
		"in a process of its own": reader("read").Read,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := read(b.Context(), cloud.FOCUSForm, "f", inMemory(file), func(*bill.Charge) error {
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
