package auditlogs

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// anchorAnswers makes the worker answer with the anchors, by organization. A nil map is a worker that cannot be
// reached.
func (a *fixture) anchorAnswers(leaves anchor.Leaves) {
	a.Workers = lambdacall.Local{anchor.Worker: func(_ context.Context, in json.RawMessage) (any, error) {
		if leaves == nil {
			return nil, fault.New(fault.Unavailable, "the bucket cannot be read")
		}
		var q anchor.Question
		if err := json.Unmarshal(in, &q); err != nil {
			return nil, err
		}
		if l, ok := leaves[q.Org]; ok {
			return anchor.Answer{Night: l.Anchored, Leaf: &l}, nil
		}
		return anchor.Answer{}, nil
	}}
	a.Mount(Operations)
}

// leafOf anchors the head of an organization's chain as it is.
func (a *fixture) leafOf(org string) anchor.Leaf {
	a.Helper()
	apitest.LinkAudit(a, a.Platform, audit.PlaceOf(org))
	h := apitest.Value(audit.ReadHead(a.In(org), a.Table, audit.PlaceOf(org)))(a)
	return anchor.Leaf{Chain: org, Seq: h.Seq, Hash: h.Hash, At: h.At, Anchored: a.Clock.Now()}
}

// keepRows removes the rows of our chain behind a number, and sets its head back.
func (a *fixture) keepRows(last int64) {
	a.Helper()
	at := audit.PlaceOf(ours)
	var head audit.Head
	for _, it := range apitest.Value(a.Table.Query(a.In(ours), table.Query{PK: at.PK, Limit: 100}))(a).Items {
		row := apitest.Value(table.Decode[audit.Row](it))(a)
		if row.Seq > last {
			a.Write(table.Delete(it.Key))
		} else {
			head = audit.Head{Seq: row.Seq, At: row.At, Hash: row.Hash}
		}
	}
	a.Put(at.Head, head)
}

// begin begins a process, which knows of no entry from before.
func (a *fixture) begin() { a.Platform = a.Clone() }

func (a *fixture) verdict(query string) audit.Verdict {
	a.Helper()
	return apitest.Data[audit.Verdict](a.get(ours, "/audit-logs/verify"+query))
}

func TestVerify_ComparesTheChainWithItsAnchor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *fixture, leaf *anchor.Leaf)
		state  string
		breaks int64 // 0: the chain holds
	}{
		"a chain that goes on":            {func(*fixture, *anchor.Leaf) {}, audit.AnchorHolds, 0},
		"a chain that ends at its anchor": {func(a *fixture, _ *anchor.Leaf) { a.keepRows(5) }, audit.AnchorHolds, 0},
		"a chain whose end was cut off":   {func(a *fixture, _ *anchor.Leaf) { a.keepRows(3) }, audit.AnchorBroken, 4},
		"a chain that is gone":            {func(a *fixture, _ *anchor.Leaf) { a.keepRows(0) }, audit.AnchorBroken, 1},
		"an older copy that goes on": {func(a *fixture, _ *anchor.Leaf) {
			a.keepRows(3)
			a.begin()
			a.write(ours, numberedRows(4)...)
		}, audit.AnchorBroken, 5},
		"an older copy, whose restore was recorded": {func(a *fixture, _ *anchor.Leaf) {
			a.keepRows(3)
			a.Settings.Epoch = a.Clock.Now()
			a.begin()
			a.write(ours, numberedRows(4)...)
		}, audit.AnchorRestored, 0},
		"an older copy, restored before the anchor": {func(a *fixture, leaf *anchor.Leaf) {
			a.keepRows(3)
			a.Settings.Epoch = leaf.Anchored.Add(-time.Minute)
			a.begin()
			a.write(ours, numberedRows(4)...)
		}, audit.AnchorBroken, 5},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.write(ours, numberedRows(5)...)
			leaf := a.leafOf(ours)
			a.write(ours, numberedRows(2)...)
			apitest.LinkAudit(a, a.Platform, audit.PlaceOf(ours))
			a.anchorAnswers(anchor.Leaves{ours: leaf})
			c.change(a, &leaf)
			a.anchorAnswers(anchor.Leaves{ours: leaf})
			v := a.verdict("")
			if v.Anchor.State != c.state || v.Anchor.Seq != 5 || v.Anchor.Hash != leaf.Hash || v.Anchor.At == nil ||
				v.Holds != (c.breaks == 0) || (v.Anchor.Why == "") != (c.state == audit.AnchorHolds) {
				t.Errorf("%+v", v)
			}
			if c.breaks > 0 && (v.BrokenAt == nil || v.BrokenAt.Seq != c.breaks ||
				!strings.Contains(v.BrokenAt.Why, "restore.md")) {
				t.Errorf("it breaks at %+v, want row %d and the way out", v.BrokenAt, c.breaks)
			}
		})
	}
}

