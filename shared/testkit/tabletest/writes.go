package tabletest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

func putGetDelete(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey("p", "1")
	wantAbsent(t, s, k)
	got, err := s.Write(t.Context(), table.Put(newItem(k, `{"n":1}`)))
	if err != nil || !sameJSON(got.Data, []byte(`{"n":1}`)) || got.Key != k {
		t.Fatalf("put told %s, %v; want the item", got.Data, err)
	}
	wantData(t, s, k, `{"n":1}`)
	writeItems(t, s, newItem(k, `{"m":"two"}`), newItem(newKey("p", "2"), `{}`), table.Item{Key: newKey("q", "1")})
	wantData(t, s, k, `{"m":"two"}`)
	wantData(t, s, newKey("q", "1"), `{}`)
	for range 2 {
		got, err = s.Write(t.Context(), table.Delete(k))
		if err != nil || got.Data != nil {
			t.Fatalf("delete told %s, %v; want the zero item", got.Data, err)
		}
		wantAbsent(t, s, k)
	}
	wantData(t, s, newKey("p", "2"), `{}`)
}

// demand is a condition, and whether it holds for the item demanded and for an absent one.
type demand struct {
	name          string
	cond          table.Cond
	holds, absent bool
}

// demanded is the item of demands.
const demanded = `{"s":"m","n":10,"d":2.50,"neg":-3,"t":true,"f":false,"z":null,"l":[1],"e":"","u":"zé",` +
	`"big":9007199254740993}`

var demands = []demand{
	{"absent", table.Absent(), false, true},
	{"exists", table.Exists(), true, false},
	{"has", table.Has("s"), true, false},
	{"has null", table.Has("z"), true, false},
	{"has not", table.Has("nope"), false, false},
	{"lacks", table.Lacks("nope"), true, true},
	{"lacks not", table.Lacks("s"), false, true},
	{"text equal", table.Equal("s", "m"), true, false},
	{"text not equal", table.Equal("s", "n"), false, false},
	{"empty text", table.Equal("e", ""), true, false},
	{"unicode text", table.Equal("u", "zé"), true, false},
	{"number equal", table.Equal("n", 10), true, false},
	{"int64 equal", table.Equal("n", int64(10)), true, false},
	{"number equal in another spelling", table.Equal("d", json.Number("2.5")), true, false},
	{"number beyond floats", table.Equal("big", int64(9007199254740992)), false, false},
	{"bool equal", table.Equal("t", true), true, false},
	{"bool not equal", table.Equal("f", true), false, false},
	{"kinds differ", table.Equal("n", "10"), false, false},
	{"field absent", table.Equal("nope", "x"), false, false},
	{"unequal", table.NotEqual("s", "x"), true, true},
	{"unequal not", table.NotEqual("s", "m"), false, true},
	{"unequal of another kind", table.NotEqual("s", 5), true, true},
	{"unequal of an absent field", table.NotEqual("nope", 5), true, true},
	{"less", table.Less("n", 11), true, false},
	{"less not", table.Less("n", 10), false, false},
	{"less below zero", table.Less("neg", -2), true, false},
	{"less is by value, not by digits", table.Less("n", 9), false, false},
	{"less equal", table.LessEqual("n", 10), true, false},
	{"less equal not", table.LessEqual("n", 9), false, false},
	{"greater", table.Greater("n", 9), true, false},
	{"greater not", table.Greater("n", 10), false, false},
	{"greater of texts", table.Greater("s", "l"), true, false},
	{"greater by bytes", table.Greater("u", "zz"), true, false},
	{"greater equal", table.GreaterEqual("n", 10), true, false},
	{"greater equal not", table.GreaterEqual("n", 11), false, false},
	{"greater of an absent field", table.Greater("nope", 1), false, false},
	{"any", table.Any(table.Equal("s", "x"), table.Greater("n", 5)), true, false},
	{"any of absence", table.Any(table.Absent(), table.Equal("s", "m")), true, true},
	{"any not", table.Any(table.Equal("s", "x"), table.Greater("n", 50)), false, false},
	{"any within any", table.Any(table.Any(table.Has("nope"), table.Has("l")), table.Has("no")), true, false},
}

