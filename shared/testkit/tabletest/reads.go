package tabletest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
)

func expiredReads(t *testing.T, s table.Store) {
	t.Helper()
	for i := range 20 {
		it := newItem(newKey("x", fmt.Sprintf("%02d", i)), fmt.Sprintf(`{"i":%d}`, i))
		if it.Expires = future(); i%2 == 1 {
			it.Expires = past()
		}
		writeItems(t, s, it)
	}
	wantAbsent(t, s, newKey("x", "01"))
	wantData(t, s, newKey("x", "02"), `{"i":2}`)
	got, err := s.BatchGet(t.Context(), newKey("x", "01"), newKey("x", "02"), newKey("x", "nope"))
	if err != nil || len(got) != 1 || got[newKey("x", "02")].Data == nil {
		t.Errorf("batch get = %v, %v; want only 02", got, err)
	}
	wantKeys(t, s, table.Query{PK: "x", Limit: 3, Skip: 2}, strings.Fields("04 06 08 10 12 14 16 18"))
	wantKeys(t, s, table.Query{PK: "x", Limit: 3, Skip: 3, Reverse: true}, strings.Fields("12 10 08 06 04 02 00"))
}

// wantKeys reads all pages of a query, and requires the sort keys want.
func wantKeys(t *testing.T, s table.Store, q table.Query, want []string) {
	t.Helper()
	var got []string
	limit := q.Limit
	for range 200 {
		p, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatalf("query %+v: %v", q, err)
		}
		if len(p.Items) > limit {
			t.Errorf("query %+v gave %d items", q, len(p.Items))
		}
		for _, it := range p.Items {
			if it.PK != q.PK {
				t.Errorf("query %+v gave an item of %q", q, it.PK)
			}
			got = append(got, it.SK)
		}
		if q.Cursor = p.Next; q.Cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("query %+v = %q, want %q", q, got, want)
	}
}

