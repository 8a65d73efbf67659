package archiver

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// fixture is organizations whose months are archived into a folder.
type fixture struct {
	*apitest.Fixture
	clock *clock.Manual
	dir   string
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	p, c := apitest.NewPlatform(tb) // on 10 March 2026
	s := &fixture{apitest.On(tb, p), c, filepath.Join(tb.TempDir(), "archive")}
	s.Archive, s.Lines = archive.NewFolder(s.dir), archive.NewFolder(filepath.Join(tb.TempDir(), "line-items"))
	return s
}

// org makes an organization, listed as POST /organisations does it.
func (s *fixture) org() string {
	s.Helper()
	org := id.New("org", s.clock.Now())
	s.Write(apitest.Value(identity.AddToDirectory(org))(s))
	return org
}

// addAction puts an action that was made at a time, and the change that it left.
func (s *fixture) addAction(org string, at time.Time) execution.Action {
	s.Helper()
	a := execution.Action{
		ID: id.New("act", at), ResourceUID: "i-" + org, Action: cloud.Stop, Status: execution.Succeeded, CreatedAt: at,
		Progress: &execution.Progress{Changed: true}, Logs: []execution.Log{},
	}
	s.Put(execution.ActionKey(org, a.ID), a)
	c := execution.StateChange{ID: id.New("sh", at), ResourceUID: a.ResourceUID, State: "stopped", ChangedAt: at}
	pks := execution.HistoryPKs(org)
	s.Put(table.Key{PK: pks[table.ShardOf(c.ID, len(pks))], SK: c.ID}, c)
	return a
}

// addBulk puts a bulk action of so many chunks.
func (s *fixture) addBulk(org string, at time.Time, chunks int) string {
	s.Helper()
	b := execution.Bulk{
		ID: id.New("bulk", at), Status: execution.BulkCompleted, Type: cloud.Stop, CreatedAt: at,
		Plan: &execution.BulkPlan{Chunks: chunks},
	}
	s.Put(execution.BulkKey(org, b.ID), b)
	for n := range chunks {
		s.Put(execution.ChunkKey(org, b.ID, 0, n),
			execution.Chunk{
				Tier: 1, Region: "eu-west-1",
				Members: []execution.Member{{ActionID: "act_1", ResourceUID: "i-1"}},
			})
	}
	return b.ID
}

func (s *fixture) round() *round {
	return &round{Platform: s.Platform, until: s.clock.Now().Add(stretch), perFile: perFile}
}

func (s *fixture) runArchiver() Archived {
	s.Helper()
	return apitest.Value(ArchiveMonths(context.Background(), s.Platform))(s)
}

// files returns the archived objects, compressed, by name.
func (s *fixture) files() map[string][]byte {
	s.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		name, _ := filepath.Rel(s.dir, path)
		out[name] = apitest.Value(os.ReadFile(path))(s)
		return err
	})
	s.Must(err)
	return out
}

