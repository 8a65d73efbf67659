package billingsync_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

// attributions lists the waiting attributions of closed months.
func (s *fixture) attributions() (ids []string) {
	s.Helper()
	for shard := range workqueue.Shards {
		page, err := s.Table.Query(table.Within(s.Context(), workqueue.Prefix),
			table.Query{PK: workqueue.PK(shard), Prefix: domain.AttributionPrefix, Limit: 100})
		s.Must(err)
		for _, it := range page.Items {
			ids = append(ids, it.SK)
		}
	}
	return ids
}

// attributed runs the sweeper until no rebuild and no attribution waits.
func (s *fixture) attributed() {
	s.Helper()
	s.rebuilt()
	for range 15 {
		if len(s.attributions()) == 0 {
			return
		}
		s.minutes(1)
	}
	s.Fatal("the closed months are not attributed within 15 minutes")
}

// yearBy returns the costs of twelve months by a dimension, without the present month.
func (s *fixture) yearBy(dims ...string) cost.Answer {
	s.Helper()
	return apitest.Value(cost.New(s.Platform).Ask(s.In("org_a"), "org_a", cost.Question{
		From: november.Add(-12).Start(), To: november.Start(), Metric: cost.Billed, Dims: dims, Daily: true,
	}))(s)
}

// A team and a group that are made now own their resources in closed months, too, some minutes later. Many changes are
// one attribution, and no total changes.
func TestAttribution_ClosedMonthsFollowTeamsAndGroupsInTheBackground(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.Mount(teams.Operations, resourcegroups.Operations)
	s.attributed()
	whole := s.yearBy()
	uids, ids := s.known(1)
	want := amountOf(s.yearBy(cost.ResourceDim), uids[0])
	body := fields{"name": "Web", "resources": ids}
	team := apitest.Data[struct{ ID string }](s.Call(alice, "POST /teams", body)).ID
	group := apitest.Data[struct{ ID string }](s.Call(alice, "POST /resource-groups",
		fields{"name": "All", "selector": fields{"type": "aws-ec2"}})).ID
	s.rebuilt()
	if got := amountOf(s.yearBy(cost.TeamDim), team); !got.IsZero() {
		t.Errorf("closed months are %s before their attribution", got)
	}
	for n := range 3 {
		s.Call(alice, "PUT /teams/"+team, fields{"name": fmt.Sprint("Web ", n), "resources": ids}).Want(200)
		s.rebuilt()
	}
	if waiting := s.attributions(); len(waiting) != 1 {
		t.Errorf("%v wait after five changes; want one", waiting)
	}
	s.attributed()
	if got := amountOf(s.yearBy(cost.TeamDim), team); got != want || got.IsZero() {
		t.Errorf("the team costs %s, its resource %s", got, want)
	}
	if amountOf(s.yearBy(cost.GroupDim), group).IsZero() {
		t.Error("the group costs nothing")
	}
	for _, dim := range []string{cost.TeamDim, cost.GroupDim, cost.ServiceDim} {
		if got := s.yearBy(dim); got.Total != whole.Total || !slices.Equal(got.Days, whole.Days) {
			t.Errorf("by %s the year is %s, it was %s", dim, got.Total, whole.Total)
		}
	}
	if s.minutes(30); len(s.attributions()) != 0 {
		t.Error("an attribution waits though nothing has changed")
	}
}

func TestAttribution_KeepsClosedMonthsWhenTheSettingSaysSo(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.Mount(teams.Operations)
	s.attributed()
	none := 0
	s.Put(identity.OrganisationKey("org_a"),
		identity.OrganisationRecord{ChosenPreferences: identity.ChosenPreferences{AttributionMonths: &none}})
	_, ids := s.known(1)
	team := apitest.Data[struct{ ID string }](s.Call(alice, "POST /teams", fields{"name": "Web", "resources": ids})).ID
	s.rebuilt()
	if waiting := s.attributions(); len(waiting) != 0 {
		t.Errorf("%v wait", waiting)
	}
	if s.attributed(); !amountOf(s.yearBy(cost.TeamDim), team).IsZero() {
		t.Error("closed months have changed")
	}
}

