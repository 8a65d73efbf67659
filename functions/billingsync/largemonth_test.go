package billingsync_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// A month in 40 files takes 47 minutes, and a call 15. A process is killed within each file. The import completes, and
// each file is read twice: until the kill, and after it.
func TestLargeMonth_KilledDuringEachFileIsImportedExactly(t *testing.T) {
	files := largeFiles(seed.Random(t), 40, 60)
	whole, month := newLarge(t, files, 0)
	whole.importLarge(&killpoint.Lives{}, month)
	want := whole.largeState()

	s, l := newLarge(t, files, 70*time.Second)
	began := s.clk.Now()
	l.reading = func(file int) {
		if l.opened[file] == 1 {
			l.process.Kill()
		}
	}
	lives := &killpoint.Lives{}
	s.importLarge(lives, l)
	if got := s.largeState(); got != want {
		t.Errorf("the month is\n%s\nwithout kills it is\n%s", got, want)
	}
	for file, n := range l.opened {
		if n != 2 {
			t.Errorf("file %d was opened %d times", file, n)
		}
	}
	if took := s.clk.Now().Sub(began); lives.Kills() != 40 || took < 2*40*70*time.Second {
		t.Errorf("%d kills in %s", lives.Kills(), took)
	}
}

// Without kills the calls pause by themselves, and read each file once.
func TestLargeMonth_TakesAsManyCallsAsItNeeds(t *testing.T) {
	files := largeFiles(seed.Random(t), 40, 60)
	whole, month := newLarge(t, files, 0)
	whole.importLarge(&killpoint.Lives{}, month)
	s, l := newLarge(t, files, 70*time.Second)
	s.importLarge(&killpoint.Lives{}, l)
	if got, want := s.largeState(), whole.largeState(); got != want {
		t.Errorf("the month is\n%s\nin one call it is\n%s", got, want)
	}
	if i := slices.IndexFunc(l.opened, func(n int) bool { return n != 1 }); i >= 0 {
		t.Errorf("file %d was opened %d times", i, l.opened[i])
	}
}

// Processes are killed at any step: while they read, store line items, save a checkpoint or commit.
func TestLargeMonth_KilledAtAnyStepIsImportedExactly(t *testing.T) {
	race.SkipRepetition(t)
	files := largeFiles(seed.Random(t), 8, 120)
	killpoint.LosesNothing(t, 25, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s, l := newLarge(t, files, 70*time.Second)
		s.importLarge(lives, l)
		return s.largeState()
	})
}

// A file of 14 minutes is left at a file of line items. The next call reads it from its beginning, and adds only the
// rows that are not added.
func TestLargeMonth_IsContinuedWithinAFile(t *testing.T) {
	files := largeFiles(seed.Random(t), 2, 2000)
	whole, month := newLarge(t, files, 0)
	whole.importLarge(&killpoint.Lives{}, month)
	s, l := newLarge(t, files, 0)
	l.pieceTime = 14 * time.Minute / time.Duration(len(files[0])/pieceBytes)
	s.importLarge(&killpoint.Lives{}, l)
	if got, want := s.largeState(), whole.largeState(); got != want {
		t.Errorf("the month is\n%s\nin one call it is\n%s", got, want)
	}
	if l.opened[0] < 2 || l.opened[1] < 2 {
		t.Errorf("the files were opened %v times", l.opened)
	}
}

// The answer to a query may come in another order when it is asked again, so a call does not end within it.
func TestLargeMonth_OfAQueryIsReadInOneCall(t *testing.T) {
	files := largeFiles(seed.Random(t), 2, 2000)
	whole, month := newLarge(t, files, 0)
	whole.importLarge(&killpoint.Lives{}, month)
	s, l := newLarge(t, files, 0)
	l.isQuery, l.pieceTime = true, 11*time.Minute/time.Duration(len(files[0])/pieceBytes)
	s.importLarge(&killpoint.Lives{}, l)
	if got, want := s.largeState(), whole.largeState(); got != want {
		t.Errorf("the month is\n%s\nin one call it is\n%s", got, want)
	}
	if !slices.Equal(l.opened, []int{1, 1}) {
		t.Errorf("the queries were asked %v times", l.opened)
	}
}

