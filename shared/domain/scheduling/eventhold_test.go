package scheduling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// hold returns a hold of a plan on a Deployment, in a namespace of a cluster.
func hold(policyID, name string) EventHold {
	return EventHold{
		PlanID: "evt_1", PolicyID: policyID, UID: "c/shop/deployments/" + name, Enclosing: []string{"c/shop", "arn:c"},
		Since: apitest.Start, Until: apitest.Start.Add(time.Hour),
	}
}

func read(f *apitest.Fixture) EventHolds {
	return apitest.Value(ReadEventHolds(f.In(org), f.Table, org))(f)
}

func TestList_Against(t *testing.T) {
	f := apitest.New(t)
	f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, hold("asp_1", "web"))...))
	f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, hold("asp_2", "api"))...))
	l := read(f)
	for name, c := range map[string]struct {
		verb cloud.Verb
		uid  string
		want bool
	}{
		"a stop of the target":             {cloud.Stop, "c/shop/deployments/web", true},
		"a start of the target":            {cloud.Start, "c/shop/deployments/web", false},
		"a stop of its namespace":          {cloud.Stop, "c/shop", true},
		"a stop of its cluster":            {cloud.Stop, "arn:c", true},
		"a stop of another namespace":      {cloud.Stop, "c/blog", false},
		"a stop of a Deployment beside it": {cloud.Stop, "c/shop/deployments/we", false},
		"a stop of something inside of it": {cloud.Stop, "c/shop/deployments/web/pod", false},
	} {
		if why := l.Against(c.verb, c.uid); (why != "") != c.want || c.want && !strings.Contains(why, "evt_1") {
			t.Errorf("%s: %q", name, why)
		}
	}
	if n := len(l.Inside("c/shop")); n != 2 {
		t.Errorf("a stop of the namespace breaks %d holds; want 2", n)
	}
}

func TestBegin_FailsWhileAStopIsInFlightAndMayBeRepeated(t *testing.T) {
	f := apitest.New(t)
	h := hold("asp_1", "web")
	f.Put(inventory.ResourceKey(org, h.UID), inventory.Resource{UID: h.UID})
	f.Write(inventory.ClaimResource(org, h.UID, "act_1", cloud.Stop))
	if err := f.Table.Transact(f.In(org), BeginEventHold(org, h)...); err == nil {
		t.Error("a target is held while a stop of it is in flight")
	}
	f.Write(inventory.ReleaseResource(org, h.UID, "act_1"), inventory.ClaimResource(org, h.UID, "act_2", cloud.Start))
	for range 2 {
		f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, h)...))
	}
	if n := len(read(f).All()); n != 3 {
		t.Errorf("%d resources are held; want the target, its namespace and its cluster", n)
	}
}

func TestEnd_LeavesOtherHoldsAndMakesTheOrganisationDue(t *testing.T) {
	f := apitest.New(t)
	f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, hold("asp_1", "web"))...))
	f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, hold("asp_2", "api"))...))
	ws := apitest.Value(EndEventHold(f.In(org), f.Table, org, "asp_1", f.Clock.Now()))(t)
	f.Must(f.Table.Transact(table.Within(f.In(org), DuePrefix), ws...))
	l := read(f)
	if _, held := l.Of("c/shop/deployments/web"); held || l.Against(cloud.Stop, "c/shop") == "" || len(l.Ended()) != 1 {
		t.Errorf("held %s, ended %s", apitest.JSON(l.All()), apitest.JSON(l.Ended()))
	}
	if ws = apitest.Value(EndEventHold(f.In(org), f.Table, org, "asp_1", f.Clock.Now()))(t); len(ws) != 0 {
		t.Errorf("a hold ends twice: %d writes", len(ws))
	}
	for field := range l.Ended() {
		f.Write(l.Forget(org, field))
	}
	f.Write(DropEventHold(org, "asp_2"))
	if l = read(f); len(l.All()) != 0 || len(l.Ended()) != 0 {
		t.Errorf("held %s, ended %s", apitest.JSON(l.All()), apitest.JSON(l.Ended()))
	}
}

func TestOwe_IsOfOneHoldAndEndsWithIt(t *testing.T) {
	f := apitest.New(t)
	first := hold("asp_1", "web")
	f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, first)...))
	order := OwedOrder{BulkID: "bulk_1", UIDs: []string{first.UID, "c/shop", "c/free"}, Promised: true}
	w, some := read(f).Owe(org, order)
	if !some {
		t.Fatal("nothing is owed")
	}
	f.Write(w)
	f.Write(w)
	l := read(f)
	for uid, want := range map[string]bool{first.UID: true, "c/shop": true, "c/free": false, "arn:c": false} {
		if o, is := l.Owed(first, uid); is != want || o.Promised != want {
			t.Errorf("owed of %s: %v, %+v", uid, is, o)
		}
	}
	if n := len(l.All()); n != 3 {
		t.Errorf("%d resources are held; want the target, its namespace and its cluster", n)
	}
	ws := apitest.Value(EndEventHold(f.In(org), f.Table, org, "asp_1", f.Clock.Now()))(t)
	f.Must(f.Table.Transact(table.Within(f.In(org), DuePrefix), ws...))
	if _, err := f.Table.Write(f.In(org), w); err == nil {
		t.Error("a hold that has ended owes more")
	}
	later := first
	later.Since = first.Since.Add(time.Hour)
	f.Must(f.Table.Transact(f.In(org), BeginEventHold(org, later)...))
	l = read(f)
	if _, is := l.Owed(later, first.UID); is {
		t.Error("a later hold owes what an earlier one has kept")
	}
	for field := range l.Ended() {
		f.Write(l.Forget(org, field))
	}
	if l = read(f); len(l.owed) != 0 || len(l.Ended()) != 0 || len(l.All()) != 3 {
		t.Errorf("owed %s, ended %s, held %s", apitest.JSON(l.owed), apitest.JSON(l.Ended()), apitest.JSON(l.All()))
	}
	if _, some = l.Owe(org, OwedOrder{BulkID: "bulk_2", UIDs: []string{"c/free"}}); some {
		t.Error("a resource that nothing holds is owed")
	}
}

func TestEnclosing_FollowsParentsAndEnds(t *testing.T) {
	f := apitest.New(t)
	for uid, parent := range map[string]string{"web": "shop", "shop": "cluster", "a": "b", "b": "a"} {
		f.Put(inventory.ResourceKey(org, uid), inventory.Resource{UID: uid, ParentUID: parent})
	}
	for uid, want := range map[string][]string{"web": {"shop", "cluster"}, "cluster": nil, "a": {"b", "a", "b"}} {
		if got := apitest.Value(EnclosingUIDs(f.In(org), f.Table, org, uid))(t); !slices.Equal(got, want) {
			t.Errorf("%s lies in %v; want %v", uid, got, want)
		}
	}
}

// TestList_AsLargeAsAnOrganisationMayHaveIt stores a hold for each of an organisation's 500 policies, with long UIDs.
func TestList_AsLargeAsAnOrganisationMayHaveIt(t *testing.T) {
	f := apitest.New(t)
	const most = 500
	for n := range most {
		h := hold(fmt.Sprintf("asp_%026d", n), strings.Repeat("x", 200)+strconv.Itoa(n))
		f.Write(BeginEventHold(org, h)[0])
	}
	if n := len(read(f).byPolicy); n != most {
		t.Errorf("%d holds are on the list; want %d", n, most)
	}
}