func testQueries(t *testing.T, s table.Store) {
	t.Helper()
	var all []string
	var ws []table.Write
	for i := range 25 {
		all = append(all, fmt.Sprintf("a#%02d", i), fmt.Sprintf("b#%02d", i))
	}
	all = append(all, "a", "a#", "a$", "b", "\uffff", "a#05\x00", "a#05\x00x", "é")
	for _, sk := range all {
		ws = append(ws, table.Put(newItem(newKey("q", sk), `{"v":1}`)),
			table.Put(newItem(newKey("q2", sk), `{}`)), table.Put(newItem(newKey("q\x00", sk), `{}`)),
			table.Put(newItem(newKey("p", sk), `{}`)))
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	for _, shape := range []table.Query{
		{},
		{Prefix: "a#"},
		{Prefix: "a#1"},
		{Prefix: "zz"},
		{Prefix: "\uffff"},
		{From: "a#10"},
		{To: "a#10"},
		{From: "a#05", To: "b#03"},
		{From: "a#05\x00", To: "a#06"},
		{From: "b", To: "a"},
		{From: "c", To: "d"},
	} {
		for _, reverse := range []bool{false, true} {
			for _, skip := range []int{0, 1, 7, 1000} {
				q := shape
				q.PK, q.Reverse, q.Skip, q.Limit = "q", reverse, skip, 11
				wantKeys(t, s, q, modelQuery(all, q))
			}
		}
	}
	wantKeys(t, s, table.Query{PK: "q", Limit: 1, Prefix: "a#0"}, modelQuery(all, table.Query{Prefix: "a#0"}))
	wantKeys(t, s, table.Query{PK: "q", Limit: len(all)}, all)
	wantKeys(t, s, table.Query{PK: "nothing", Limit: 5}, nil)
}

// modelQuery returns the result of a query on the sorted list.
func modelQuery(sorted []string, q table.Query) []string {
	var out []string
	for _, sk := range sorted {
		if strings.HasPrefix(sk, q.Prefix) && sk >= q.From && (q.To == "" || sk <= q.To) {
			out = append(out, sk)
		}
	}
	if q.Reverse {
		slices.Reverse(out)
	}
	return out[min(q.Skip, len(out)):]
}

func queriesRefused(t *testing.T, s table.Store) {
	t.Helper()
	for name, q := range map[string]table.Query{
		"no partition":       {Limit: 1},
		"no limit":           {PK: "q"},
		"a limit too big":    {PK: "q", Limit: table.MaxPage + 1},
		"a skip below zero":  {PK: "q", Limit: 1, Skip: -1},
		"prefix and from":    {PK: "q", Limit: 1, Prefix: "a", From: "b"},
		"a damaged cursor":   {PK: "q", Limit: 1, Cursor: "*"},
		"a bound not UTF-8":  {PK: "q", Limit: 1, From: "\xff"},
		"a bound too long":   {PK: "q", Limit: 1, To: strings.Repeat("x", table.MaxKey+1)},
		"a cursor not UTF-8": {PK: "q", Limit: 1, Cursor: "__8"},
	} {
		_, err := s.Query(t.Context(), q)
		wantInvalid(t, name, err)
	}
	if _, err := s.Feed(t.Context(), "", 0); err == nil {
		t.Error("a feed of no limit was accepted")
	}
	_, err := s.Feed(t.Context(), "*", 1)
	wantInvalid(t, "a damaged cursor of the feed", err)
}

func bigPages(t *testing.T, s table.Store) {
	t.Helper()
	var want []string
	for i := range 9 {
		k := newKey("big", strconv.Itoa(i))
		want = append(want, k.SK)
		writeItems(t, s, newItem(k, fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", 300_000))))
	}
	p, err := s.Query(t.Context(), table.Query{PK: "big", Limit: 9})
	if err != nil || p.Next == "" || len(p.Items) == 0 {
		t.Errorf("2.7 MB came as one page of %d items, %v", len(p.Items), err)
	}
	wantKeys(t, s, table.Query{PK: "big", Limit: 9}, want)
	wantKeys(t, s, table.Query{PK: "big", Limit: 9, Skip: 5}, want[5:])
}

func expiredPages(t *testing.T, s table.Store) {
	t.Helper()
	for i := range 6 {
		it := expiringItem(newKey("e", strconv.Itoa(i)), `{}`, past())
		if i == 2 || i == 5 {
			it.Expires = future()
		}
		writeItems(t, s, it)
	}
	var got []string
	for q := (table.Query{PK: "e", Limit: 2}); ; {
		p, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, it := range p.Items {
			keys = append(keys, it.SK)
		}
		got = append(got, strings.Join(keys, " "))
		if q.Cursor = p.Next; q.Cursor == "" {
			break
		}
	}
	if want := []string{"", "2", "5", ""}; !slices.Equal(got, want) {
		t.Errorf("pages of two = %q, want %q", got, want)
	}
}

func testBatches(t *testing.T, s table.Store) {
	t.Helper()
	const n = 230
	keys := make([]table.Key, n)
	ws := make([]table.Write, n)
	for i := range keys {
		keys[i] = newKey(fmt.Sprintf("part%d", i%7), fmt.Sprintf("%03d", i))
		ws[i] = table.Put(newItem(keys[i], fmt.Sprintf(`{"i":%d}`, i)))
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	got, err := s.BatchGet(t.Context(), append(keys, keys[3], newKey("part0", "nope"))...)
	if err != nil || len(got) != n {
		t.Fatalf("batch get gave %d items, %v; want %d", len(got), err, n)
	}
	for i, k := range keys {
		if !sameJSON(got[k].Data, fmt.Appendf(nil, `{"i":%d}`, i)) || got[k].Key != k {
			t.Errorf("item %v = %s", k, got[k].Data)
		}
	}
	testDeletes(t, s, keys)
	if got, err = s.BatchGet(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("a batch get of nothing = %v, %v", got, err)
	}
	if err := s.BatchWrite(t.Context()); err != nil {
		t.Errorf("a batch of nothing: %v", err)
	}
}

// testDeletes deletes two of three items in a batch, and replaces the others.
func testDeletes(t *testing.T, s table.Store, keys []table.Key) {
	t.Helper()
	ws := make([]table.Write, len(keys))
	for i := range ws {
		if ws[i] = table.Delete(keys[i]); i%3 == 0 {
			ws[i] = table.Put(newItem(keys[i], `{"again":true}`))
		}
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	if got, err := s.BatchGet(t.Context(), keys...); err != nil || len(got) != 77 {
		t.Errorf("after the deletes %d items are left, %v; want 77", len(got), err)
	}
}

func batchesRefused(t *testing.T, s table.Store) {
	t.Helper()
	a, b := newKey("b", "1"), newKey("b", "2")
	for name, ws := range map[string][]table.Write{
		"a condition":     {table.Put(newItem(a, `{}`)), table.Put(newItem(b, `{}`), table.Absent())},
		"an update":       {table.Put(newItem(a, `{}`)), table.Update(b, []table.Change{table.Set("a", 1)})},
		"a key twice":     {table.Put(newItem(a, `{}`)), table.Delete(a)},
		"a malformed key": {table.Put(newItem(a, `{}`)), table.Delete(table.Key{PK: "b"})},
	} {
		wantInvalid(t, name, s.BatchWrite(t.Context(), ws...))
		wantAbsent(t, s, a)
	}
}
