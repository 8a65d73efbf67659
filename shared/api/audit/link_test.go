package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestFiftyRacersInThreeProcessesMakeOneChain(t *testing.T) {
	c := clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, c))
	processes := []*Log{logOf(store, c), logOf(store, c), logOf(store, c)}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			l := processes[i%3]
			if _, err := l.Append(t.Context(), org, newRow(fmt.Sprint("race", i))); err != nil {
				t.Error(err)
			}
			if _, err := l.Link(t.Context(), PlaceOf(org), endless); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	mustHold(t, store, 50)
	if got := chained(t, store); len(slices.Compact(slices.Sorted(slices.Values(got)))) != 50 {
		t.Errorf("rows %v", got)
	}
}

// A reader finds all rows that were acknowledged before. Linking makes two concurrent calls if no entries wait.
func TestLinkingCostsLittleWhereNothingWaits(t *testing.T) {
	c := clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(store, c)
	leaveEntries(t, l, 1, func() {})
	mustLink(t, l)
	c.Advance(LinkAfter)
	if got, err := l.LinkDue(anywhere(t), endless); err != nil || got != (Due{Chains: 1}) {
		t.Fatalf("%+v %v", got, err)
	}
	ctx, meter := table.WithMeter(t.Context())
	if got, err := l.Link(ctx, PlaceOf(org), endless); err != nil || got.Head.Seq != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if got := meter.Usage().RoundTrips; got != 2 {
		t.Errorf("%d calls", got)
	}
}