func testConditions(t *testing.T, s table.Store) {
	t.Helper()
	there, gone := newKey("c", "there"), newKey("c", "gone")
	writeItems(t, s, newItem(there, demanded))
	for _, d := range demands {
		checkDemand(t, s, newItem(there, demanded), d)
		checkDemand(t, s, table.Item{Key: gone},
			demand{name: d.name + " of an absent item", cond: d.cond, holds: d.absent})
	}
	checkDemand(t, s, newItem(there, demanded),
		demand{name: "any of one", cond: table.Any(table.Has("s")), holds: true})
	_, err := s.Write(t.Context(), table.Put(newItem(there, demanded), table.Equal("s", "m"), table.Less("n", 5)))
	_ = conditionError(t, err)
	_, err = s.Write(t.Context(), table.Put(newItem(there, demanded), table.Equal("s", "m"), table.Less("n", 50)))
	if err != nil {
		t.Errorf("two conditions that hold: %v", err)
	}
}

func conditionsKinds(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey("c", "kinds")
	writeItems(t, s, newItem(k, demanded))
	for name, c := range map[string]table.Cond{
		"a text below a number":  table.Less("s", 99),
		"a number above a text":  table.Greater("n", ""),
		"a truth below a number": table.LessEqual("t", 99),
		"null below a text":      table.Less("z", "zz"),
		"a list above a number":  table.GreaterEqual("l", 0),
	} {
		checkDemand(t, s, newItem(k, demanded), demand{name: name, cond: c})
	}
}

// checkDemand tries a condition with a delete, a put and an update of the item. None of these writes changes the
// item.
func checkDemand(t *testing.T, s table.Store, it table.Item, d demand) {
	t.Helper()
	writes := []table.Write{table.Put(it, d.cond), table.Update(it.Key, []table.Change{table.Set("s", "m")}, d.cond)}
	if it.Data == nil {
		writes = []table.Write{table.Delete(it.Key, d.cond)}
	}
	for _, w := range writes {
		_, err := s.Write(t.Context(), w)
		if err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: verb %d: %v", d.name, w.Verb, err)
		} else if (err == nil) != d.holds {
			t.Errorf("%s: verb %d: holds = %t, want %t", d.name, w.Verb, err == nil, d.holds)
		}
	}
}

func expiredConditions(t *testing.T, s table.Store) {
	t.Helper()
	for _, d := range demands {
		for verb, w := range map[string]func(table.Key) table.Write{
			"put": func(k table.Key) table.Write { return table.Put(newItem(k, `{"new":1}`), d.cond) },
			"update": func(k table.Key) table.Write {
				return table.Update(k, []table.Change{table.Set("new", 1)}, d.cond)
			},
			"delete": func(k table.Key) table.Write { return table.Delete(k, d.cond) },
		} {
			k := newKey("x", d.name+verb)
			writeItems(t, s, expiringItem(k, demanded, past()))
			_, err := s.Write(t.Context(), w(k))
			if (err == nil) != d.absent {
				t.Errorf("%s on %s of an expired item: %v, want holds = %t", d.name, verb, err, d.absent)
			}
			if err != nil {
				if old, _ := conditionError(t, err).Old(0); old.Data != nil {
					t.Errorf("%s on %s: found %s, want nothing", d.name, verb, old.Data)
				}
			} else if verb != "delete" {
				wantData(t, s, k, `{"new":1}`)
			}
		}
	}
}

func conditionOld(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey("o", "1")
	writeItems(t, s, expiringItem(k, `{"state":"done","n":7}`, future()))
	for _, w := range []table.Write{
		table.Put(newItem(k, `{}`), table.Absent()),
		table.Update(k, []table.Change{table.Set("n", 8)}, table.Equal("state", "open")),
		table.Delete(k, table.Less("n", 7)),
	} {
		_, err := s.Write(t.Context(), w)
		old, ok := conditionError(t, err).Old(0)
		if !ok || old.Key != k || !sameJSON(old.Data, []byte(`{"state":"done","n":7}`)) || old.Expires.IsZero() {
			t.Errorf("verb %d found %+v (%s), want the item", w.Verb, old.Key, old.Data)
		}
	}
	_, err := s.Write(t.Context(), table.Delete(newKey("o", "2"), table.Exists()))
	if old, ok := conditionError(t, err).Old(0); !ok || old.Data != nil {
		t.Errorf("an absent item was found as %s", old.Data)
	}
}

