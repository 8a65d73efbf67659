package cloudtest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// polls bounds how often a resource is read on its way, pause is the time between two reads.
const (
	polls = 200
	pause = 2 * time.Millisecond
)

// trial is the part of the contract that one group is held to.
type trial struct {
	run
	Group
	kind   cloud.Kind
	before map[string]cloud.State // the free resources as they were found
}

func (g trial) runAll(t *testing.T) {
	g.kind = kindOf(t, g.p, g.Kind)
	g.before = g.waitRunning(t)
	t.Run("a list covers all, page by page", g.list)
	t.Run("a read leaves out what does not exist", g.read)
	t.Run("a read says why something cannot be acted on", g.tied)
	t.Run("a call ends with its context", g.cancelled)
	if g.kind.Actionable && len(g.Free) > 0 {
		t.Run("a denied act is told as denied", g.denied)
		t.Run("a stop stops, one bad uid beside it", g.stop)
		t.Run("a start gives back what the stop forgot", g.start)
	}
	t.Run("a scale sets what is given", g.testScale)
	if g.kind.Remembers && g.kind.Scalable && g.f.Settle != nil {
		t.Run("a stop, changes by hand and a start come to the changes alone", g.testChanges)
	}
}

func kindOf(t *testing.T, p cloud.Provider, kind string) cloud.Kind {
	t.Helper()
	k, ok := cloud.Providers{p.Name(): p}.Kind(p.Name(), kind)
	if !ok {
		t.Fatalf("provider %s has no kind %s", p.Name(), kind)
	}
	return k
}

// waitRunning waits until every free resource runs and tells their states.
func (g trial) waitRunning(t *testing.T) map[string]cloud.State {
	t.Helper()
	return g.await(t, cloud.Running)
}

// await reads until every free resource has the status, letting the cloud move on in between.
func (g trial) await(t *testing.T, want cloud.Status) map[string]cloud.State {
	t.Helper()
	var got map[string]cloud.State
	for range polls {
		if got = g.states(t, g.Free); all(got, g.Free, want) {
			return got
		}
		g.moveOn()
	}
	t.Fatalf("not all of %v became %s: %+v", g.Free, want, got)
	return nil
}

// moveOn lets the cloud move on: a twin at once, any other as it does by itself.
func (g trial) moveOn() {
	if g.f.Settle != nil {
		g.f.Settle()
		return
	}
	time.Sleep(pause)
}

func all(got map[string]cloud.State, uids []string, want cloud.Status) bool {
	return !slices.ContainsFunc(uids, func(u string) bool { return got[u].Status != want })
}

func (g trial) states(t *testing.T, uids []string) map[string]cloud.State {
	t.Helper()
	list, err := g.conn.Read(t.Context(), g.Kind, g.Region, uids)
	if err != nil {
		t.Fatalf("Read(%v): %v", uids, err)
	}
	out := map[string]cloud.State{}
	for _, s := range list {
		if _, twice := out[s.UID]; twice || !slices.Contains(uids, s.UID) {
			t.Fatalf("Read(%v) answers %s, which was not asked for or is there twice", uids, s.UID)
		}
		out[s.UID] = s
	}
	return out
}

func (g trial) list(t *testing.T) {
	found, pages := map[string]cloud.Resource{}, 0
	for page := ""; ; pages++ {
		got, err := g.conn.List(t.Context(), g.Kind, g.Region, page)
		if err != nil {
			t.Fatalf("List page %d: %v", pages+1, err)
		}
		for _, res := range got.Resources {
			if _, twice := found[res.UID]; twice {
				t.Errorf("%s is listed twice", res.UID)
			}
			found[res.UID] = res
		}
		if page = got.Next; page == "" {
			break
		}
		if pages > 10_000 {
			t.Fatal("the list does not end")
		}
	}
	if pages+1 < g.Pages {
		t.Errorf("the list has %d pages; want at least %d", pages+1, g.Pages)
	}
	wantListed(t, g.Group, found)
}

func wantListed(t *testing.T, g Group, found map[string]cloud.Resource) {
	t.Helper()
	want := slices.Sorted(maps.Keys(g.Tied))
	want = append(want, g.Free...)
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Fatalf("listed %v; want %v", got, want)
	}
	for uid, res := range found {
		if res.Type != g.Kind || res.Region != g.Region || res.Name == "" || res.Status == "" {
			t.Errorf("%s: type, region, name or status is wrong: %+v", uid, res)
		}
		if part := g.Tied[uid]; !strings.Contains(res.Unschedulable, part) ||
			(part == "") != (res.Unschedulable == "") {
			t.Errorf("%s: listed as unschedulable %q; want %q in it", uid, res.Unschedulable, part)
		}
	}
}

func (g trial) read(t *testing.T) {
	uids := append(slices.Clone(g.Free), g.Missing)
	got := g.states(t, uids)
	if _, there := got[g.Missing]; there || len(got) != len(g.Free) {
		t.Errorf("Read(%v) = %v; want all but %s", uids, got, g.Missing)
	}
	if got := g.states(t, []string{g.Missing}); len(got) != 0 {
		t.Errorf("Read of a missing uid = %v; want nothing", got)
	}
	if got := g.states(t, nil); len(got) != 0 {
		t.Errorf("Read of no uids = %v; want nothing", got)
	}
}

