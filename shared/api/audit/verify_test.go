package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// storeChain returns a chain of n rows, a second apart, and its items.
func storeChain(t *testing.T, n int) (table.Store, []table.Item) {
	t.Helper()
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(s, c)
	for i := range n {
		r := newRow(fmt.Sprint("action", i+1))
		r.Changes = Changes{nil, map[string]any{"name": fmt.Sprint("team ", i), "cost": json.Number("1.50")}}
		if _, err := l.Append(t.Context(), org, r); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Second)
	}
	mustLink(t, l)
	page, err := s.Query(anywhere(t), table.Query{PK: PlaceOf(org).PK, Limit: 100})
	if err != nil || len(page.Items) != n {
		t.Fatal(len(page.Items), err)
	}
	return s, page.Items
}

// editItem replaces text in an item.
func editItem(it table.Item, was, is string) table.Item {
	if !strings.Contains(string(it.Data), was) {
		panic(was + " is not in " + string(it.Data))
	}
	it.Data = json.RawMessage(strings.Replace(string(it.Data), was, is, 1))
	return it
}

// resealItem returns an item with the hash of its content, as an attacker would write it.
func resealItem(t *testing.T, it table.Item) table.Item {
	t.Helper()
	s, err := DecodeStored(it)
	if err != nil {
		t.Fatal(err)
	}
	was := s.stringMember("hash")
	delete(s, "hash")
	return editItem(it, was, hashContent(s))
}

func TestWhateverIsDoneToAChainIsFoundOut(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, rows []table.Item) []table.Write
		at   int64
		why  string
	}{
		"nothing": {func(*testing.T, []table.Item) []table.Write { return nil }, 0, ""},
		"a row is deleted": {func(_ *testing.T, rows []table.Item) []table.Write {
			return []table.Write{table.Delete(rows[3].Key)}
		}, 5, "missing"},
		"the first row is deleted": {func(_ *testing.T, rows []table.Item) []table.Write {
			return []table.Write{table.Delete(rows[0].Key)}
		}, 2, "rows before it are missing"},
		"the last row is deleted": {func(_ *testing.T, rows []table.Item) []table.Write {
			return []table.Write{table.Delete(rows[9].Key)}
		}, 10, "the last rows are missing"},
		"all rows are deleted": {func(_ *testing.T, rows []table.Item) []table.Write {
			var ws []table.Write
			for _, it := range rows {
				ws = append(ws, table.Delete(it.Key))
			}
			return ws
		}, 1, "the last rows are missing"},
		"the tail is cut off and the head set back": {func(t *testing.T, rows []table.Item) []table.Write {
			t.Helper()
			it, err := table.NewItem(PlaceOf(org).Head,
				Head{Seq: 9, At: noon.Add(8 * time.Second), Hash: strings.Repeat("a", 64)})
			if err != nil {
				t.Fatal(err)
			}
			return []table.Write{table.Delete(rows[9].Key), table.Put(it)}
		}, 9, "head of the chain names"},
		"two rows change places": {func(_ *testing.T, rows []table.Item) []table.Write {
			a, b := rows[3], rows[4]
			a.Key, b.Key = b.Key, a.Key
			return []table.Write{table.Put(a), table.Put(b)}
		}, 5, "missing"},
		"a row is written twice": {func(_ *testing.T, rows []table.Item) []table.Write {
			it := rows[3]
			it.SK = sortKey(noon.Add(3500*time.Millisecond), 4)
			return []table.Write{table.Put(it)}
		}, 4, "put in"},
		"a row is put in behind the last": {func(t *testing.T, rows []table.Item) []table.Write {
			t.Helper()
			s, err := DecodeStored(rows[9])
			if err != nil {
				t.Fatal(err)
			}
			it := editItem(editItem(rows[9], `"seq":10`, `"seq":11`), s.stringMember("previousHash"),
				s.stringMember("hash"))
			it.SK = sortKey(s.rowTime(), 11)
			return []table.Write{table.Put(resealItem(t, it))}
		}, 11, "put in"},
		"a row moves to another time": {func(_ *testing.T, rows []table.Item) []table.Write {
			it := rows[9]
			it.SK = sortKey(noon.Add(time.Hour), 10)
			return []table.Write{table.Delete(rows[9].Key), table.Put(it)}
		}, 10, "where no row of its time and number belongs"},
		"a row is altered and sealed anew": {func(t *testing.T, rows []table.Item) []table.Write {
			t.Helper()
			return []table.Write{table.Put(resealItem(t, editItem(rows[3], "ada@", "eve@")))}
		}, 5, "previousHash is not the hash of row 4"},
		"the last row is altered and sealed anew": {func(t *testing.T, rows []table.Item) []table.Write {
			t.Helper()
			return []table.Write{table.Put(resealItem(t, editItem(rows[9], "ada@", "eve@")))}
		}, 10, "head of the chain names"},
		"a row is no row any more": {func(_ *testing.T, rows []table.Item) []table.Write {
			return []table.Write{table.Put(table.Item{Key: rows[3].Key, Data: json.RawMessage(`{"seq":4}`)})}
		}, 4, "altered"},
		"a member is put beside the others": {func(_ *testing.T, rows []table.Item) []table.Write {
			return []table.Write{table.Put(editItem(rows[3], `"ip"`, `"note":"harmless","ip"`))}
		}, 4, "altered"},
		"a number is spelled in another way": {func(_ *testing.T, rows []table.Item) []table.Write {
			return []table.Write{table.Put(editItem(rows[3], `1.50`, `1.5`))}
		}, 4, "altered"},
	} {
		t.Run(name, func(t *testing.T) {
			s, rows := storeChain(t, 10)
			if ws := c.harm(t, rows); ws != nil {
				if err := s.Transact(anywhere(t), ws...); err != nil {
					t.Fatal(err)
				}
			}
			v, err := VerifyChain(anywhere(t), s, PlaceOf(org), nil, never)
			if err != nil {
				t.Fatal(err)
			}
			if c.why == "" {
				if !v.Holds || v.Rows != 10 {
					t.Errorf("%+v", v)
				}
				return
			}
			if v.Holds || v.BrokenAt == nil || v.BrokenAt.Seq != c.at || !strings.Contains(v.BrokenAt.Why, c.why) {
				t.Errorf("%+v, %+v; want row %d, %q", v, v.BrokenAt, c.at, c.why)
			}
		})
	}
}