func testChanges(t *testing.T, s table.Store) {
	t.Helper()
	for i, c := range []struct {
		before  string
		changes []table.Change
		after   string
	}{
		{`{}`, []table.Change{table.Set("a", "x")}, `{"a":"x"}`},
		{`{"a":1,"b":2}`, []table.Change{table.Set("a", map[string]any{"k": []int{1, 2}})}, `{"a":{"k":[1,2]},"b":2}`},
		{`{"a":1}`, []table.Change{table.Set("a", nil)}, `{"a":null}`},
		{`{"a":1}`, []table.Change{table.SetOnce("a", 2), table.SetOnce("b", 3)}, `{"a":1,"b":3}`},
		{`{"a":null}`, []table.Change{table.SetOnce("a", 2)}, `{"a":null}`},
		{`{"n":40}`, []table.Change{table.Add("n", 2)}, `{"n":42}`},
		{`{"n":1}`, []table.Change{table.Add("n", -3)}, `{"n":-2}`},
		{`{}`, []table.Change{table.Add("n", 5)}, `{"n":5}`},
		{`{"n":1.25}`, []table.Change{table.Add("n", 2)}, `{"n":3.25}`},
		{`{"n":9223372036854775807}`, []table.Change{table.Add("n", 1)}, `{"n":9223372036854775808}`},
		{`{"a":1,"b":2}`, []table.Change{table.Remove("a"), table.Remove("nope")}, `{"b":2}`},
		{
			`{"a":1,"b":2,"c":3}`,
			[]table.Change{table.Set("a", 9), table.Remove("b"), table.Add("c", 1), table.SetOnce("d", "d")},
			`{"a":9,"c":4,"d":"d"}`,
		},
		{`{"a":{"b":1}}`, []table.Change{table.Set("a.b", 2)}, `{"a":{"b":1},"a.b":2}`},
	} {
		k := newKey("u", strconv.Itoa(i))
		writeItems(t, s, newItem(k, c.before))
		got, err := s.Write(t.Context(), table.Update(k, c.changes))
		if err != nil || !sameJSON(got.Data, []byte(c.after)) || got.Key != k {
			t.Errorf("update of %s told %s, %v; want %s", c.before, got.Data, err, c.after)
		}
		wantData(t, s, k, c.after)
	}
}

func changesRefused(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey("r", "1")
	writeItems(t, s, newItem(k, `{"s":"text","l":[1]}`))
	for name, cs := range map[string][]table.Change{
		"add to a text":       {table.Add("s", 1)},
		"add to a list":       {table.Add("l", 1)},
		"no change":           {},
		"a field twice":       {table.Set("a", 1), table.Add("a", 1)},
		"an unnamed field":    {table.Set("", 1)},
		"an unencodable":      {table.Set("a", func() {})},
		"a number too long":   {table.Set("a", json.Number("123456789012345678901234567890123456789"))},
		"an expiry of a text": {{Op: table.ExpireOp, Value: "soon"}},
		"an unknown change":   {{Op: 99, Field: "a"}},
	} {
		_, err := s.Write(t.Context(), table.Update(k, cs))
		wantInvalid(t, name, err)
	}
	wantData(t, s, k, `{"s":"text","l":[1]}`)
	_, err := s.Write(t.Context(), table.Put(newItem(k, `{}`), table.Cond{Op: 99, Field: "a"}))
	wantInvalid(t, "an unknown condition", err)
	_, err = s.Write(t.Context(), table.Put(newItem(k, `{}`), table.Equal("a", []int{1})))
	wantInvalid(t, "a comparison with a list", err)
	_, err = s.Write(t.Context(), table.Put(newItem(k, `{}`), table.Less("a", true)))
	wantInvalid(t, "an order of truths", err)
	_, err = s.Write(t.Context(), table.Put(newItem(k, `{}`), table.Any()))
	wantInvalid(t, "a choice of nothing", err)
	_, err = s.Write(t.Context(), table.Check(k, table.Exists()))
	wantInvalid(t, "a check outside a transaction", err)
}