func (g trial) tied(t *testing.T) {
	for uid, s := range g.states(t, slices.Sorted(maps.Keys(g.Tied))) {
		if !strings.Contains(s.Unschedulable, g.Tied[uid]) {
			t.Errorf("%s: reason %q; want %q in it", uid, s.Unschedulable, g.Tied[uid])
		}
	}
	for uid, s := range g.states(t, g.Free) {
		if s.Unschedulable != "" {
			t.Errorf("%s: reason %q; want none", uid, s.Unschedulable)
		}
	}
}

func (g trial) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.conn.List(ctx, g.Kind, g.Region, ""); err == nil {
		t.Error("List with an ended context succeeded")
	}
	if len(g.Free) == 0 {
		return
	}
	if _, err := g.conn.Read(ctx, g.Kind, g.Region, g.Free); err == nil {
		t.Error("Read with an ended context succeeded")
	}
	for _, res := range g.conn.Act(ctx, cloud.Stop, g.Kind, g.Region, targets(g.Free, nil)) {
		if res.Err == nil {
			t.Errorf("Act on %s with an ended context succeeded", res.UID)
		}
	}
}

func (g trial) denied(t *testing.T) {
	if g.f.Deny == nil {
		t.Skip("SKIPPED: this cloud cannot be made to deny")
	}
	g.f.Deny(true)
	defer g.f.Deny(false)
	for _, res := range g.conn.Act(t.Context(), cloud.Stop, g.Kind, g.Region, targets(g.Free, nil)) {
		wantClass(t, "Act on "+res.UID+" without permission", res.Err, cloud.Denied)
	}
	if got := g.states(t, g.Free); !all(got, g.Free, cloud.Running) {
		t.Errorf("after a denied stop: %+v; want all running", got)
	}
}

func (g trial) stop(t *testing.T) {
	for uid, s := range g.waitRunning(t) {
		if g.kind.Remembers != json.Valid(s.Snapshot) {
			t.Errorf("%s runs with snapshot %q; the kind remembers: %v", uid, s.Snapshot, g.kind.Remembers)
		}
	}
	mixed := append([]string{g.Missing}, g.Free...)
	res := g.conn.Act(t.Context(), cloud.Stop, g.Kind, g.Region, targets(mixed, nil))
	wantResults(t, mixed, res)
	for i, uid := range mixed {
		switch {
		case uid == g.Missing:
			wantClass(t, "stop of a missing uid", res[i].Err, cloud.NotFound)
		case res[i].Err != nil:
			t.Errorf("stop of %s beside a missing uid: %v", uid, res[i].Err)
		}
	}
	for uid, s := range g.await(t, cloud.Stopped) {
		if s.Snapshot != nil {
			t.Errorf("%s is off and has snapshot %s: a later stop would remember nothing but zeros", uid, s.Snapshot)
		}
	}
	g.again(t, cloud.Stop, nil)
}

func (g trial) start(t *testing.T) {
	mixed := append(slices.Clone(g.Free), g.Missing)
	res := g.conn.Act(t.Context(), cloud.Start, g.Kind, g.Region, targets(mixed, g.before))
	wantResults(t, mixed, res)
	for _, one := range res {
		if (one.Err != nil) != (one.UID == g.Missing) {
			t.Errorf("start of %s: %v", one.UID, one.Err)
		}
	}
	for uid, s := range g.waitRunning(t) {
		if !sameJSON(s.Snapshot, g.before[uid].Snapshot) {
			t.Errorf("%s came back as %s; want %s", uid, s.Snapshot, g.before[uid].Snapshot)
		}
	}
	g.again(t, cloud.Start, g.before)
}

// again repeats an act that has been done: the provider accepts it or answers that the state forbids it, which makes
// the engine read again, and nothing changes.
func (g trial) again(t *testing.T, v cloud.Verb, before map[string]cloud.State) {
	t.Helper()
	for _, res := range g.conn.Act(t.Context(), v, g.Kind, g.Region, targets(g.Free, before)) {
		if res.Err != nil && cloud.ClassOf(res.Err) != cloud.Moving {
			t.Errorf("a repeated %s of %s: %v of class %d; want none, or Moving", v, res.UID, res.Err,
				cloud.ClassOf(res.Err))
		}
	}
	g.await(t, v.WantedStatus())
}

func targets(uids []string, before map[string]cloud.State) []cloud.Target {
	out := make([]cloud.Target, len(uids))
	for i, u := range uids {
		out[i] = cloud.Target{UID: u, Snapshot: before[u].Snapshot}
	}
	return out
}

func wantResults(t *testing.T, uids []string, res []cloud.Result) {
	t.Helper()
	if len(res) != len(uids) {
		t.Fatalf("%d results for %d targets", len(res), len(uids))
	}
	for i, u := range uids {
		if res[i].UID != u {
			t.Fatalf("result %d is of %s; want %s, in the order of the targets", i, res[i].UID, u)
		}
	}
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}