// A delivery that is replaced between two calls is imported from its first file.
func TestLargeMonth_ReplacedMeanwhileStartsAnew(t *testing.T) {
	r := seed.Random(t)
	old, files := largeFiles(r, 10, 60), largeFiles(r, 10, 60)
	whole, month := newLarge(t, files, 0)
	month.version = 1
	whole.importLarge(&killpoint.Lives{}, month)
	s, l := newLarge(t, old, 70*time.Second)
	l.reading = func(file int) {
		if file == 6 && l.version == 0 {
			l.process.Kill()
			l.files, l.version = files, 1
		}
	}
	s.importLarge(&killpoint.Lives{}, l)
	if got, want := s.largeState(), whole.largeState(); got != want {
		t.Errorf("the month is\n%s\nthe new delivery is\n%s", got, want)
	}
	if l.opened[0] != 2 || l.opened[9] != 1 {
		t.Errorf("the files were opened %v times", l.opened)
	}
}

// Two runs import the same delivery at once. One is ahead at each checkpoint. The other one waits, and continues from
// there.
func TestLargeMonth_ImportedByTwoRunsAtOnceCountsOnce(t *testing.T) {
	files := largeFiles(seed.Random(t), 20, 60)
	whole, month := newLarge(t, files, 0)
	whole.importLarge(&killpoint.Lives{}, month)
	s, l := newLarge(t, files, 35*time.Second)
	accounts := apitest.Value(connection.ListAccounts(s.In("org_a"), s.Table, "org_a"))(s)
	work := apitest.Value(domain.AddWork(domain.Input{
		Org: "org_a", JobID: "job_01jzk5x0h2v3m4n5p6q7r8s9ta", AccountID: accounts[0].ID,
	}, noon))(s)
	apitest.Value(s.Table.Write(table.Within(s.In("org_a"), workqueue.Prefix), work))(s)
	s.importLarge(&killpoint.Lives{}, l)
	if got, want := s.largeState(), whole.largeState(); got != want {
		t.Errorf("the month is\n%s\nin one run it is\n%s", got, want)
	}
	t.Logf("the files were opened %v times", l.opened)
}

// While a month is imported, readers see the month before, and the account's status says how far the import is.
func TestLargeMonth_ShowsTheMonthBeforeAndItsProgress(t *testing.T) {
	r := seed.Random(t)
	s, l := newLarge(t, largeFiles(r, 2, 60), 0)
	s.importLarge(&killpoint.Lives{}, l)
	before := s.ask().Total
	l.files, l.opened, l.version, l.fileTime = largeFiles(r, 40, 60), make([]int, 40), 1, 70*time.Second
	s.request()
	var message string
	l.reading = func(file int) {
		if got := s.ask().Total; got != before {
			t.Errorf("in file %d the costs are %s", file, got)
		}
		if file == 20 {
			message = s.status().Message
		}
	}
	s.importLarge(&killpoint.Lives{}, l)
	if !strings.Contains(message, "of 2026-10, 20 of 40 files are read") {
		t.Errorf("the status says %q", message)
	}
	if got := s.status(); s.ask().Total == before || strings.Contains(got.Message, "files are read") {
		t.Errorf("afterwards the costs are %s: %+v", s.ask().Total, got)
	}
}

