package cloudtest

import (
	"maps"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

func (g trial) testScale(t *testing.T) {
	if len(g.Free) == 0 {
		return
	}
	uid := g.Free[0]
	one, two := int64(1), int64(2)
	if !g.kind.Scalable {
		wantClass(t, "Scale of a kind without sizes",
			g.conn.Scale(t.Context(), g.Kind, g.Region, uid, cloud.Capacity{Desired: &one}), cloud.Unsupported)
		return
	}
	was := g.capacityOf(t, uid)
	wantClass(t, "Scale of a missing uid",
		g.conn.Scale(t.Context(), g.Kind, g.Region, g.Missing, cloud.Capacity{Desired: &one}), cloud.NotFound)
	wantClass(t, "Scale to a minimum above the maximum",
		g.conn.Scale(t.Context(), g.Kind, g.Region, uid, cloud.Capacity{Min: &two, Max: &one}), cloud.Invalid)
	bigger := maps.Clone(was)
	bigger["desired"]++
	if limit, ok := was["max"]; ok {
		bigger["max"] = max(limit, bigger["desired"])
	}
	g.resizeTo(t, uid, bigger)
	got := g.capacityOf(t, uid)
	if least, ok := was["min"]; ok && got["min"] != least {
		t.Errorf("a minimum that was not given went from %d to %d", least, got["min"])
	}
	g.resizeTo(t, uid, was)
	if got := g.capacityOf(t, uid); !maps.Equal(scaledSizes(got), scaledSizes(was)) {
		t.Errorf("scaled back: %v; want %v", got, was)
	}
}

// resizeTo sets desired, and the maximum where the resource has one, and waits until it is so.
func (g trial) resizeTo(t *testing.T, uid string, to map[string]int64) {
	t.Helper()
	desired := to["desired"]
	c := cloud.Capacity{Desired: &desired}
	if limit, ok := to["max"]; ok {
		c.Max = &limit
	}
	if err := g.conn.Scale(t.Context(), g.Kind, g.Region, uid, c); err != nil {
		t.Fatalf("Scale to %d: %v", desired, err)
	}
	for range polls {
		if g.capacityOf(t, uid)["desired"] == desired {
			g.waitRunning(t)
			return
		}
		g.moveOn()
	}
	t.Fatalf("%s has capacity %v; want desired %d", uid, g.capacityOf(t, uid), desired)
}

// scaledSizes returns the capacities that a scale sets.
func scaledSizes(c map[string]int64) map[string]int64 {
	out := maps.Clone(c)
	maps.DeleteFunc(out, func(k string, _ int64) bool { return !slices.Contains([]string{"min", "max", "desired"}, k) })
	return out
}

func (g trial) capacityOf(t *testing.T, uid string) map[string]int64 {
	t.Helper()
	for page := ""; ; {
		got, err := g.conn.List(t.Context(), g.Kind, g.Region, page)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, res := range got.Resources {
			if res.UID == uid {
				return res.Capacity
			}
		}
		if page = got.Next; page == "" {
			t.Fatalf("%s is not listed", uid)
		}
	}
}