// readLines unpacks files whose names contain a text, in the order of their names.
func (s *fixture) readLines(of string) []map[string]any {
	s.Helper()
	files, names := s.files(), []string(nil)
	for name := range files {
		if strings.Contains(name, of) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []map[string]any
	for _, name := range names {
		z := apitest.Value(gzip.NewReader(bytes.NewReader(files[name])))(s)
		for d := json.NewDecoder(z); ; {
			var line map[string]any
			err := d.Decode(&line)
			if errors.Is(err, io.EOF) {
				break
			}
			s.Must(err)
			out = append(out, line)
		}
	}
	return out
}

func dayOf(month time.Month, d int) time.Time {
	return time.Date(2026, month, d, 23, 59, 59, 0, time.UTC)
}

func TestAMonth_IsArchivedAsClientsSawItInTheMonthAfter(t *testing.T) {
	s := newFixture(t)
	org, other := s.org(), s.org()
	var want []string
	for _, d := range []int{10, 20, 31} {
		want = append(want, s.addAction(org, dayOf(time.March, d)).ID)
	}
	s.addAction(org, dayOf(time.April, 1))
	s.addAction(other, dayOf(time.March, 15))
	bulk := s.addBulk(org, dayOf(time.March, 31), 3)
	s.clock.Advance(22 * 24 * time.Hour) // 1 April
	if got := s.runArchiver(); got != (Archived{}) {
		t.Errorf("on the first day: %+v", got)
	}
	for range 21 {
		s.clock.Advance(24 * time.Hour)
		s.runArchiver()
	}
	var got []string
	for _, a := range s.readLines(org + "/2026-03/actions") {
		got = append(got, a["id"].(string))
		if _, internal := a["progress"]; internal || a["resourceUID"] != "i-"+org {
			t.Errorf("%v", a)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("actions %v; want %v", got, want)
	}
	if h := s.readLines(org + "/2026-03/history"); len(h) != 3 || h[2]["changedAt"] != "2026-03-31T23:59:59Z" {
		t.Errorf("history: %v", h)
	}
	if b := s.readLines(org + "/2026-03/bulk-actions"); len(b) != 1 || b[0]["id"] != bulk || b[0]["plan"] != nil {
		t.Errorf("bulk actions: %v", b)
	}
	if c := s.readLines(org + "/2026-03/bulk-chunks"); len(c) != 3 || c[2]["bulkActionID"] != bulk ||
		c[2]["region"] != "eu-west-1" {
		t.Errorf("chunks: %v", c)
	}
	if a := s.readLines(other); len(a) != 2 {
		t.Errorf("of the other organization: %v", a)
	}
	if a := s.readLines("2026-04"); len(a) != 0 {
		t.Errorf("of a month that is not over: %v", a)
	}
}

func TestOrganizations_AreArchivedOnDifferentDays(t *testing.T) {
	s := newFixture(t)
	for range 200 {
		s.addAction(s.org(), dayOf(time.March, 15))
	}
	s.clock.Advance(22 * 24 * time.Hour)
	most, all := 0, 0
	for range 21 {
		s.clock.Advance(24 * time.Hour)
		did := s.runArchiver()
		most, all = max(most, did.Organizations), all+did.Organizations
	}
	if all != 200 || most > 30 || s.runArchiver() != (Archived{}) {
		t.Errorf("%d archived, %d on one day", all, most)
	}
}

func TestMonthsThatWereMissed_AreMadeUpFor(t *testing.T) {
	s := newFixture(t)
	org := s.org()
	for _, m := range []time.Month{time.March, time.April, time.June} {
		s.addAction(org, dayOf(m, 20))
	}
	s.clock.Advance(120 * 24 * time.Hour) // 8 July
	for range 20 {
		s.clock.Advance(24 * time.Hour)
		s.runArchiver()
	}
	for month, want := range map[string]int{"2026-03": 2, "2026-04": 2, "2026-05": 0, "2026-06": 2} {
		if got := len(s.readLines(month)); got != want {
			t.Errorf("%s: %d lines; want %d", month, got, want)
		}
	}
}

// TestAMonth_IsTheSameHoweverOftenItIsInterrupted breaks off at calls of the store, before and after they take effect.
func TestAMonth_IsTheSameHoweverOftenItIsInterrupted(t *testing.T) {
	race.SkipRepetition(t)
	s := newFixture(t)
	org := s.org()
	for n := range 25 {
		s.addAction(org, dayOf(time.March, 1).Add(time.Duration(n)*time.Hour))
		s.addBulk(org, dayOf(time.March, 2).Add(time.Duration(n)*time.Hour), 2)
	}
	s.clock.Advance(50 * 24 * time.Hour)
	sound, fresh := s.Table, apitest.Value(identity.AddToDirectory(org))(s)
	archived := func(faults ...table.Injection) map[string][]byte {
		s.Must(os.RemoveAll(s.dir))
		s.Table = sound
		s.Write(table.Delete(identity.DirectoryKey(org)), fresh)
		s.Table = table.NewFaultyStore(sound, s.clock, faults...)
		for range 5 {
			r := s.round()
			r.perFile = 10
			if _, err := r.archiveAll(context.Background()); err == nil {
				break
			}
		}
		s.Table = sound
		return s.files()
	}
	whole := archived()
	if len(whole) != 3*3+5 || len(s.readLines("bulk-chunks")) != 50 || len(s.readLines("actions-0003")) != 10 {
		t.Fatalf("%d files", len(whole))
	}
	for call := 1; call < 80; call += 4 {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			got := archived(table.Injection{Harm: harm, Call: call})
			for name, content := range whole {
				if !bytes.Equal(got[name], content) {
					t.Fatalf("call %d, harm %d: %s is another one", call, harm, name)
				}
			}
			if len(got) != len(whole) {
				t.Fatalf("call %d, harm %d: %d files of %d", call, harm, len(got), len(whole))
			}
		}
	}
}

func TestAnOrganizationThatIsGone_IsNotListedAgain(t *testing.T) {
	s := newFixture(t)
	org := s.org()
	s.addAction(org, dayOf(time.March, 15))
	s.clock.Advance(50 * 24 * time.Hour)
	e := apitest.Read[entry](s.Fixture, identity.DirectoryKey(org))
	s.Write(table.Delete(identity.DirectoryKey(org)))
	s.Must(s.round().archiveOrganization(table.Within(context.Background(), identity.DirectoryPrefix), e))
	if _, err := s.Table.Get(s.Anywhere(), identity.DirectoryKey(org)); err == nil {
		t.Error("it is listed again")
	}
}

func TestAnArchive_IsErasedWithItsOrganization(t *testing.T) {
	s := newFixture(t)
	orgs := []string{s.org(), s.org()}
	for _, org := range orgs {
		s.addAction(org, dayOf(time.March, 15))
	}
	for _, org := range orgs {
		s.Must(s.Lines.Put(context.Background(), org+"/aws/ca_1/2026-03/gen=1/part-0.parquet", func(w io.Writer) error {
			_, err := io.WriteString(w, "lines")
			return err
		}))
	}
	s.clock.Advance(50 * 24 * time.Hour)
	s.runArchiver()
	input := fmt.Sprintf(`{"erase":%q}`, orgs[0])
	apitest.Value(Handler(s.Platform)(context.Background(), json.RawMessage(input)))(s)
	for org, want := range map[string]int64{orgs[0]: 0, orgs[1]: 5} {
		if got, _ := s.Lines.Size(context.Background(), org+"/aws/ca_1/2026-03/gen=1/part-0.parquet"); got != want {
			t.Errorf("%d bytes of line items are left, want %d", got, want)
		}
	}
	if a, b := len(s.readLines(orgs[0])), len(s.readLines(orgs[1])); a != 0 || b != 2 {
		t.Errorf("%d and %d lines are left", a, b)
	}
}

// TestAMonth_IsReadInPages archives a month of many rows: memory holds a page of each partition, not the month.
func TestAMonth_IsReadInPages(t *testing.T) {
	s := newFixture(t)
	org := s.org()
	var ws []table.Write
	for n := range 20_000 {
		a := execution.Action{ID: id.New("act", dayOf(time.March, 12)), Reason: strings.Repeat(strconv.Itoa(n), 200)}
		ws = append(ws, table.Put(apitest.Value(table.NewItem(execution.ActionKey(org, a.ID), a))(s)))
	}
	s.Must(s.Table.BatchWrite(s.In(org), ws...))
	s.clock.Advance(50 * 24 * time.Hour)
	sizes := &pages{Store: s.Table}
	s.Table = sizes
	if did := s.runArchiver(); did.Rows != 20_000 || sizes.most > 4*pageSize {
		t.Errorf("%+v, with pages of up to %d rows", did, sizes.most)
	}
}

// pages notes the largest page that is read.
type pages struct {
	table.Store
	mu   sync.Mutex
	most int
}

func (p *pages) Query(ctx context.Context, q table.Query) (table.Page, error) {
	p.mu.Lock()
	p.most = max(p.most, q.Limit)
	p.mu.Unlock()
	return p.Store.Query(ctx, q)
}