// What is too large is refused before its first file is opened, with its size and a way out, and only once.
func TestLargeMonth_RefusesWhatItsManifestShowsAsTooLarge(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*largeMonth)
		says   []string
	}{
		"the rows of the month": {
			func(l *largeMonth) { l.rows = 1_200_000_000 },
			[]string{"large of 2026-10: the manifest lists 1200000000 rows", "at most 1000000000", "several exports"},
		},
		"the rows of its files": {
			func(l *largeMonth) { l.files, l.fileRows = make([]string, 12), 90_000_000 },
			[]string{"the manifest lists 1080000000 rows", "by day instead of by hour"},
		},
		"the rows of a file": {
			func(l *largeMonth) { l.fileRows = 150_000_000 },
			[]string{"lists 150000000 rows for the file large-00.csv", "at most 100000000", "smaller files"},
		},
		"the number of files": {
			func(l *largeMonth) { l.files, l.rows = make([]string, 10_001), 5_000_000 },
			[]string{"10001 files with 5000000 rows", "at most 10000 files", "larger files"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, l := newLarge(t, []string{largeHeader}, 0)
			tt.change(l)
			l.opened = make([]int, len(l.files))
			s.importLarge(&killpoint.Lives{}, l)
			got := s.status()
			if got.Status != "failed" || l.opened[0] != 0 || len(s.periods()) != 0 {
				t.Errorf("%+v; the first file was opened %d times", got, l.opened[0])
			}
			for _, says := range append(tt.says, "schema") {
				if !strings.Contains(got.Message, says) {
					t.Errorf("%q does not say %q", got.Message, says)
				}
			}
		})
	}
}

// A file that is not read within a call, and has no file of line items by then, is refused.
func TestLargeMonth_RefusesAFileThatOneCallCannotRead(t *testing.T) {
	r := seed.Random(t)
	rows := largeFiles(r, 1, 700)[0]
	rows = strings.TrimPrefix(rows, largeHeader)
	s, l := newLarge(t, []string{largeHeader + strings.Repeat(rows, 100)}, 0)
	l.limits.PartLines = 1 << 20
	l.pieceTime = 14 * time.Minute / time.Duration(len(l.files[0])/pieceBytes)
	s.importLarge(&killpoint.Lives{}, l)
	got := s.status()
	for _, says := range []string{
		"large-00.csv: reading its first 65536 charges takes more than 12 minutes",
		"split it",
	} {
		if got.Status != "failed" || !strings.Contains(got.Message, says) {
			t.Errorf("%+v does not say %q", got, says)
		}
	}
}

// openFiles counts the objects that are being stored, and their bytes: on S3 each is a temporary file.
type openFiles struct {
	archive.Files
	mu               sync.Mutex
	now, most        int
	bytes, mostBytes int64
}

func (o *openFiles) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	var size int64
	o.add(1, 0)
	err := o.Files.Put(ctx, name, func(to io.Writer) error {
		return write(io.MultiWriter(to, countedWriter(func(n int) { size += int64(n); o.add(0, n) })))
	})
	o.add(-1, -int(size))
	return err
}

type countedWriter func(n int)

func (w countedWriter) Write(p []byte) (int, error) {
	w(len(p))
	return len(p), nil
}

func (o *openFiles) add(files, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now, o.bytes = o.now+files, o.bytes+int64(n)
	o.most, o.mostBytes = max(o.most, o.now), max(o.mostBytes, o.bytes)
}

// A month of 40 files takes the temporary files of one.
func TestLargeMonth_HasOneTemporaryFileAtATime(t *testing.T) {
	r := seed.Random(t)
	sizes := map[int]int64{}
	for _, n := range []int{1, 40} {
		s, l := newLarge(t, largeFiles(r, n, 60), 70*time.Second)
		l.limits.PartLines = 1000
		files := &openFiles{Files: s.Lines}
		s.Lines = files
		s.importLarge(&killpoint.Lives{}, l)
		if files.most != 1 {
			t.Errorf("%d files: %d are open at once", n, files.most)
		}
		sizes[n] = files.mostBytes
	}
	t.Logf("bytes of temporary files by number of files: %v", sizes)
}