func updateCreates(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey("n", "1")
	end := future().Truncate(time.Second)
	got, err := s.Write(t.Context(), table.Update(k, []table.Change{table.Add("n", 1), table.Expire(end)}))
	if err != nil || !got.Expires.Equal(end) {
		t.Fatalf("update told expiry %v, %v; want %v", got.Expires, err, end)
	}
	wantData(t, s, k, `{"n":1}`)
	_, err = s.Write(t.Context(), table.Update(k, []table.Change{table.Add("n", 1)}))
	if it, err2 := s.Get(t.Context(), k); err != nil || err2 != nil || !it.Expires.Equal(end) {
		t.Errorf("after another update the expiry is %v, %v, %v; want it kept", it.Expires, err, err2)
	}
	_, err = s.Write(t.Context(), table.Update(k, []table.Change{table.Expire(time.Time{})}))
	if it, err2 := s.Get(t.Context(), k); err != nil || err2 != nil || !it.Expires.IsZero() {
		t.Errorf("after a zero expiry it is %v, %v, %v; want none", it.Expires, err, err2)
	}
	writeItems(t, s, expiringItem(k, `{"n":50,"old":true}`, past()))
	got, err = s.Write(t.Context(), table.Update(k, []table.Change{table.Add("n", 1)}))
	if err != nil || !sameJSON(got.Data, []byte(`{"n":1}`)) || !got.Expires.IsZero() {
		t.Errorf("update of an expired item told %s until %v, %v; want it afresh", got.Data, got.Expires, err)
	}
	_, err = s.Write(t.Context(), table.Update(newKey("n", "2"), []table.Change{table.Add("n", 1)}, table.Exists()))
	_ = conditionError(t, err)
	wantAbsent(t, s, newKey("n", "2"))
}

// testCounters lets 12 stores with 200 writes each compete for the 100 places of a counter, like the rate limit.
func testCounters(t *testing.T, s table.Store) {
	t.Helper()
	const stores, writers, each, places = 12, 20, 10, 100
	r := &race{key: newKey("RATE", "minute"), places: places}
	var all sync.WaitGroup
	for range stores {
		one := table.Fenced(s)
		ctx := table.Within(t.Context(), "RATE")
		for range writers {
			all.Go(func() {
				for range each {
					r.tryAdd(ctx, t, one)
				}
			})
		}
	}
	all.Wait()
	if r.won.Load() != places || r.lost.Load() != stores*writers*each-places {
		t.Errorf("%d adds were accepted and %d refused, want %d and %d", r.won.Load(), r.lost.Load(), places,
			stores*writers*each-places)
	}
	wantData(t, s, r.key, fmt.Sprintf(`{"n":%d}`, places))
}

// race is a counter with limited places.
type race struct {
	key       table.Key
	places    int
	won, lost atomic.Int64
}

// tryAdd makes one conditional add.
func (r *race) tryAdd(ctx context.Context, t *testing.T, s table.Store) {
	t.Helper()
	w := table.Update(r.key, []table.Change{table.Add("n", 1)}, table.Any(table.Lacks("n"), table.Less("n", r.places)))
	_, err := s.Write(ctx, w)
	switch {
	case err == nil:
		r.won.Add(1)
	case fault.Is(err, fault.Conflict):
		r.lost.Add(1)
	default:
		t.Error(err)
	}
}

func testEnded(t *testing.T, s table.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := newKey("e", "1")
	_, werr := s.Write(ctx, table.Put(newItem(k, `{}`)))
	_, gerr := s.Get(ctx, k)
	_, qerr := s.Query(ctx, table.Query{PK: "e", Limit: 1})
	for _, err := range []error{
		werr, gerr, qerr, s.Transact(ctx, table.Put(newItem(k, `{}`))),
		s.BatchWrite(ctx, table.Put(newItem(k, `{}`))),
	} {
		if err == nil || fault.Is(err, fault.NotFound) {
			t.Errorf("error = %v, want the context's", err)
		}
	}
	wantAbsent(t, s, k)
}