// Each write of an attribution fails once, before or after it took effect. The attribution still ends with the right
// costs.
func TestAttribution_KilledAnywhereEndsRight(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.Mount(teams.Operations)
	s.attributed()
	uids, ids := s.known(2)
	team := apitest.Data[struct{ ID string }](s.Call(alice, "POST /teams", fields{"name": "Web"})).ID
	whole := s.yearBy()
	for n, call := range []int{1, 2, 5, 9, 14} {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			s.Call(alice, "PUT /teams/"+team, fields{"resources": ids[:1+n%2]}).Want(200)
			s.rebuilt()
			s.store.Inject(table.Injection{Harm: harm, PK: table.OrgPK("org_a") + "COST", Call: call})
			s.minutes(11)
			s.store.RemoveFaults()
			s.attributed()
			got, of := s.yearBy(cost.TeamDim), s.yearBy(cost.ResourceDim)
			want := amountOf(of, uids[0])
			if n%2 == 1 {
				want = want.Add(amountOf(of, uids[1]))
			}
			if got.Total != whole.Total || amountOf(got, team) != want {
				t.Errorf("call %d, harm %d: %s of %s; want %s", call, harm, amountOf(got, team), got.Total, want)
			}
		}
	}
}

func TestAttribution_ThatIsGivenUpIsBegunAnewLater(t *testing.T) {
	s := newFixture(t)
	call, err := json.Marshal(fields{
		"task":  "abandon",
		"input": domain.Input{Org: "org_a", JobID: "attribution_1", Rebuild: true, Closed: true},
		"error": fields{"Error": "x"},
	})
	s.Must(err)
	apitest.Value(s.worker(s.Context(), call))(s)
	if s.pending() != 0 || len(s.attributions()) != 1 {
		t.Errorf("%d rebuilds and %v wait", s.pending(), s.attributions())
	}
	if s.minutes(30); len(s.attributions()) != 1 {
		t.Error("it is begun within half an hour")
	}
	s.clk.Advance(time.Hour)
	s.attributed()
}

// slow is a store on which each move of a pointer takes two minutes. broken is the month whose moves fail.
type slow struct {
	table.Store
	clk    *clock.Manual
	broken string
}

// Transact waits, and writes.
func (s *slow) Transact(ctx context.Context, ws ...table.Write) error {
	if strings.HasPrefix(ws[0].Item.SK, "P#") {
		s.clk.Advance(2 * time.Minute)
		if s.broken != "" && strings.HasPrefix(ws[0].Item.SK, "P#"+s.broken) {
			return table.ErrDown
		}
	}
	return s.Store.Transact(ctx, ws...)
}

// attributeWith runs an attribution of closed months on a store, one call after the other, until one of them is the
// last or fails. It returns the months that were gone after each call.
func (s *fixture) attributeWith(store table.Store) (gone []int, err error) {
	s.Helper()
	p := &platform.Platform{
		Table: store, Clock: s.Clock, Log: s.Platform.Log, Settings: s.Settings, Sealer: s.Sealer, Workflow: s.Workflow,
		Lines: s.Lines,
	}
	worker := billingsync.Handler(p, cloud.Providers{simulated.Name: simulated.New(p.Table, p.Clock)})
	in := billingsync.Share{Input: domain.Input{Org: "org_a", JobID: "attribution_1", Rebuild: true, Closed: true}}
	for !in.Done {
		call := apitest.Value(json.Marshal(fields{"task": "import", "input": in}))(s)
		answer, err := worker(s.Context(), call)
		if err != nil {
			return gone, err
		}
		in = answer.(billingsync.Share) //nolint:forcetypeassert // it answers that
		if gone = append(gone, len(in.Gone)); len(gone) > 30 {
			s.Fatalf("it never ends: %v", gone)
		}
	}
	return gone, nil
}

func TestAttribution_GoesOnFromCallToCallAndPastABrokenMonth(t *testing.T) {
	s := newFixture(t)
	s.connect()
	s.Mount(teams.Operations)
	s.attributed()
	_, ids := s.known(1)
	team := apitest.Data[struct{ ID string }](s.Call(alice, "POST /teams", fields{"name": "Web", "resources": ids})).ID
	s.clk.Advance(time.Minute)

	gone, err := s.attributeWith(&slow{s.Table, s.clk, november.Add(-3).String()})
	if err == nil || len(gone) < 3 {
		t.Fatalf("%v, %v: want several calls, and an error of the last one", gone, err)
	}
	for n := range 12 {
		m := november.Add(-1 - n)
		a := apitest.Value(cost.New(s.Platform).Ask(s.In("org_a"), "org_a",
			cost.Question{From: m.Start(), To: m.End(), Metric: cost.Billed, Dims: []string{cost.TeamDim}}))(s)
		if broken := n == 2; amountOf(a, team).IsZero() != broken {
			t.Errorf("%s: %v", m, a.Rows)
		}
	}
	if gone, err = s.attributeWith(&slow{Store: s.Table, clk: s.clk}); err != nil || len(gone) != 1 {
		t.Errorf("%v, %v: want one call for the remaining month", gone, err)
	}
}