// Without readers, the worker links the waiting entries of every chain, and checks again if requests are running.
func TestTheWorkerLinksWhatNobodyReads(t *testing.T) {
	c := clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(store, c)
	for i := range 40 {
		if _, err := l.Append(t.Context(), fmt.Sprint("org_", i), newRow("one")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(t.Context(), "", newRow("signUp")); err != nil {
		t.Fatal(err)
	}
	leaveEntries(t, l, 1, func() {})
	c.Advance(LinkAfter - time.Minute)
	ctx, _ := l.Begin(table.WithOrg(t.Context(), org), Request{Org: org, Row: newRow("killed")})
	if err := store.Transact(ctx,
		table.Put(table.Item{Key: table.Key{PK: table.OrgPK(org) + "TEAM", SK: "team_1"}})); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  Due
	}{
		{0, Due{}}, // other processes may still leave entries that rely on the notes
		{time.Minute, Due{Chains: 42, Rows: 42, Waiting: 1}},
		{time.Minute, Due{Chains: 1, Waiting: 1}},
		{lost, Due{Chains: 1, Rows: 1}},
		{time.Minute, Due{}},
	} {
		c.Advance(step.after)
		if got, err := logOf(store, c).LinkDue(anywhere(t), endless); err != nil || got != step.want {
			t.Errorf("after %s: %+v %v, want %+v", step.after, got, err, step.want)
		}
	}
	mustHold(t, store, 2)
}

// A process notes at most once in noteEvery that entries wait, and never for entries that were not stored.
func TestNotesAreFewAndNeverMissing(t *testing.T) {
	c := clock.NewManual(noon)
	store := tabletest.NewAt(t, c)
	f := table.NewFaultyStore(table.Fenced(store), c)
	l := logOf(f, c)
	notes := func() int {
		page, err := store.Query(anywhere(t), table.Query{PK: PlaceOf(org).duePK(), Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	f.Inject(table.Injection{Harm: table.FailBefore, Call: 1})
	for i, want := range []int{1, 1, 1, 2, 2, 2, 3} {
		leaveEntries(t, l, 1, func() { c.Advance(noteEvery / 3) })
		if got := notes(); got != want {
			t.Errorf("after %d entries: %d notes, want %d", i+1, got, want)
		}
	}
}

// greater returns a greater ID: it replaces its last character that is not the last of the alphabet.
func greater(id string) string {
	i := len(strings.TrimRight(id, "z")) - 1
	return id[:i] + "z" + id[i+1:]
}

// An altered waiting entry is detected when it is linked, and the chain reports it permanently.
func TestWhateverIsDoneToAnEntryThatWaitsIsFoundOut(t *testing.T) {
	key := func(r Row) table.Key { return PlaceOf(org).waitingKey(r.ID) }
	for name, c := range map[string]struct {
		harm func(it table.Item, second Row) []table.Write
		why  string
		want string
	}{
		"nothing": {func(table.Item, Row) []table.Write { return nil }, "", "action1 action2 action3"},
		"it is altered": {func(it table.Item, _ Row) []table.Write {
			return []table.Write{table.Put(editItem(it, "ada@", "eve@"))}
		}, "altered while it waited", "action1 auditEntryAltered action3"},
		"it becomes one of a request under way": {func(it table.Item, _ Row) []table.Write {
			return []table.Write{table.Put(editItem(it, `"row"`, `"underWay":true,"row"`))}
		}, "altered while it waited", "action1 auditEntryAltered action3"},
		"it is no entry any more": {func(it table.Item, _ Row) []table.Write {
			it.Data = json.RawMessage(`{"row":7}`)
			return []table.Write{table.Put(it)}
		}, "altered while it waited", "action1 auditEntryAltered action3"},
		"it is taken away": {func(it table.Item, _ Row) []table.Write {
			return []table.Write{table.Delete(it.Key)}
		}, "taken away while it waited", "action1 auditEntryMissing action3"},
		"another is put in": {func(it table.Item, second Row) []table.Write {
			it.Key = key(Row{ID: greater(second.ID)})
			return []table.Write{table.Put(it)}
		}, "altered while it waited", "action1 action2 auditEntryAltered action3"},
	} {
		t.Run(name, func(t *testing.T) {
			clk := clock.NewManual(noon)
			s := table.Fenced(tabletest.NewAt(t, clk))
			l := logOf(s, clk)
			var left []Row
			for i := range 3 {
				r, err := l.Append(t.Context(), org, newRow(fmt.Sprint("action", i+1)))
				if err != nil {
					t.Fatal(err)
				}
				left = append(left, r)
				clk.Advance(time.Second)
			}
			it, err := s.Get(anywhere(t), key(left[1]))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.harm(it, left[1]) {
				if _, err := s.Write(anywhere(t), w); err != nil {
					t.Fatal(err)
				}
			}
			mustLink(t, logOf(s, clk))
			if got := strings.Join(chained(t, s), " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			v, err := VerifyChain(anywhere(t), s, PlaceOf(org), nil, never)
			if err != nil || v.Holds != (c.why == "") || !v.Holds && !strings.Contains(v.BrokenAt.Why, c.why) {
				t.Errorf("%+v %+v %v", v, v.BrokenAt, err)
			}
		})
	}
}

// An entry that was linked is inserted again unchanged.
func TestAnEntryThatIsPutInAgainIsNotLinkedTwice(t *testing.T) {
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(s, c)
	r, err := l.Append(t.Context(), org, newRow("once"))
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Get(anywhere(t), PlaceOf(org).waitingKey(r.ID))
	if err != nil {
		t.Fatal(err)
	}
	mustLink(t, l)
	if _, err := s.Write(anywhere(t), table.Put(it)); err != nil {
		t.Fatal(err)
	}
	mustLink(t, l)
	mustHold(t, s, 1)
}

// The previous entry of a process was linked by another process, or still waits: in both cases it is not missing.
func TestWhatWasLinkedByOthersIsNotMissing(t *testing.T) {
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(s, c)
	for i := range 5 {
		leaveEntries(t, l, 2, func() { c.Advance(time.Second) })
		mustLink(t, logOf(s, c))
		mustHold(t, s, int64(2*i+2))
	}
	ctx, e := l.Begin(table.WithOrg(t.Context(), org), Request{Org: org, Row: newRow("slow")})
	if err := s.Transact(ctx,
		table.Put(table.Item{Key: table.Key{PK: table.OrgPK(org) + "TEAM", SK: "team_1"}})); err != nil {
		t.Fatal(err)
	}
	leaveEntries(t, l, 2, func() {})
	if got, err := logOf(s, c).Link(t.Context(), PlaceOf(org), endless); err != nil || got.Rows != 2 ||
		got.Waiting != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := e.Finish(ctx, Request{Org: org, Row: newRow("slow")}); err != nil {
		t.Fatal(err)
	}
	leaveEntries(t, l, 1, func() {})
	mustLink(t, logOf(s, c))
	mustHold(t, s, 14)
}

// Processes whose clocks differ by five minutes keep one order (check 83).
func TestTimeNeverGoesBackAlongAChain(t *testing.T) {
	ahead, behind := clock.NewManual(noon.Add(5*time.Minute)), clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, behind))
	a, b := logOf(store, ahead), logOf(store, behind)
	for i := range 6 {
		l := []*Log{a, b}[i%2]
		leaveEntries(t, l, 1, func() {})
		mustLink(t, l)
	}
	behind.Advance(10 * time.Minute)
	leaveEntries(t, b, 1, func() {})
	mustLink(t, b)
	mustHold(t, store, 7)
	for i, r := range rowsOf(t, store) {
		want := noon.Add(5 * time.Minute)
		if i == 6 {
			want = noon.Add(10 * time.Minute)
		}
		if !r.At.Equal(want) {
			t.Errorf("row %d at %s", i+1, r.At)
		}
	}
}

// A restore removes the last rows, and the chain continues differently. Its next row reports that.
func TestAChainSaysThatItGoesOnAfterARestore(t *testing.T) {
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	before := logOf(s, c)
	leaveEntries(t, before, 3, func() { c.Advance(time.Second) })
	kept := mustLink(t, before).Head
	c.Advance(time.Hour)
	restored := NewLog(Options{Store: s, Clock: c, Secret: []byte("of the tests"), Epoch: c.Now()})
	if got := mustLink(t, restored); got.Rows != 1 || got.Head.Seq != 4 {
		t.Errorf("nothing was written since: %+v", got)
	}
	leaveEntries(t, restored, 2, func() {})
	mustLink(t, restored)
	mustHold(t, s, 6)
	r := rowsOf(t, s)[3]
	want := fmt.Sprintf(`{"epoch":%q,"hash":%q,"seq":3}`, noon.Add(time.Hour+3*time.Second).Format(time.RFC3339),
		kept.Hash)
	if after, _ := json.Marshal(r.Changes.After); r.Action != Restored || r.Actor != System || string(after) != want {
		t.Errorf("%s %s %s, want %s", r.Action, r.Actor, after, want)
	}
	v, err := VerifyChain(anywhere(t), s, PlaceOf(org), nil, never)
	if err != nil || len(v.Restores) != 1 || v.Restores[0].Seq != 4 {
		t.Errorf("%+v %v", v, err)
	}
	// saved before the restore, for a later row
	lost := &Cursor{noon.Add(10 * time.Second), 9, strings.Repeat("d", 64)}
	v, err = VerifyChain(anywhere(t), s, PlaceOf(org), lost, never)
	if err != nil || v.Holds || !strings.Contains(v.BrokenAt.Why, "restored") {
		t.Errorf("%+v %+v %v", v, v.BrokenAt, err)
	}
}

// An entry from before the restore does not refer to entries that were lost with it.
func TestWhatWentWithARestoreIsNotMissing(t *testing.T) {
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(s, c)
	first, err := l.Append(t.Context(), org, newRow("gone"))
	if err != nil {
		t.Fatal(err)
	}
	leaveEntries(t, l, 1, func() {})
	if _, err := s.Write(anywhere(t), table.Delete(PlaceOf(org).waitingKey(first.ID))); err != nil {
		t.Fatal(err)
	}
	mustLink(t, NewLog(Options{Store: s, Clock: c, Secret: []byte("of the tests"), Epoch: noon}))
	mustHold(t, s, 1)
}

// If more entries wait in a partition than are read at once, a reader still finds all that were acknowledged before.
func TestLinkingTakesWhatIsBehindAFullPage(t *testing.T) {
	s := table.Fenced(tabletest.New(t))
	l := logOf(s, clock.System{})
	for range entriesPage + 100 {
		if _, err := l.Append(t.Context(), "", newRow("logIn")); err != nil {
			t.Fatal(err)
		}
	}
	at := placeOf("", "192.0.2.1")
	if got, err := l.Link(t.Context(), at, endless); err != nil || got.Rows != entriesPage+100 || got.Waiting != 0 {
		t.Errorf("%+v %v", got, err)
	}
}

// A reader of a long backlog gets an answer in limited time. The remaining entries continue to wait.
func TestLinkingEndsWhenItIsEnough(t *testing.T) {
	s := table.Fenced(tabletest.New(t))
	l := logOf(s, clock.System{})
	leaveEntries(t, l, 200, func() {})
	asked := 0
	got, err := l.Link(t.Context(), PlaceOf(org), func() bool { asked++; return asked > 2 })
	if err != nil || got.Rows != 98 || got.Waiting != 102 || got.Head.Seq != 98 {
		t.Errorf("%+v %v", got, err)
	}
	mustHold(t, s, 98)
	if got := mustLink(t, l); got.Rows != 102 {
		t.Errorf("%+v", got)
	}
	mustHold(t, s, 200)
}

// If a row exists where the next one belongs and the head has not moved, it is not a race.
func TestAChainThatIsDamagedIsAnError(t *testing.T) {
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(s, c)
	leaveEntries(t, l, 1, func() {})
	_, err := s.Write(anywhere(t), table.Put(table.Item{Key: table.Key{PK: PlaceOf(org).PK, SK: sortKey(noon, 1)}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Link(t.Context(), PlaceOf(org), endless); err == nil ||
		!strings.Contains(err.Error(), "do not end where its head says") {
		t.Errorf("%v", err)
	}
}

// BenchmarkLink links a thousand entries.
func BenchmarkLink(b *testing.B) {
	s := table.Fenced(tabletest.New(b))
	l := logOf(s, clock.System{})
	for b.Loop() {
		b.StopTimer()
		leaveEntries(b, l, 1000, func() {})
		b.StartTimer()
		mustLink(b, l)
	}
}

// setBack is a clock that is set back.
type setBack struct{ *clock.Manual }

// If a clock is set back during a request, or between two, no entry seems to be missing.
func TestAClockThatIsSetBackMakesNothingSeemMissing(t *testing.T) {
	ahead, behind := clock.NewManual(noon.Add(time.Hour)), clock.NewManual(noon)
	c := &setBack{ahead}
	s := table.Fenced(tabletest.NewAt(t, behind))
	l := logOf(s, c)
	ctx, e := l.Begin(table.WithOrg(t.Context(), org), Request{Org: org, Row: newRow("first")})
	c.Manual = behind
	if _, err := e.Finish(ctx, Request{Org: org, Row: newRow("first")}); err != nil {
		t.Fatal(err)
	}
	mustLink(t, logOf(s, behind))
	leaveEntries(t, l, 2, func() {})
	mustLink(t, logOf(s, behind))
	mustHold(t, s, 3)
}
