package cloudtest

import (
	"encoding/json"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// keepsStopped does the steps of an event readiness plan on a group that somebody stops while it is raised: it
// restores bounds and rule, and the group stays stopped. A start of the group then restores the state before the plan.
func (g autoscaled) keepsStopped(t *testing.T, found cloud.Autoscaling) {
	t.Helper()
	before := g.readState(t)
	more := cloud.Autoscaling{
		Min: found.Desired + 1, Max: max(found.Max, found.Desired) + 3,
		Desired: found.Desired + 2,
	}
	g.setScaling(t, more)
	g.awaitScaling(t, more)
	g.actAndWait(t, cloud.Stop, g.readState(t).Snapshot)
	kept := found
	kept.KeepStopped = true
	g.setScaling(t, kept)
	if got := g.awaitStatus(t, cloud.Stopped); got != cloud.Stopped {
		t.Fatalf("it was stopped, and its bounds were given back: it is %s", got)
	}
	live, err := g.scaler.ReadAutoscaling(t.Context(), g.Kind, g.Region, g.UID)
	if err != nil || !live.RunsNothing() {
		t.Errorf("a stopped group is scaled as %s, %v", scalingText(live), err)
	}
	g.actAndWait(t, cloud.Start, before.Snapshot)
	got := g.awaitScaling(t, cloud.Autoscaling{Min: found.Min, Max: found.Max, Desired: found.Desired})
	if !g.Loose && (scalingText(got) != scalingText(found) || !sameJSON(got.Native, found.Native)) {
		t.Errorf("after its start: %s %s; want %s %s", scalingText(got), got.Native, scalingText(found), found.Native)
	}
}

// awaitStatus returns the status of the group once it is the wanted one, or the last status: a controller takes a
// moment to see a change of bounds.
func (g autoscaled) awaitStatus(t *testing.T, want cloud.Status) cloud.Status {
	t.Helper()
	got := g.readState(t).Status
	for n := 0; n < polls && got != want; n++ {
		g.moveOn()
		got = g.readState(t).Status
	}
	return got
}

// readState reads the state of the group.
func (g autoscaled) readState(t *testing.T) cloud.State {
	t.Helper()
	got, err := g.conn.Read(t.Context(), g.Kind, g.Region, []string{g.UID})
	if err != nil || len(got) != 1 {
		t.Fatalf("Read: %d states, %v", len(got), err)
	}
	return got[0]
}

// actAndWait starts or stops the group and waits until that is done.
func (g autoscaled) actAndWait(t *testing.T, v cloud.Verb, snapshot json.RawMessage) {
	t.Helper()
	for range polls {
		res := g.conn.Act(t.Context(), v, g.Kind, g.Region, []cloud.Target{{UID: g.UID, Snapshot: snapshot}})
		if class := cloud.ClassOf(res[0].Err); res[0].Err != nil && class != cloud.Moving {
			t.Fatalf("%s: %v", v, res[0].Err)
		}
		if g.moveOn(); g.readState(t).Status == v.WantedStatus() {
			return
		}
	}
	t.Fatalf("it is %s after a %s", g.readState(t).Status, v)
}

// kindPermissions asks for the permissions of the kind alone: those of its starts, stops and scales. The account's
// permissions include them all.
func (g autoscaled) kindPermissions(t *testing.T) {
	p, is := g.conn.(cloud.KindProber)
	if !is {
		t.Fatal("the connection is no cloud.KindProber")
	}
	got, err := p.KindPermissions(t.Context(), g.Kind, g.Region, g.UID)
	if err != nil || !slices.ContainsFunc(got, func(p cloud.Permission) bool { return p.Capability == "scale" }) {
		t.Fatalf("%+v, %v; want the permissions of a scale", got, err)
	}
	all, err := g.conn.Permissions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range got {
		known := slices.ContainsFunc(all, func(p cloud.Permission) bool {
			return p.Capability == one.Capability && p.Action == one.Action
		})
		if !known || one.Capability != "scale" && one.Capability != "start_stop" || one.Status == "denied" {
			t.Errorf("%+v is not among the permissions of the account, or not of the kind", one)
		}
	}
	if len(got) >= len(all) {
		t.Errorf("%d permissions of one kind, of %d of the account", len(got), len(all))
	}
	_, err = p.KindPermissions(t.Context(), "no-such-kind", g.Region, g.UID)
	wantClass(t, "KindPermissions of an unknown kind", err, cloud.Invalid)
}
