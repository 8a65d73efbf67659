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

func transactions(t *testing.T, s table.Store) {
	t.Helper()
	writeItems(t, s, item(at("t", "n"), `{"n":5}`), item(at("t", "gone"), `{}`), item(at("t", "seen"), `{"ok":true}`))
	ws := []table.Write{
		table.Update(at("t", "n"), []table.Change{table.Add("n", 1)}, table.Equal("n", 5)),
		table.Delete(at("t", "gone"), table.Exists()),
		table.Check(at("t", "seen"), table.Equal("ok", true)),
		table.Update(at("t", "made"), []table.Change{table.SetOnce("a", "b")}, table.Absent()),
	}
	for i := range table.MaxTransact - len(ws) {
		ws = append(ws, table.Put(item(at(fmt.Sprintf("t%d", i%3), strconv.Itoa(i)), fmt.Sprintf(`{"i":%d}`, i)), table.Absent()))
	}
	if err := s.Transact(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	wantData(t, s, at("t", "n"), `{"n":6}`)
	wantAbsent(t, s, at("t", "gone"))
	wantData(t, s, at("t", "seen"), `{"ok":true}`)
	wantData(t, s, at("t", "made"), `{"a":"b"}`)
	for i := range table.MaxTransact - 4 {
		wantData(t, s, at(fmt.Sprintf("t%d", i%3), strconv.Itoa(i)), fmt.Sprintf(`{"i":%d}`, i))
	}
}

func transactionsFail(t *testing.T, s table.Store) {
	t.Helper()
	writeItems(t, s, item(at("t", "a"), `{"n":1}`), item(at("t", "b"), `{"n":2}`))
	err := s.Transact(t.Context(),
		table.Put(item(at("t", "new"), `{}`)),
		table.Put(item(at("t", "a"), `{"n":9}`), table.Absent()),
		table.Update(at("t", "b"), []table.Change{table.Add("n", 1)}),
		table.Check(at("t", "c"), table.Exists()),
		table.Delete(at("t", "d")),
	)
	c := failed(t, err)
	if len(c.Failed) != 2 {
		t.Errorf("failures = %+v, want writes 1 and 3", c.Failed)
	}
	if old, ok := c.Old(1); !ok || !sameJSON(old.Data, []byte(`{"n":1}`)) || old.Key != at("t", "a") {
		t.Errorf("write 1 found %s, %t", old.Data, ok)
	}
	if old, ok := c.Old(3); !ok || old.Data != nil {
		t.Errorf("write 3 found %s, %t", old.Data, ok)
	}
	if _, ok := c.Old(0); ok {
		t.Error("write 0 is told to have failed")
	}
	wantAbsent(t, s, at("t", "new"))
	wantData(t, s, at("t", "a"), `{"n":1}`)
	wantData(t, s, at("t", "b"), `{"n":2}`)
}

func transactionsExpired(t *testing.T, s table.Store) {
	t.Helper()
	for _, sk := range []string{"a", "b", "c", "d"} {
		writeItems(t, s, expiring(at("t", sk), `{"n":40}`, past()))
	}
	err := s.Transact(t.Context(),
		table.Put(item(at("t", "a"), `{"n":1}`), table.Absent()),
		table.Update(at("t", "b"), []table.Change{table.Add("n", 1)}),
		table.Check(at("t", "c"), table.Absent()),
		table.Update(at("t", "d"), []table.Change{table.Add("n", 1)}, table.Absent(), table.NotEqual("n", 40)),
	)
	if err != nil {
		t.Fatal(err)
	}
	wantData(t, s, at("t", "a"), `{"n":1}`)
	wantData(t, s, at("t", "b"), `{"n":1}`)
	wantData(t, s, at("t", "d"), `{"n":1}`)
	err = s.Transact(t.Context(), table.Check(at("t", "c"), table.Exists()), table.Delete(at("t", "a")))
	if old, ok := failed(t, err).Old(0); !ok || old.Data != nil {
		t.Errorf("the expired item was found as %s, %t", old.Data, ok)
	}
	writeItems(t, s, expiring(at("t", "e"), `{"n":40}`, past()))
	err = s.Transact(t.Context(), table.Update(at("t", "e"), []table.Change{table.Add("n", 1)}, table.Exists()), table.Delete(at("t", "a")))
	if old, ok := failed(t, err).Old(0); !ok || old.Data != nil {
		t.Errorf("the expired item was found as %s, %t", old.Data, ok)
	}
	wantData(t, s, at("t", "a"), `{"n":1}`)
}

func transactionsRefused(t *testing.T, s table.Store) {
	t.Helper()
	many := make([]table.Write, table.MaxTransact+1)
	for i := range many {
		many[i] = table.Put(item(at("t", strconv.Itoa(i)), `{}`))
	}
	k := at("t", "1")
	wantInvalid(t, "none", s.Transact(t.Context()))
	wantInvalid(t, "101 writes", s.Transact(t.Context(), many...))
	wantInvalid(t, "a key twice", s.Transact(t.Context(), table.Put(item(k, `{}`)), table.Check(k, table.Absent())))
	wantInvalid(t, "a check of nothing", s.Transact(t.Context(), table.Check(k)))
	wantInvalid(t, "a malformed item", s.Transact(t.Context(), table.Put(item(k, `{}`)), table.Put(item(at("t", "2"), `[]`))))
	writeItems(t, s, item(at("t", "s"), `{"s":"text"}`))
	wantInvalid(t, "an add to a text", s.Transact(t.Context(),
		table.Put(item(k, `{}`)), table.Update(at("t", "s"), []table.Change{table.Add("s", 1)})))
	wantAbsent(t, s, k)
}

// transactionsConflict moves coins between accounts from many goroutines: none may be made or lost.
func transactionsConflict(t *testing.T, s table.Store) {
	t.Helper()
	const accounts, movers, moves = 4, 8, 25
	for i := range accounts {
		writeItems(t, s, item(at("acc", strconv.Itoa(i)), `{"n":10}`))
	}
	var all sync.WaitGroup
	for m := range movers {
		all.Go(func() {
			for i := range moves {
				from, to := at("acc", strconv.Itoa((m+i)%accounts)), at("acc", strconv.Itoa((m+i+1+m%2)%accounts))
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
