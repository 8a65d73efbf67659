package inventory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/seed"
)

// TestTheZeroSightSeesNothing makes sure that a forgotten sight does not show everything.
func TestTheZeroSightSeesNothing(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 3)...)
	s.team("team_1", instance(0).UID)
	s.group("Web", instance(0).UID)
	var none Visibility
	found, err := s.store.FindResources(s.ctx, testOrg, List{})
	s.Must(err)
	sum, err := s.store.SummarizeResources(s.ctx, testOrg, Filter{Sight: none})
	s.Must(err)
	byUID, err := s.store.ByUIDs(s.ctx, testOrg, []string{instance(0).UID}, none)
	s.Must(err)
	parts, err := s.store.GroupsInScope(s.ctx, testOrg, none.Groups, "")
	s.Must(err)
	reach, err := s.store.ResourceSets(s.ctx, testOrg, none.Resources)
	s.Must(err)
	if len(found)+sum.Total+len(byUID)+len(parts) > 0 || reach[0].HasUID(instance(0).UID) ||
		reach[0].Has(s.ids(instance(0).UID)[0]) {
		t.Errorf("%d found, %d counted, %d by uid, %d groups", len(found), sum.Total, len(byUID), len(parts))
	}
}

// TestSightIsTheListWithoutTheRest makes random estates and compares the resources seen in scopes with the whole list,
// filtered resource by resource.
func TestSightIsTheListWithoutTheRest(t *testing.T) {
	for n := range uint64(40) {
		r := seed.Fixed(t, n, 11)
		s := newFixture(t)
		s.upsert(s.scan("job_1"), instances(0, 10+r.IntN(40))...)
		all := s.find(List{})
		owns := map[string]map[string]bool{}
		for n := range 4 {
			id := fmt.Sprintf("team_%d", n)
			some := pickSome(r, all)
			s.team(id, some...)
			owns[id] = map[string]bool{}
			for _, uid := range some {
				owns[id][uid] = true
			}
		}
		s.group("static", pickSome(r, all)...)
		apitest.Value(s.store.CreateGroup(s.ctx, testOrg,
			Group{ID: "grp_2", Name: "dynamic", Selector: &Selector{Tags: map[string]string{"env": "dev"}}}, nil))(s)
		for range 6 {
			s.compareSight(r, all, owns)
		}
	}
}

func pickSome(r *rand.Rand, all []Listed) []string {
	var out []string
	for _, one := range all {
		if r.IntN(3) == 0 {
			out = append(out, one.UID)
		}
	}
	return out
}

func randomScopes(r *rand.Rand, all []Listed) grant.Scopes {
	out := grant.Scopes{All: r.IntN(5) == 0}
	for n := range 5 { // team_4 does not exist
		if r.IntN(3) == 0 {
			out.Teams = append(out.Teams, fmt.Sprintf("team_%d", n))
		}
	}
	for range r.IntN(4) {
		out.Resources = append(out.Resources, all[r.IntN(len(all))].ID)
	}
	return out
}

func (s *fixture) compareSight(r *rand.Rand, all []Listed, owns map[string]map[string]bool) {
	s.Helper()
	sight := Visibility{Resources: randomScopes(r, all), Groups: randomScopes(r, all), Teams: randomScopes(r, all)}
	in := func(sc grant.Scopes, one Listed) bool {
		return sc.All || slices.Contains(sc.Resources, one.ID) ||
			slices.ContainsFunc(sc.Teams, func(id string) bool { return owns[id][one.UID] })
	}
	f := Filter{Sight: sight}
	switch r.IntN(4) {
	case 0:
		f.GroupID = []string{"grp_1", "grp_2"}[r.IntN(2)]
	case 1:
		f.TeamID = fmt.Sprintf("team_%d", r.IntN(5))
	case 2:
		f.Statuses = []string{string(cloud.Running)}
	}
	var want []string
	for _, one := range s.find(List{}) {
		if !in(sight.Resources, one) || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, string(one.Status)) {
			continue
		}
		groups := slices.DeleteFunc(slices.Clone(one.GroupIDs), func(string) bool { return !in(sight.Groups, one) })
		teams := slices.DeleteFunc(slices.Clone(one.TeamIDs), func(id string) bool {
			return !sight.Teams.All && !slices.Contains(sight.Teams.Teams, id)
		})
		if (f.GroupID == "" || slices.Contains(groups, f.GroupID)) &&
			(f.TeamID == "" || slices.Contains(teams, f.TeamID)) {
			want = append(want, fmt.Sprint(one.UID, groups, teams))
		}
	}
	got, err := s.store.FindResources(s.ctx, testOrg, List{Filter: f})
	s.Must(err)
	var shown []string
	for _, one := range got {
		shown = append(shown,
			fmt.Sprint(one.UID, append([]string{}, one.GroupIDs...), append([]string{}, one.TeamIDs...)))
	}
	equal(s, fmt.Sprintf("seen with %+v", f), shown, want)
	sum, err := s.store.SummarizeResources(s.ctx, testOrg, f)
	s.Must(err)
	equal(s, "counted", sum.Total, len(want))
}

