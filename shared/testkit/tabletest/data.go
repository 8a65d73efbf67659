package tabletest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
)

func testKeys(t *testing.T, s table.Store) {
	t.Helper()
	pks := []string{
		"a", "a\x00", "a\x00\x01", "a\x00\x01b", "a\x01", "ab", "å", "日本", "\U0001F4A1", "\x7f", "a b",
		"a#", "a/%\"'\\\n",
	}
	sks := []string{
		"\x00", "\x00\x00", "\x01", " ", "!", "~", "\x7f", "é", "日本語", "\uffff", "\U0001F4A1",
		"\U0010FFFF", "a\nb", `"quoted"\`,
	}
	var ws []table.Write
	for _, pk := range pks {
		for _, sk := range sks {
			ws = append(ws, table.Put(newItem(newKey(pk, sk), fmt.Sprintf(`{"k":%q}`, fmt.Sprintf("%x/%x", pk, sk)))))
		}
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	slices.Sort(sks)
	for _, pk := range pks {
		wantKeys(t, s, table.Query{PK: pk, Limit: 5}, sks)
		for _, sk := range sks[:3] {
			wantData(t, s, newKey(pk, sk), fmt.Sprintf(`{"k":%q}`, fmt.Sprintf("%x/%x", pk, sk)))
		}
	}
}

func testLimits(t *testing.T, s table.Store) {
	t.Helper()
	long := strings.Repeat("x", table.MaxKey+1)
	for name, it := range map[string]table.Item{
		"an empty partition key": newItem(newKey("", "1"), `{}`),
		"an empty sort key":      newItem(newKey("p", ""), `{}`),
		"a long partition key":   newItem(newKey(long, "1"), `{}`),
		"a long sort key":        newItem(newKey("p", long), `{}`),
		"a key not UTF-8":        newItem(newKey("p", "\xff\xfe"), `{}`),
		"a list":                 newItem(newKey("p", "1"), `[1]`),
		"a text":                 newItem(newKey("p", "1"), `"x"`),
		"null":                   newItem(newKey("p", "1"), `null`),
		"no JSON":                newItem(newKey("p", "1"), `{"a":}`),
		"an open object":         newItem(newKey("p", "1"), `{"a":1`),
		"two objects":            newItem(newKey("p", "1"), `{} {}`),
		"a comma too many":       newItem(newKey("p", "1"), `{"a":1,}`),
		"a number with a zero":   newItem(newKey("p", "1"), `{"a":01}`),
		"a number of two points": newItem(newKey("p", "1"), `{"a":1.2.3}`),
		"a bad escape":           newItem(newKey("p", "1"), `{"a":"\x"}`),
		"a control character":    newItem(newKey("p", "1"), "{\"a\":\"\n\"}"),
		"data not UTF-8":         newItem(newKey("p", "1"), "{\"a\":\"\xff\"}"),
		"a field without a name": newItem(newKey("p", "1"), `{"":1}`),
		"a number of 39 digits":  newItem(newKey("p", "1"), `{"a":1`+strings.Repeat("0", 37)+`1}`),
		"a number too big":       newItem(newKey("p", "1"), `{"a":1E126}`),
		"a number too small":     newItem(newKey("p", "1"), `{"a":1E-131}`),
		"data nested too deep": newItem(newKey("p", "1"),
			`{"a":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`}`),
		"an item of 400,001":      newItem(newKey("p", "1"), `{"a":"`+strings.Repeat("x", table.MaxItem)+`"}`),
		"a nested broken literal": newItem(newKey("p", "1"), `{"a":[tru]}`),
	} {
		_, err := s.Write(t.Context(), table.Put(it))
		wantInvalid(t, name, err)
	}
	wantAbsent(t, s, newKey("p", "1"))
	_, err := s.Get(t.Context(), newKey("", "1"))
	wantInvalid(t, "a get of an empty key", err)
	_, err = s.BatchGet(t.Context(), newKey("p", "1"), newKey("p", ""))
	wantInvalid(t, "a batch get of an empty key", err)
	writeItems(t, s, newItem(newKey("p", "grown"), `{"a":"`+strings.Repeat("x", 300_000)+`"}`))
	_, err = s.Write(t.Context(),
		table.Update(newKey("p", "grown"), []table.Change{table.Set("b", strings.Repeat("y", 120_000))}))
	wantInvalid(t, "an update past the largest item", err)
}

func testLargest(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey(strings.Repeat("p", table.MaxKey), strings.Repeat("s", table.MaxKey))
	data := `{"a":"` + strings.Repeat("x", table.MaxItem-2*table.MaxKey-5) + `"}`
	writeItems(t, s, newItem(k, data))
	wantData(t, s, k, data)
	wantKeys(t, s, table.Query{PK: k.PK, Limit: 2}, []string{k.SK})
}

func testNumbers(t *testing.T, s table.Store) {
	t.Helper()
	k := newKey("n", "1")
	for _, n := range []string{
		"0", "-0", "1", "-1", "0.1", "1.0", "100", "1e3", "1E+3", "12.5e-1", "9007199254740993", "-9223372036854775808",
		"12345678901234567890123456789012345678", "-0.12345678901234567890123456789012345678", "1e125",
		"-9.9999999999999999999999999999999999999e125",
		"1e-130", "0.000000000000000000000000000001", "1234567890.123456789", "0.1e1",
	} {
		writeItems(t, s, newItem(k, `{"n":`+n+`,"l":[`+n+`]}`))
		wantData(t, s, k, `{"n":`+n+`,"l":[`+n+`]}`)
	}
	for _, c := range []struct {
		n    string
		add  int64
		want string
	}{
		{"99999999999999999999999999999999999998", 1, "99999999999999999999999999999999999999"},
		{"0.1", 3, "3.1"},
		{"-0.5", 1, "0.5"},
		{"1e20", 7, "100000000000000000007"},
		{"-9223372036854775808", -1, "-9223372036854775809"},
		{"5", -5, "0"},
	} {
		writeItems(t, s, newItem(k, `{"n":`+c.n+`}`))
		got, err := s.Write(t.Context(), table.Update(k, []table.Change{table.Add("n", c.add)}))
		if err != nil || !sameJSON(got.Data, []byte(`{"n":`+c.want+`}`)) {
			t.Errorf("%s + %d = %s, %v; want %s", c.n, c.add, got.Data, err, c.want)
		}
	}
}

func testValues(t *testing.T, s table.Store) {
	t.Helper()
	for i, data := range []string{
		`{"s":"text","e":"","t":true,"f":false,"z":null,"n":-1.5}`,
		`{"o":{},"l":[],"d":{"a":{"b":[{"c":[[]]},1,"x",null,false]}}}`,
		`{"u":"h\u00e9llo \ud83d\udca1 \u0000 \" \\ \/ \b\f\n\r\t <&> \u2028"}`,
		` { "spaced" : [ 1 , 2 ] , "x" : { "y" : 1 } } `,
		`{"long":"` + strings.Repeat("löng ", 20_000) + `"}`,
		`{"list":[` + strings.Repeat(`{"i":1},`, 500) + `{}]}`,
		`{}`,
	} {
		k := newKey("v", strconv.Itoa(i))
		writeItems(t, s, newItem(k, data))
		wantData(t, s, k, data)
		if _, err := s.Write(t.Context(), table.Update(k, []table.Change{table.Set("added", 1)})); err != nil {
			t.Error(err)
		}
		wantData(t, s, k, strings.Replace(strings.Replace(data, "{", `{"added":1,`, 1), ",}", "}", 1))
	}
}

func testNames(t *testing.T, s table.Store) {
	t.Helper()
	var fields []string
	for _, n := range []string{
		"pk", "sk", "expires", "_pk", "__pk", "_sk", "_expires", "pk_", "PK", "name", "status", "size", "count", "data",
		"ttl", "a.b", "a-b", "#a", ":a",
		"a b", "é", "0", "_", "__", `\"q`, "type", "value", "and", "or", "not", "set", "add", "remove",
	} {
		fields = append(fields, `"`+n+`":"`+n+`"`)
	}
	k := newKey("names", "1")
	writeItems(t, s, expiringItem(k, "{"+strings.Join(fields, ",")+"}", future()))
	wantData(t, s, k, "{"+strings.Join(fields, ",")+"}")
	_, err := s.Write(t.Context(), table.Update(k,
		[]table.Change{
			table.Set("pk", "new"), table.Remove("_pk"), table.Set("sk", 1), table.Add("n", 1),
			table.Set("a.b", nil), table.SetOnce("expires", 0),
		},
		table.Equal("pk", "pk"), table.Has("expires"), table.Equal("#a", "#a"), table.Equal("_expires", "_expires")))
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Get(t.Context(), k)
	if err != nil || it.Key != k || it.Expires.IsZero() {
		t.Errorf("after changes of fields with the names of keys the item is %+v until %v, %v", it.Key, it.Expires, err)
	}
	got, _ := decodePlain(it.Data).(map[string]any)
	if got["pk"] != "new" || got["sk"] != "1" || got["expires"] != "expires" || got["__pk"] != "__pk" ||
		got["_pk"] != nil {
		t.Errorf("data = %s", it.Data)
	}
}

func testMeter(t *testing.T, s table.Store) {
	t.Helper()
	ctx, outer := table.WithMeter(t.Context())
	count := func(name string, want table.Usage, call func() error) {
		t.Helper()
		before := outer.Usage()
		if err := call(); err != nil {
			t.Fatal(err)
		}
		after := outer.Usage()
		got := table.Usage{
			RoundTrips: after.RoundTrips - before.RoundTrips,
			ReadUnits:  after.ReadUnits - before.ReadUnits,
			WriteUnits: after.WriteUnits - before.WriteUnits,
		}
		if got != want {
			t.Errorf("%s cost %+v, want %+v", name, got, want)
		}
	}
	small, big := newItem(newKey("m", "1"), `{"a":1}`),
		newItem(newKey("m", "2"), `{"a":"`+strings.Repeat("x", 9000)+`"}`)
	write := func(w table.Write) func() error {
		return func() error { _, err := s.Write(ctx, w); return err }
	}
	count("a small put", table.Usage{RoundTrips: 1, WriteUnits: 1}, write(table.Put(small)))
	count("a put of 9 KB", table.Usage{RoundTrips: 1, WriteUnits: 9}, write(table.Put(big)))
	count("a transaction", table.Usage{RoundTrips: 1, WriteUnits: 4}, func() error {
		return s.Transact(ctx, table.Put(small), table.Check(newKey("m", "3"), table.Absent()))
	})
	count("a small get", table.Usage{RoundTrips: 1, ReadUnits: 1}, func() error {
		_, err := s.Get(ctx, small.Key)
		return err
	})
	count("a get of 9 KB", table.Usage{RoundTrips: 1, ReadUnits: 3}, func() error {
		_, err := s.Get(ctx, big.Key)
		return err
	})
	count("a query", table.Usage{RoundTrips: 1, ReadUnits: 3}, func() error {
		_, err := s.Query(ctx, table.Query{PK: "m", Limit: 10})
		return err
	})
	count("a batch get", table.Usage{RoundTrips: 1, ReadUnits: 4}, func() error {
		_, err := s.BatchGet(ctx, small.Key, big.Key)
		return err
	})
	count("reads that may be eventually consistent", table.Usage{RoundTrips: 3, ReadUnits: (3 + 3 + 4) / 2.},
		func() error {
			loose := table.Eventually(ctx)
			_, err := s.Get(loose, big.Key)
			_, queried := s.Query(loose, table.Query{PK: "m", Limit: 10})
			_, batched := s.BatchGet(loose, small.Key, big.Key)
			return errors.Join(err, queried, batched)
		})
	many := make([]table.Key, 150)
	for i := range many {
		many[i] = newKey("many", strconv.Itoa(i))
	}
	count("a batch get of 150 absent", table.Usage{RoundTrips: 2, ReadUnits: 150}, func() error {
		_, err := s.BatchGet(ctx, many...)
		return err
	})
	count("a query that leaves an item out", table.Usage{RoundTrips: 1, ReadUnits: 3}, func() error {
		_, err := s.Query(ctx, table.Query{PK: "m", Limit: 10, Skip: 1})
		return err
	})
	var ws []table.Write
	for i := range 300 {
		ws = append(ws, table.Put(newItem(newKey("long", fmt.Sprintf("%03d", i)), `{}`)))
	}
	if err := s.BatchWrite(t.Context(), ws...); err != nil {
		t.Fatal(err)
	}
	count("a query that leaves 250 items out", table.Usage{RoundTrips: 2, ReadUnits: 2}, func() error {
		_, err := s.Query(ctx, table.Query{PK: "long", Limit: 10, Skip: 250})
		return err
	})
	count("a delete of 9 KB", table.Usage{RoundTrips: 1, WriteUnits: 9}, write(table.Delete(big.Key)))
}
