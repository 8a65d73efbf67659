package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// toldEvents returns the events of actions and their contents, oldest first.
func (w *fixture) toldEvents() (events []event.Event, said []execution.Told) {
	w.Helper()
	q := table.Query{PK: event.PK(org), Limit: 10_000}
	for {
		page := apitest.Value(w.Table.Query(w.ctx, q))(w)
		for _, it := range page.Items {
			for _, e := range apitest.Value(event.Decode(it))(w) {
				var t execution.Told
				w.Must(json.Unmarshal(e.Data, &t))
				events, said = append(events, e), append(said, t)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return events, said
		}
	}
}

// toldKeys returns the keys of the events, oldest first.
func (w *fixture) toldKeys() string {
	w.Helper()
	events, _ := w.toldEvents()
	var keys []string
	for _, e := range events {
		keys = append(keys, e.Key)
	}
	return strings.Join(keys, " ")
}

// toldOf counts, for each resource of a bulk action, the events of its end. It ignores the events of exhausted retries.
func (w *fixture) toldOf(bulkID string) map[string]int {
	w.Helper()
	n := map[string]int{}
	events, said := w.toldEvents()
	for i, t := range said {
		if t.BulkActionID == bulkID && events[i].Key != event.ResourceRetryExhausted {
			n[t.ResourceUID]++
		}
	}
	return n
}

func TestTold_AStopTellsOfItsResourceAndWhatThatBelongsTo(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "40", "stopped": "0"})
	r := w.pick("aws-ec2", cloud.Running)
	g := inventory.Group{ID: "grp_01k00000000000000000000001", Name: "one", FailurePolicy: "continue"}
	apitest.Value(w.e.inventory.CreateGroup(w.ctx, org, g,
		[]inventory.GroupPlacement{{ResourceID: r.ID, Tier: 1, Order: 1}}))(w)
	dynamic := inventory.Group{
		ID: "grp_01k00000000000000000000002", Name: "all", FailurePolicy: "continue",
		Selector: &inventory.Selector{Type: "aws-ec2"},
	}
	apitest.Value(w.e.inventory.CreateGroup(w.ctx, org, dynamic, nil))(w)
	team := inventorytest.Team(w.Fixture, org, "Shop", r.ID)
	a := w.do(r, cloud.Stop)
	events, said := w.toldEvents()
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	e := events[0]
	want := []event.Scope{
		{Type: "org"},
		{Type: "resource", ID: r.UID},
		{Type: "cloud_account", ID: w.account.ID},
		{Type: "resource_group", ID: g.ID},
		{Type: "resource_group", ID: dynamic.ID},
		{Type: "team", ID: team},
	}
	if !slices.Equal(e.Scopes(), want) {
		t.Errorf("it belongs to %+v, want %+v", e.Scopes(), want)
	}
	if e.Key != event.ResourceStopped || e.Subject != a.ID || !e.At.Equal(a.CompletedAt) {
		t.Errorf("%+v", e)
	}
	w.Equal("what it says", said[0], execution.Told{
		ActionID: a.ID, Action: cloud.Stop, ResourceUID: r.UID, ResourceName: r.Name, ResourceType: "aws-ec2",
		Provider: "simulated", Region: r.Region,
		CloudAccountID: w.account.ID, CloudAccount: "sim", Reason: "manual", ChangedBy: "manual:ada@example.com",
		Attempts: 1,
	})
}

func TestTold_OfWhatAnActionComesTo(t *testing.T) {
	for name, tt := range map[string]struct {
		cloud map[string]string
		from  cloud.Status
		verb  cloud.Verb
		want  string
	}{
		"a start": {
			map[string]string{"size": "40", "stopped": "1"},
			cloud.Stopped, cloud.Start,
			"resource.started",
		},
		"a stop": {
			map[string]string{"size": "40", "stopped": "0"},
			cloud.Running, cloud.Stop,
			"resource.stopped",
		},
		"what was so already":   {map[string]string{"size": "40", "stopped": "1"}, cloud.Stopped, cloud.Stop, ""},
		"what is tried in vain": {crowded, cloud.Stopped, cloud.Start, "resource.failed resource.retry_exhausted"},
		"what the cloud denies it": {
			map[string]string{"size": "40", "stopped": "0", "denied": "ec2:StopInstances"},
			cloud.Running, cloud.Stop, "resource.failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, tt.cloud)
			w.do(w.pick("aws-ec2", tt.from), tt.verb)
			w.Equal("told", w.toldKeys(), tt.want)
		})
	}
}

func TestTold_OfABulkActionInFewRows(t *testing.T) {
	w := newFixture(t,
		map[string]string{"size": "200", "kinds": "aws-ec2", "regions": "1", "stopped": "0", "transitionSeconds": "0"})
	g := w.newFlatGroup(100)
	b := w.driveBulk(w.submitBulk(g, cloud.Stop))
	events, said := w.toldEvents()
	seen := map[string]bool{}
	for i, e := range events {
		if seen[e.ID] || said[i].BulkActionID != b.ID || said[i].GroupID != g.ID {
			t.Errorf("%s: %+v", e.ID, said[i])
		}
		seen[e.ID] = true
	}
	rows := apitest.Value(w.Table.Query(w.ctx, table.Query{PK: event.PK(org), Limit: 1000}))(w).Items
	bytes := 0
	for _, it := range rows {
		bytes += len(it.Data)
	}
	t.Logf("%d events in %d rows of %d bytes", len(events), len(rows), bytes)
	if len(events) != 100 || len(rows) > 8 || bytes > 20_000 {
		t.Errorf("%d events in %d rows of %d bytes", len(events), len(rows), bytes)
	}
}

func TestTold_NothingOfWhatWasCancelledBeforeItBegan(t *testing.T) {
	w := newFixture(t, crowded)
	a := w.submit(w.pick("aws-ec2", cloud.Stopped), cloud.Start)
	begun, err := w.e.endPending(w.ctx, org, "cancelled by ada",
		apitest.Value(w.e.readActions(w.ctx, org, []string{a.ID}))(w))
	w.Must(err)
	if now := w.action(a.ID); len(begun) != 0 || now.Status != execution.Failed || w.toldKeys() != "" {
		t.Errorf("%s, told %q", now.Status, w.toldKeys())
	}
}

// A run reads the index once, for any number of resources. It did so for compaction before events existed,
// so events cost no round trip.
func TestTold_CostsNoRoundTripMore(t *testing.T) {
	trips := map[int]int{}
	for _, n := range []int{1, 15} {
		w := newFixture(t, map[string]string{"size": "60", "kinds": "aws-ec2", "regions": "1", "stopped": "0"})
		in := execution.RunInput{Org: org, Until: execution.UntilSettled}
		for _, r := range w.resources {
			if r.Unschedulable == "" && len(in.Actions) < n {
				in.Actions = append(in.Actions, w.submit(r, cloud.Stop).ID)
			}
		}
		apitest.Value(w.e.RunActions(w.ctx, in))(w)
		w.Clock.Advance(time.Hour)
		ctx, m := table.WithPartitionMeter(w.ctx)
		apitest.Value(w.e.RunActions(ctx, in))(w)
		if events, _ := w.toldEvents(); len(events) != n {
			t.Fatalf("%d of %d told", len(events), n)
		}
		trips[n] = m.Usage().RoundTrips
	}
	if trips[15] > trips[1]+2 {
		t.Errorf("trips by resources: %s", fmt.Sprint(trips))
	}
}
