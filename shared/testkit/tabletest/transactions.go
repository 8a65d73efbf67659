package tabletest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

func testTransactions(t *testing.T, s table.Store) {
	t.Helper()
	writeItems(t, s, newItem(newKey("t", "n"), `{"n":5}`), newItem(newKey("t", "gone"), `{}`),
		newItem(newKey("t", "seen"), `{"ok":true}`))
	ws := []table.Write{
		table.Update(newKey("t", "n"), []table.Change{table.Add("n", 1)}, table.Equal("n", 5)),
		table.Delete(newKey("t", "gone"), table.Exists()),
		table.Check(newKey("t", "seen"), table.Equal("ok", true)),
		table.Update(newKey("t", "made"), []table.Change{table.SetOnce("a", "b")}, table.Absent()),
	}
	for i := range table.MaxTransact - len(ws) {
		k := newKey(fmt.Sprintf("t%d", i%3), strconv.Itoa(i))
		ws = append(ws, table.Put(newItem(k, fmt.Sprintf(`{"i":%d}`, i)), table.Absent()))
	}
	if err := s.Transact(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	wantData(t, s, newKey("t", "n"), `{"n":6}`)
	wantAbsent(t, s, newKey("t", "gone"))
	wantData(t, s, newKey("t", "seen"), `{"ok":true}`)
	wantData(t, s, newKey("t", "made"), `{"a":"b"}`)
	for i := range table.MaxTransact - 4 {
		wantData(t, s, newKey(fmt.Sprintf("t%d", i%3), strconv.Itoa(i)), fmt.Sprintf(`{"i":%d}`, i))
	}
}

func transactionsFail(t *testing.T, s table.Store) {
	t.Helper()
	writeItems(t, s, newItem(newKey("t", "a"), `{"n":1}`), newItem(newKey("t", "b"), `{"n":2}`))
	err := s.Transact(t.Context(),
		table.Put(newItem(newKey("t", "new"), `{}`)),
		table.Put(newItem(newKey("t", "a"), `{"n":9}`), table.Absent()),
		table.Update(newKey("t", "b"), []table.Change{table.Add("n", 1)}),
		table.Check(newKey("t", "c"), table.Exists()),
		table.Delete(newKey("t", "d")),
	)
	c := conditionError(t, err)
	if len(c.Failed) != 2 {
		t.Errorf("failures = %+v, want writes 1 and 3", c.Failed)
	}
	if old, ok := c.Old(1); !ok || !sameJSON(old.Data, []byte(`{"n":1}`)) || old.Key != newKey("t", "a") {
		t.Errorf("write 1 found %s, %t", old.Data, ok)
	}
	if old, ok := c.Old(3); !ok || old.Data != nil {
		t.Errorf("write 3 found %s, %t", old.Data, ok)
	}
	if _, ok := c.Old(0); ok {
		t.Error("write 0 is told to have failed")
	}
	wantAbsent(t, s, newKey("t", "new"))
	wantData(t, s, newKey("t", "a"), `{"n":1}`)
	wantData(t, s, newKey("t", "b"), `{"n":2}`)
}

func transactionsExpired(t *testing.T, s table.Store) {
	t.Helper()
	for _, sk := range []string{"a", "b", "c", "d"} {
		writeItems(t, s, expiringItem(newKey("t", sk), `{"n":40}`, past()))
	}
	err := s.Transact(t.Context(),
		table.Put(newItem(newKey("t", "a"), `{"n":1}`), table.Absent()),
		table.Update(newKey("t", "b"), []table.Change{table.Add("n", 1)}),
		table.Check(newKey("t", "c"), table.Absent()),
		table.Update(newKey("t", "d"), []table.Change{table.Add("n", 1)}, table.Absent(), table.NotEqual("n", 40)),
	)
	if err != nil {
		t.Fatal(err)
	}
	wantData(t, s, newKey("t", "a"), `{"n":1}`)
	wantData(t, s, newKey("t", "b"), `{"n":1}`)
	wantData(t, s, newKey("t", "d"), `{"n":1}`)
	err = s.Transact(t.Context(), table.Check(newKey("t", "c"), table.Exists()), table.Delete(newKey("t", "a")))
	if old, ok := conditionError(t, err).Old(0); !ok || old.Data != nil {
		t.Errorf("the expired item was found as %s, %t", old.Data, ok)
	}
	writeItems(t, s, expiringItem(newKey("t", "e"), `{"n":40}`, past()))
	err = s.Transact(t.Context(), table.Update(newKey("t", "e"), []table.Change{table.Add("n", 1)}, table.Exists()),
		table.Delete(newKey("t", "a")))
	if old, ok := conditionError(t, err).Old(0); !ok || old.Data != nil {
		t.Errorf("the expired item was found as %s, %t", old.Data, ok)
	}
	wantData(t, s, newKey("t", "a"), `{"n":1}`)
}

func transactionsRefused(t *testing.T, s table.Store) {
	t.Helper()
	many := make([]table.Write, table.MaxTransact+1)
	for i := range many {
		many[i] = table.Put(newItem(newKey("t", strconv.Itoa(i)), `{}`))
	}
	k := newKey("t", "1")
	wantInvalid(t, "none", s.Transact(t.Context()))
	wantInvalid(t, "101 writes", s.Transact(t.Context(), many...))
	wantInvalid(t, "a key twice", s.Transact(t.Context(), table.Put(newItem(k, `{}`)), table.Check(k, table.Absent())))
	wantInvalid(t, "a check of nothing", s.Transact(t.Context(), table.Check(k)))
	wantInvalid(t, "a malformed item",
		s.Transact(t.Context(), table.Put(newItem(k, `{}`)), table.Put(newItem(newKey("t", "2"), `[]`))))
	writeItems(t, s, newItem(newKey("t", "s"), `{"s":"text"}`))
	wantInvalid(t, "an add to a text", s.Transact(t.Context(),
		table.Put(newItem(k, `{}`)), table.Update(newKey("t", "s"), []table.Change{table.Add("s", 1)})))
	wantAbsent(t, s, k)
}

// transactionsConflict moves coins between accounts from many goroutines: no coin may be created or lost.
func transactionsConflict(t *testing.T, s table.Store) {
	t.Helper()
	const accounts, movers, moves = 4, 8, 25
	for i := range accounts {
		writeItems(t, s, newItem(newKey("acc", strconv.Itoa(i)), `{"n":10}`))
	}
	var all sync.WaitGroup
	for m := range movers {
		all.Go(func() {
			for i := range moves {
				from, to := newKey("acc", strconv.Itoa((m+i)%accounts)),
					newKey("acc", strconv.Itoa((m+i+1+m%2)%accounts))
				err := s.Transact(t.Context(),
					table.Update(from, []table.Change{table.Add("n", -1)}, table.Greater("n", 0)),
					table.Update(to, []table.Change{table.Add("n", 1)}))
				if err != nil && !fault.Is(err, fault.Conflict) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sum := 0
	p, err := s.Query(t.Context(), table.Query{PK: "acc", Limit: accounts})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range p.Items {
		var v struct{ N int }
		if err := json.Unmarshal(it.Data, &v); err != nil || v.N < 0 {
			t.Errorf("account %s has %s, %v", it.SK, it.Data, err)
		}
		sum += v.N
	}
	if sum != accounts*10 {
		t.Errorf("%d coins are left of %d", sum, accounts*10)
	}
}