func TestEveryMemberOfARowIsSealed(t *testing.T) {
	s, rows := storeChain(t, 3)
	sealed, err := DecodeStored(rows[1])
	if err != nil {
		t.Fatal(err)
	}
	for name := range sealed {
		was := rows[1]
		var members map[string]any
		if err := json.Unmarshal(was.Data, &members); err != nil {
			t.Fatal(err)
		}
		switch v := members[name].(type) {
		case float64:
			members[name] = v + 100
		case string:
			members[name] = v + "0"
			if name == "changes" {
				members[name] = strings.Replace(v, "team", "gang", 1)
			}
		}
		it, err := table.NewItem(was.Key, members)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []table.Write{table.Put(it), table.Put(was)} {
			if _, err := s.Write(anywhere(t), w); err != nil {
				t.Fatal(err)
			}
			v, err := VerifyChain(anywhere(t), s, PlaceOf(org), nil, never)
			if err != nil {
				t.Fatal(err)
			}
			if v.Holds != (string(w.Item.Data) == string(was.Data)) {
				t.Errorf("%s changed to %v: %+v", name, members[name], v)
			}
		}
	}
}

func TestALongChainIsVerifiedInParts(t *testing.T) {
	c := clock.NewManual(noon)
	s := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(s, c)
	leaveEntries(t, l, 2500, func() { c.Advance(time.Millisecond) })
	mustLink(t, l)
	var from *Cursor
	var total int64
	for parts := 1; ; parts++ {
		v, err := VerifyChain(anywhere(t), s, PlaceOf(org), from, func(n int64) bool { return n >= 1000 })
		if err != nil || !v.Holds || v.FirstSeq != total+1 {
			t.Fatalf("part %d: %+v %+v %v", parts, v, v.BrokenAt, err)
		}
		if total += v.Rows; v.Complete {
			if parts != 3 || total != 2501 || v.Next != "" {
				t.Errorf("%d rows in %d parts: %+v", total, parts, v)
			}
			return
		}
		if from, err = ParseCursor(v.Next); err != nil {
			t.Fatal(err)
		}
		if parts > 1 {
			continue
		}
		if _, err := l.Append(t.Context(), org, newRow("meanwhile")); err != nil {
			t.Fatal(err)
		}
		mustLink(t, l)
	}
}

func TestAVerificationGoesOnlyOnFromWhereItWas(t *testing.T) {
	s, _ := storeChain(t, 10)
	v, err := VerifyChain(anywhere(t), s, PlaceOf(org), &Cursor{noon.Add(4 * time.Second), 5, strings.Repeat("b", 64)},
		never)
	if err != nil || v.Holds || v.BrokenAt.Seq != 6 {
		t.Errorf("behind a row with another hash: %+v %v", v, err)
	}
	for _, text := range []string{
		"x", "1.2", "1.2.3", "1.2." + strings.Repeat("g", 64),
		"-1.2." + strings.Repeat("a", 64), strings.Repeat("1", 14) + ".2." + strings.Repeat("a", 64),
	} {
		if _, err := ParseCursor(text); err == nil {
			t.Errorf("%q is a cursor", text)
		}
	}
	was := Cursor{noon.Add(1234 * time.Millisecond), 987654, strings.Repeat("c", 64)}
	if got, err := ParseCursor(was.String()); err != nil || *got != was {
		t.Errorf("%v became %v, %v", was, got, err)
	}
}

// BenchmarkVerify verifies a thousand rows.
func BenchmarkVerify(b *testing.B) {
	s := table.Fenced(tabletest.New(b))
	l := logOf(s, clock.System{})
	ctx := table.Within(b.Context(), "")
	leaveEntries(b, l, 1000, func() {})
	mustLink(b, l)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := VerifyChain(ctx, s, PlaceOf(org), nil, never); err != nil || !v.Holds || v.Rows != 1000 {
			b.Fatal(v, err)
		}
	}
}
