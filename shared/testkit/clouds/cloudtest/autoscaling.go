package cloudtest

import (
	"context"
	"encoding/json"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// Autoscaled is a group that its provider scales, at a size of at least 1. Other is a change by somebody else: it adds
// one instance to the group, and raises the maximum if needed. Mutations counts the changing calls so far; nil leaves
// the case out.
type Autoscaled struct {
	Kind, Region string
	UID, Missing string
	Fixed        bool // it has no rule, and no minimum and maximum before one is made
	// its rule sets its size: the wanted size applies only without a rule
	Loose     bool
	Unscaled  string             // a kind of the same provider that is not scaled by it
	Other     func(t *testing.T) // nil leaves the case out
	Mutations func() int         //
	// tells of the customer's own rules, which stay as they are; nil leaves the case out
	Custom func(t *testing.T) (before string)
}

func (r run) runAutoscaled(t *testing.T) {
	a, ok := r.conn.(cloud.Autoscaler)
	if !ok {
		t.Fatal("the connection is no cloud.Autoscaler")
	}
	for _, g := range r.f.Autoscaled {
		t.Run(g.Kind, autoscaled{Autoscaled: g, conn: r.conn, scaler: a, moveOn: trial{run: r}.moveOn}.runAll)
	}
}

type autoscaled struct {
	Autoscaled
	conn   cloud.Conn
	scaler cloud.Autoscaler
	moveOn func()
}

func (g autoscaled) runAll(t *testing.T) {
	found := g.readScaling(t)
	custom := g.custom(t)
	t.Run("scalings that contradict themselves are refused", g.refusals)
	t.Run("sizes and rule are set, and once", g.sets)
	t.Run("sizes are set and the rule stays", g.setsSizes)
	t.Run("the remembered scaling comes back", func(t *testing.T) { g.restoreScaling(t, found) })
	t.Run("a change by somebody else meanwhile is read, and undone", func(t *testing.T) { g.others(t, found) })
	t.Run("one that is stopped meanwhile stays so, and its start gives it back", func(t *testing.T) {
		g.keepsStopped(t, found)
	})
	t.Run("the permissions of its kind are told alone", g.kindPermissions)
	if got := g.custom(t); got != custom {
		t.Errorf("the customer's own rules are %s; want %s, as before", got, custom)
	}
}

func (g autoscaled) custom(t *testing.T) string {
	t.Helper()
	if g.Custom == nil {
		return ""
	}
	return g.Custom(t)
}

func (g autoscaled) readScaling(t *testing.T) cloud.Autoscaling {
	t.Helper()
	got, err := g.scaler.ReadAutoscaling(t.Context(), g.Kind, g.Region, g.UID)
	if err != nil || len(got.Native) == 0 || got.Desired < 1 || got.Min > got.Max {
		t.Fatalf("ReadAutoscaling: %+v, %v; want a size of at least 1, and a native scaling to restore", got, err)
	}
	return got
}

// setScaling sets it, as soon as the cloud lets it.
func (g autoscaled) setScaling(t *testing.T, want cloud.Autoscaling) {
	t.Helper()
	var err error
	for range polls {
		if err = g.scaler.SetAutoscaling(t.Context(), g.Kind, g.Region, g.UID,
			want); cloud.ClassOf(err) != cloud.Moving {
			break
		}
		g.moveOn()
	}
	if err != nil {
		t.Fatalf("SetAutoscaling(%s): %v", scalingText(want), err)
	}
}

// awaitScaling reads until the group is scaled so.
func (g autoscaled) awaitScaling(t *testing.T, want cloud.Autoscaling) cloud.Autoscaling {
	t.Helper()
	var got cloud.Autoscaling
	for range polls {
		if got = g.readScaling(t); g.loosened(want, got).IsMetBy(got) {
			return got
		}
		g.moveOn()
	}
	t.Fatalf("the group is scaled as %s; want %s", scalingText(got), scalingText(want))
	return got
}

// loosened returns want with a size that a rule has set, within its bounds.
func (g autoscaled) loosened(want, got cloud.Autoscaling) cloud.Autoscaling {
	if g.Loose && (got.TargetCPUPercent != nil || !g.Fixed) && got.Desired >= want.Min && got.Desired <= want.Max {
		want.Desired = got.Desired
	}
	return want
}

func scalingText(a cloud.Autoscaling) string {
	a.Native = nil
	b, _ := json.Marshal(a) // numbers always encode
	return string(b)
}

func (g autoscaled) refusals(t *testing.T) {
	ctx, one, two := t.Context(), int64(1), int64(2)
	wrong := map[string]cloud.Autoscaling{
		"a minimum above the maximum": {Min: 2, Max: 1, Desired: 1},
		"a size above the maximum":    {Min: 1, Max: 2, Desired: 3},
		"a size below the minimum":    {Min: 2, Max: 3, Desired: 1},
		"a negative minimum":          {Min: -1, Max: 1},
		"a target above 100":          {Min: 1, Max: 1, Desired: 1, TargetCPUPercent: new(int64(101))},
		"a target of 0":               {Min: 1, Max: 1, Desired: 1, TargetCPUPercent: new(int64(0))},
		"a cooldown without a target": {Min: 1, Max: 1, Desired: 1, CooldownSeconds: &two},
		"a cooldown of a day": {
			Min: 1, Max: 1, Desired: 1, TargetCPUPercent: &one,
			CooldownSeconds: new(int64(86_400)),
		},
		"a memory that cannot be read": {Native: []byte(`"nonsense"`)},
	}
	before := g.readScaling(t)
	for name, want := range wrong {
		wantClass(t, name, g.scaler.SetAutoscaling(ctx, g.Kind, g.Region, g.UID, want), cloud.Invalid)
	}
	some := cloud.Autoscaling{Min: 1, Max: 1, Desired: 1}
	_, err := g.scaler.ReadAutoscaling(ctx, g.Kind, g.Region, g.Missing)
	wantClass(t, "ReadAutoscaling of a missing group", err, cloud.NotFound)
	wantClass(t, "SetAutoscaling of a missing group", g.scaler.SetAutoscaling(ctx, g.Kind, g.Region, g.Missing, some),
		cloud.NotFound)
	if g.Unscaled != "" {
		_, err = g.scaler.ReadAutoscaling(ctx, g.Unscaled, g.Region, g.UID)
		wantClass(t, "ReadAutoscaling of a kind that is not scaled", err, cloud.Unsupported)
		wantClass(t, "SetAutoscaling of it", g.scaler.SetAutoscaling(ctx, g.Unscaled, g.Region, g.UID, some),
			cloud.Unsupported)
	}
	_, err = g.scaler.ReadAutoscaling(ctx, "no-such-kind", g.Region, g.UID)
	wantClass(t, "ReadAutoscaling of an unknown kind", err, cloud.Invalid)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := g.scaler.SetAutoscaling(gone, g.Kind, g.Region, g.UID, some); err == nil {
		t.Error("SetAutoscaling with an ended context succeeded")
	}
	if after := g.readScaling(t); scalingText(after) != scalingText(before) || !sameJSON(after.Native, before.Native) {
		t.Errorf("after a refused scaling: %s %s; want %s %s", scalingText(after), after.Native, scalingText(before),
			before.Native)
	}
}

// largerScaling is larger than found, by a rule.
func (g autoscaled) largerScaling(t *testing.T) cloud.Autoscaling {
	t.Helper()
	now := g.readScaling(t)
	return cloud.Autoscaling{
		Min: now.Desired + 1, Max: max(now.Max, now.Desired) + 3, Desired: now.Desired + 2,
		TargetCPUPercent: new(int64(55)), CooldownSeconds: new(int64(180)),
	}
}

func (g autoscaled) sets(t *testing.T) {
	want := g.largerScaling(t)
	g.setScaling(t, want)
	g.awaitScaling(t, want)
	g.wantNoChange(t, func() { g.setScaling(t, want) })
	want.TargetCPUPercent, want.CooldownSeconds = new(int64(70)), new(int64(240))
	g.setScaling(t, want)
	g.awaitScaling(t, want)
}

// wantNoChange demands that do calls nothing that changes something.
func (g autoscaled) wantNoChange(t *testing.T, do func()) {
	t.Helper()
	if g.Mutations == nil {
		do()
		return
	}
	before := g.Mutations()
	if do(); g.Mutations() != before {
		t.Errorf("%d calls that change something; want none, for it was so already", g.Mutations()-before)
	}
}

func (g autoscaled) setsSizes(t *testing.T) {
	was := g.readScaling(t)
	want := cloud.Autoscaling{Min: was.Min + 1, Max: was.Max + 1, Desired: was.Desired + 1}
	g.setScaling(t, want)
	got := g.awaitScaling(t, want)
	rule := cloud.Autoscaling{
		Min: got.Min, Max: got.Max, Desired: got.Desired, TargetCPUPercent: was.TargetCPUPercent,
		CooldownSeconds: was.CooldownSeconds,
	}
	if !rule.IsMetBy(got) || (was.TargetCPUPercent == nil) != (got.TargetCPUPercent == nil) {
		t.Errorf("the rule became %s; want that of %s", scalingText(got), scalingText(was))
	}
}

func (g autoscaled) restoreScaling(t *testing.T, found cloud.Autoscaling) {
	t.Helper()
	g.setScaling(t, found)
	sizes := cloud.Autoscaling{Min: found.Min, Max: found.Max, Desired: found.Desired}
	got := g.awaitScaling(t, sizes)
	if g.Loose && !g.Fixed {
		found.Desired = got.Desired
	}
	if scalingText(got) != scalingText(found) || !sameJSON(got.Native, found.Native) {
		t.Errorf("given back: %s %s; want %s %s", scalingText(got), got.Native, scalingText(found), found.Native)
	}
	g.wantNoChange(t, func() { g.setScaling(t, found) })
}

func (g autoscaled) others(t *testing.T, found cloud.Autoscaling) {
	t.Helper()
	if g.Other == nil {
		t.Skip("SKIPPED: this cloud has no other users")
	}
	before := g.readScaling(t)
	g.Other(t)
	more := cloud.Autoscaling{Min: before.Min, Max: max(before.Max, before.Desired+1), Desired: before.Desired + 1}
	if g.Fixed {
		more.Min = more.Desired
	}
	if got := g.readScaling(t); !g.Loose && !more.IsMetBy(got) || got.Desired != more.Desired || got.Min != more.Min {
		t.Errorf("after somebody else has given it one more: %s; want %s", scalingText(got), scalingText(more))
	}
	want := g.largerScaling(t)
	g.setScaling(t, want)
	g.awaitScaling(t, want)
	g.restoreScaling(t, found)
}