func TestVerify_SaysThatThereIsNoAnchor(t *testing.T) {
	a := newFixture(t)
	a.write(ours, numberedRows(3)...)
	a.anchorAnswers(anchor.Leaves{theirs: {Chain: theirs, Seq: 1, Hash: strings.Repeat("b", 64)}})
	if v := a.verdict(""); !v.Holds || v.Anchor.State != audit.NoAnchor ||
		!strings.Contains(v.Anchor.Why, "no anchor yet") {
		t.Errorf("%+v", v)
	}
	if w := a.get(ours, "/audit-logs/verify"); strings.Contains(w.Body, strings.Repeat("b", 64)) {
		t.Errorf("it shows another organization's anchor: %s", w.Body)
	}
	a.anchorAnswers(nil)
	if v := a.verdict(""); !v.Holds || v.Rows != 3 || v.Anchor.State != audit.AnchorUnknown {
		t.Errorf("while the anchors cannot be read: %+v", v)
	}
}

func TestVerify_ComparesTheAnchorInThePartThatHasItsRow(t *testing.T) {
	a := newFixture(t)
	a.write(ours, numberedRows(5)...)
	leaf := a.leafOf(ours)
	a.anchorAnswers(anchor.Leaves{ours: leaf})
	items := apitest.Value(a.Table.Query(a.In(ours), table.Query{PK: audit.PlaceOf(ours).PK, Limit: 10}))(a).Items
	cursor := func(n int) string {
		return "?cursor=" + apitest.Value(audit.DecodeStored(items[n-1]))(a).CursorOf().String()
	}
	a.write(ours, numberedRows(2)...)
	for query, want := range map[string]string{cursor(2): audit.AnchorHolds, cursor(5): audit.AnchorHolds} {
		if v := a.verdict(query); !v.Holds || v.Anchor.State != want {
			t.Errorf("%s: %+v", query, v)
		}
	}
	leaf.Seq, leaf.Hash = 2, strings.Repeat("c", 64)
	a.anchorAnswers(anchor.Leaves{ours: leaf})
	if v := a.verdict(cursor(5)); !v.Holds || v.Anchor.State != audit.AnchorPassed {
		t.Errorf("behind the anchored row: %+v", v)
	}
}

// Damage is told as the place where the chain breaks, also where it keeps waiting entries from being linked.
func TestVerify_DamageIsAPlaceAndNoFailure(t *testing.T) {
	at := audit.PlaceOf(ours)
	for name, harm := range map[string]func(a *fixture, rows []table.Item) (breaks int64){
		"a row with a wrong hash": func(a *fixture, rows []table.Item) int64 {
			a.Change(rows[2].Key, table.Set("hash", strings.Repeat("0", 64)))
			return 3
		},
		"a last row with a wrong hash": func(a *fixture, rows []table.Item) int64 {
			a.Change(rows[4].Key, table.Set("hash", strings.Repeat("0", 64)))
			return 5
		},
		"a row whose members have other types": func(a *fixture, rows []table.Item) int64 {
			a.Change(rows[2].Key, table.Set("id", 7), table.Set("action", []string{"x"}), table.Set("hash", 5))
			return 3
		},
		"a row without a number": func(a *fixture, rows []table.Item) int64 {
			a.Put(rows[2].Key, map[string]string{"hash": "none"})
			return 0
		},
		"a row behind the head": func(a *fixture, rows []table.Item) int64 {
			row := rows[4]
			row.Key = at.RowKey(apitest.Start.Add(time.Hour), 6)
			a.Write(table.Put(row))
			return 5
		},
		"a head of another type": func(a *fixture, _ []table.Item) int64 {
			a.Put(at.Head, map[string]any{"seq": "many"})
			return 1
		},
		"a head with a wrong hash": func(a *fixture, _ []table.Item) int64 {
			a.Change(at.Head, table.Set("hash", strings.Repeat("0", 64)))
			return 5
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.anchorAnswers(anchor.Leaves{})
			a.write(ours, numberedRows(5)...)
			apitest.LinkAudit(a, a.Platform, at)
			breaks := harm(a, apitest.Value(a.Table.Query(a.In(ours), table.Query{PK: at.PK, Limit: 10}))(a).Items)
			for n := range 2 { // the second time with an entry that waits
				w := a.get(ours, "/audit-logs/verify")
				if w.Status != 200 {
					t.Fatalf("%d %s", w.Status, w.Body)
				}
				if v := apitest.Data[audit.Verdict](w); v.Holds || v.BrokenAt == nil ||
					v.BrokenAt.Seq != breaks && (n == 0 || v.BrokenAt.Seq != 6) { // row 6 was linked since
					t.Errorf("%+v %+v, want a break at %d", v, v.BrokenAt, breaks)
				}
				apitest.Value(audit.New(a.Platform).Append(a.Context(), ours, numberedRows(1)[0]))(a)
			}
		})
	}
}