// TestRoundTripsInScopes counts the store calls for callers with grants on teams: first in a process that has not read
// the teams' resources, then again.
func TestRoundTripsInScopes(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 3000)...)
	s.team("team_1", instance(3).UID, instance(4).UID)
	s.team("team_2", instance(5).UID)
	s.group("Web", instance(3).UID)
	sight := scopesOf("team_1", "team_2")
	id := s.ids(instance(3).UID)[0]
	for _, c := range []struct {
		name        string
		first, then int
		call        func(*Store) error
	}{
		{"a page", 3, 2, func(st *Store) error {
			return second(st.FindResources(s.cost(), testOrg, List{Filter: Filter{Sight: sight}, Limit: 20}))
		}},
		{"a page of everything", 2, 2, func(st *Store) error {
			return second(st.FindResources(s.cost(), testOrg, List{Filter: everything, Limit: 20}))
		}},
		{"one resource", 3, 2, func(st *Store) error { return second(st.ByID(s.cost(), testOrg, id, sight)) }},
		{"a summary", 2, 1, func(st *Store) error {
			return second(st.SummarizeResources(s.cost(), testOrg, Filter{Sight: sight}))
		}},
		{"what is in reach", 2, 1, func(st *Store) error {
			return second(st.ResourceSets(s.cost(), testOrg, sight.Resources, sight.Groups))
		}},
		{"what is in reach of who reaches everything", 0, 0, func(st *Store) error {
			return second(st.ResourceSets(s.cost(), testOrg, SeeEverything().Resources))
		}},
		{"the groups", 2, 1, func(st *Store) error {
			return second(st.GroupsInScope(s.cost(), testOrg, sight.Groups, ""))
		}},
		{"what a team owns", 2, 1, func(st *Store) error { return second(st.ListOwned(s.cost(), testOrg, "team_1")) }},
	} {
		fresh := NewStore(s.Table, s.Clock)
		for _, want := range []int{c.first, c.then} {
			ctx, meter := table.WithMeter(s.ctx)
			before := s.ctx
			s.ctx = ctx
			s.Must(c.call(fresh))
			s.ctx = before
			equal(t, c.name, meter.Usage().RoundTrips, want)
		}
	}
}

// TestOutOfSightCostsWhatDoesNotExistCosts checks that the number of calls does not reveal whether a resource exists.
func TestOutOfSightCostsWhatDoesNotExistCosts(t *testing.T) { // check 47
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 30)...)
	s.team("team_1", instance(3).UID)
	hidden := s.ids(instance(4).UID)[0]
	sight := scopesOf("team_1")
	var trips [2]int
	for i, id := range []string{hidden, "res_01k00000000000000000000000"} {
		ctx, meter := table.WithMeter(s.ctx)
		_, err := NewStore(s.Table, s.Clock).ByID(ctx, testOrg, id, sight)
		s.refused(id, err, fault.NotFound)
		trips[i] = meter.Usage().RoundTrips
	}
	equal(t, "round trips", trips[0], trips[1])
}

func TestPartsOfGroups(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 9)...)
	s.team("team_1", instance(0).UID, instance(5).UID, instance(7).UID)
	s.team("team_2", instance(1).UID)
	static := s.group("Web", instance(5).UID, instance(1).UID, instance(7).UID)
	dynamic, err := s.store.CreateGroup(s.ctx, testOrg,
		Group{ID: "grp_2", Name: "dynamic", Selector: &Selector{Tags: map[string]string{"env": "dev"}}}, nil)
	s.Must(err) // instances 2, 5 and 8
	empty, err := s.store.CreateGroup(s.ctx, testOrg, Group{ID: "grp_3", Name: "empty"}, nil)
	s.Must(err)
	parts := func(groupID string, teams ...string) map[string][]GroupPlacement {
		out := map[string][]GroupPlacement{}
		for _, p := range apitest.Value(s.store.GroupsInScope(s.ctx, testOrg, grant.Scopes{Teams: teams}, groupID))(s) {
			out[p.ID] = p.Places
		}
		return out
	}
	ids := s.ids(instance(5).UID, instance(7).UID)
	equal(t, "of both kinds", parts("", "team_1"), map[string][]GroupPlacement{
		static.ID: {{ids[0], 1, 1}, {ids[1], 2, 1}}, dynamic.ID: {{ids[0], 1, 1}},
	})
	equal(t, "one of them", parts(dynamic.ID, "team_1"), map[string][]GroupPlacement{dynamic.ID: {{ids[0], 1, 1}}})
	equal(t, "of nothing in it", parts(dynamic.ID, "team_2"), map[string][]GroupPlacement{})
	equal(t, "of an empty group", parts(empty.ID, "team_1", "team_2"), map[string][]GroupPlacement{})
	equal(t, "of a group that does not exist", parts("grp_9", "team_1"), map[string][]GroupPlacement{})
	equal(t, "of nobody", parts(""), map[string][]GroupPlacement{})
	s.seen(Seen{instance(5).UID, cloud.Terminated, s.Clock.Now().Add(time.Hour)})
	equal(t, "with what is terminated", parts("", "team_1"), map[string][]GroupPlacement{
		static.ID: {{ids[0], 1, 1}, {ids[1], 2, 1}}, dynamic.ID: nil,
	})
}
