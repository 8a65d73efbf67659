package readiness

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const org = apitest.Org

// fixture has the groups web and api in the inventory.
type fixture struct {
	*apitest.Fixture
	PrecheckReader
	ids []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t)}
	f.PrecheckReader = PrecheckReader{Table: f.Platform.Table, Inventory: inventory.New(f.Platform)}
	f.ids = inventorytest.Discover(f.Fixture, org, cloud.AWSASG,
		cloud.Resource{UID: "web", Type: cloud.AWSASG, Status: cloud.Running},
		cloud.Resource{UID: "api", Type: cloud.AWSASG, Status: cloud.Running})
	return f
}

func target(uid string) PolicyTarget {
	return PolicyTarget{Type: cloud.AWSASG, UID: uid, Region: "eu-west-1"}
}

// hold adds an override on a resource or a group for an hour.
func (f *fixture) hold(h override.Held) {
	f.Helper()
	h.ID, h.ExpiresAt = override.NewID(f.Clock.Now()), f.Clock.Now().Add(time.Hour)
	f.Put(override.LiveKey(org), override.Live{Change: 1, Overrides: []override.Held{h}})
}

func TestObstacles_AreRealOverridesAndStopsUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(f *fixture)
		in      time.Duration
		acting  bool
		says    string
	}{
		"nothing holds it": {func(*fixture) {}, 0, true, ""},
		"an override that holds it off": {func(f *fixture) {
			f.hold(override.Held{ResourceID: f.ids[0], Action: override.ForceOff})
		}, 0, false, "it is held by"},
		"an override that is over by then": {func(f *fixture) {
			f.hold(override.Held{ResourceID: f.ids[0], Action: override.ForceOff})
		}, 2 * time.Hour, false, ""},
		"an override that holds it on": {func(f *fixture) {
			f.hold(override.Held{ResourceID: f.ids[0], Action: override.ForceOn})
		}, 0, false, ""},
		"an override on another resource": {func(f *fixture) {
			f.hold(override.Held{ResourceID: f.ids[1], Action: override.ForceOff})
		}, 0, false, ""},
		"an override on a group that it is in": {func(f *fixture) {
			f.hold(override.Held{GroupID: f.group(), Action: override.ForceOff})
		}, 0, false, "it is held by"},
		"a stop under way, when it is to be raised": {func(f *fixture) {
			f.stopping()
		}, 0, true, "a stop of the resource is in flight (act_1)"},
		"a stop under way, when it is checked": {func(f *fixture) { f.stopping() }, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.prepare(f)
			q := PrecheckQuery{
				Org: org, Targets: []PolicyTarget{target("web"), target("web"), target("gone")},
				At: f.Clock.Now().Add(c.in), Acting: c.acting,
			}
			got := apitest.Value(f.Obstacles(f.In(org), q))(t)
			if why := got["web"]; (why != "") != (c.says != "") || !strings.Contains(why, c.says) || got["gone"] != "" {
				t.Errorf("%v; want %q", got, c.says)
			}
		})
	}
}

// group makes a resource group that contains web.
func (f *fixture) group() string {
	f.Helper()
	places := []inventory.GroupPlacement{{ResourceID: f.ids[0], Tier: 1, Order: 1}}
	g := inventory.Group{ID: id.New("grp", f.Clock.Now()), Name: "shop", FailurePolicy: "continue"}
	return apitest.Value(f.Inventory.CreateGroup(f.In(org), org, g, places))(f).ID
}

// stopping marks a stop of web as in flight.
func (f *fixture) stopping() {
	f.Change(inventory.ResourceKey(org, "web"), table.Set("actionID", "act_1"),
		table.Set("actionType", string(cloud.Stop)))
}

func TestObstacles_OfNoTargetsTakeNoRoundTrip(t *testing.T) {
	f := newFixture(t)
	ctx, meter := table.WithMeter(f.In(org))
	if got, err := f.Obstacles(ctx, PrecheckQuery{Org: org}); err != nil || len(got) != 0 ||
		meter.Usage().RoundTrips != 0 {
		t.Errorf("%v, %v, %d round trips", got, err, meter.Usage().RoundTrips)
	}
}

func TestStartProblem_TellsWhatAStartWouldRestore(t *testing.T) {
	kept := func(s execution.Snapshot) func(f *fixture) {
		return func(f *fixture) { f.Put(execution.SnapshotKey(org, "web"), s) }
	}
	size := []byte(`{"min":1,"max":2,"desired":2}`)
	for name, c := range map[string]struct {
		prepare func(f *fixture)
		uid     string
		says    string
	}{
		"a size that is remembered": {
			kept(execution.Snapshot{ActionID: "act_1", Snapshot: size}), "web",
			"",
		},
		"no size": {
			func(*fixture) {}, "web",
			"its size before it was stopped is not known",
		},
		"a size that a start has given back": {kept(execution.Snapshot{
			ActionID: "act_1", Snapshot: size,
			UsedBy: "act_2",
		}), "web", "its size before it was stopped is not known"},
		"a size that an event has left for a stop": {kept(execution.Snapshot{
			ActionID: "event", Snapshot: size,
			KeepUntil: 1,
		}), "web", "its size before it was stopped is not known"},
		"off before it was stopped": {kept(execution.Snapshot{
			ActionID: "act_1",
			Snapshot: cloud.WasOff,
		}), "web", "a start leaves it so"},
		"a resource that is not in the inventory": {func(*fixture) {}, "gone", "it is not in the inventory"},
		"a resource that can never be started": {func(f *fixture) {
			f.Change(inventory.ResourceKey(org, "web"), table.Set("unschedulable", "belongs to a node group"))
		}, "web", "belongs to a node group"},
		"a kind that remembers nothing": {func(f *fixture) {
			f.Change(inventory.ResourceKey(org, "web"), table.Set("type", cloud.AWSEC2))
		}, "web", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c.prepare(f)
			got := apitest.Value(f.StartProblem(f.In(org), org, target(c.uid)))(t)
			if (got != "") != (c.says != "") || !strings.Contains(got, c.says) {
				t.Errorf("%q; want %q", got, c.says)
			}
		})
	}
}
