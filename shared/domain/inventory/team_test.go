package inventory

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
)

// team makes a team that owns the resources of the native ids.
func (s *fixture) team(id string, uids ...string) teams.Team {
	s.Helper()
	return s.own(teams.Team{ID: id, Name: id}, s.ids(uids...))
}

// teams returns the store of teams beside the inventory.
func (s *fixture) teams() teams.Store { return teams.New(s.Table) }

// own makes the team, or changes it, so that it owns the resources.
func (s *fixture) own(t teams.Team, resources []string) teams.Team {
	s.Helper()
	writes := apitest.Value(Own(testOrg, t.ID, t.Generation+1, resources))(s)
	if t.Generation == 0 {
		return apitest.Value(s.teams().Create(s.ctx, testOrg, t, writes...))(s)
	}
	return apitest.Value(s.teams().Update(s.ctx, testOrg, t, t, writes...))(s)
}

// ids returns our ids of the resources of the native ids.
func (s *fixture) ids(uids ...string) []string {
	s.Helper()
	out := []string{}
	for _, r := range apitest.Value(s.store.ByUIDs(s.ctx, testOrg, uids, SeeEverything()))(s) {
		out = append(out, r.ID)
	}
	return out
}

// scopesOf returns the sight of a user with a role on teams only.
func scopesOf(teams ...string) Visibility {
	one := grant.Scopes{Teams: teams}
	return Visibility{Resources: one, Groups: one, Teams: one}
}

func TestTeamsOwnWhatTheyWereGiven(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 6)...)
	web := s.team("team_1", instance(0).UID, instance(1).UID)
	s.team("team_2", instance(1).UID)
	list := func(teamID string) []string {
		return s.uids(List{Filter: Filter{TeamID: teamID}})
	}
	equal(t, "owned", sorted(list("team_1")), sorted([]string{instance(0).UID, instance(1).UID}))
	equal(t, "owned by two",
		apitest.Value(s.store.ByUIDs(s.ctx, testOrg, []string{instance(1).UID}, SeeEverything()))(s)[0].TeamIDs,
		[]string{"team_1", "team_2"})

	next := web
	next.Name = "Web"
	web = apitest.Value(s.teams().Update(s.ctx, testOrg, web, next))(s)
	equal(t, "owned after a change of the name", len(list("team_1")), 2)
	web = s.own(web, s.ids(instance(5).UID))
	equal(t, "owned after a change", list("team_1"), []string{instance(5).UID})
	five, one := s.ids(instance(5).UID), s.ids(instance(1).UID)
	equal(t, "the first",
		apitest.Value(s.store.OwnedFirst(s.ctx, testOrg, []string{"team_1", "team_2", "team_9"}, 1))(s),
		map[string]Owned{"team_1": {1, five}, "team_2": {1, one}})
	web = s.own(web, s.ids(instance(4).UID, instance(5).UID))
	if o := apitest.Value(s.store.OwnedFirst(s.ctx, testOrg, []string{"team_1"}, 1))(s)["team_1"]; o.Count != 2 ||
		len(o.IDs) != 1 {
		t.Errorf("of two owned the first is %+v", o)
	}
	web = s.own(web, []string{})
	equal(t, "owned by who owns nothing", list("team_1"), []string{})

	s.Must(s.teams().Delete(s.ctx, testOrg, web, Disown(testOrg, web.ID)...))
	for _, r := range s.find(List{}) {
		if slices.Contains(r.TeamIDs, "team_1") {
			t.Errorf("%s belongs to a deleted team", r.UID)
		}
	}
	for _, prefix := range []string{ownerPrefix, memberPrefix + "team_1"} {
		if keys := s.keys(prefix); slices.ContainsFunc(keys, func(k table.Key) bool {
			return strings.HasSuffix(k.SK, "team_1")
		}) {
			t.Errorf("the index still has %v", keys)
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func TestTeamsAreNotMixedUpWithGroups(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 3)...)
	s.team("team_1")
	s.group("team_1") // a group may have the name of a team
	equal(t, "groups", len(apitest.Value(s.store.ListGroups(s.ctx, testOrg))(s)), 1)
	_, err := Own(testOrg, "team_3", 1, []string{"i-1"})
	s.refused("what is no id of a resource", err, fault.Invalid)
}

func (s *fixture) refused(what string, err error, kind fault.Kind) {
	s.Helper()
	if !fault.Is(err, kind) {
		s.Errorf("%s: %v", what, err)
	}
}

// TestWhatLeavesTheInventoryLeavesItsTeams drops resources in both possible ways, and discovers one of them again.
func TestWhatLeavesTheInventoryLeavesItsTeams(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 4)...)
	s.team("team_1", instance(0).UID, instance(1).UID)
	sight := scopesOf("team_1")
	for n := range 2 {
		s.Clock.Advance(terminatedKept + time.Hour)
		sc := s.scan(fmt.Sprintf("job_%d", n+2))
		s.upsert(sc, instances(1, 4)...)
		s.finishRead(sc, map[string]bool{instance(0).UID: false})
	}
	equal(t, "owned after one was dropped", apitest.Value(s.store.ListOwned(s.ctx, testOrg, "team_1"))(s),
		s.ids(instance(1).UID))
	s.upsert(s.scan("job_4"), instance(0))
	got, err := s.store.ByUIDs(s.ctx, testOrg, []string{instance(0).UID}, sight)
	s.Must(err)
	equal(t, "in sight after it was discovered again, as another", len(got), 0)
	apitest.Value(s.store.ForgetAccount(s.ctx, testOrg, testCA))(s)
	equal(t, "owned after the account was forgotten", apitest.Value(s.store.ListOwned(s.ctx, testOrg, "team_1"))(s),
		[]string{})
	reach, err := s.store.ResourceSets(s.ctx, testOrg, sight.Resources)
	s.Must(err)
	if reach[0].HasUID(instance(1).UID) || reach[0].All() {
		t.Error("what was forgotten is within reach")
	}
}

// TestAChangeOfOwnershipActsAtOnce adds and removes resources while other processes with warm caches read them.
func TestAChangeOfOwnershipActsAtOnce(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 20)...)
	team := s.team("team_1")
	others := []*Store{NewStore(s.Table, s.Clock), NewStore(s.Table, s.Clock)}
	for round := range 30 {
		given := s.ids(instance(round%20).UID, instance((round*7+1)%20).UID)
		team = s.own(team, given)
		for _, other := range others {
			got, err := other.FindResources(s.ctx, testOrg, List{Filter: Filter{Sight: scopesOf("team_1")}})
			s.Must(err)
			equal(t, fmt.Sprintf("seen in round %d", round), len(got), len(slices.Compact(sorted(given))))
			reach, err := other.ResourceSets(s.ctx, testOrg, scopesOf("team_1").Resources)
			s.Must(err)
			for _, id := range given {
				equal(t, "in reach", reach[0].Has(id), true)
			}
		}
	}
}

// TestRacingChangesOfATeamLoseNothing runs concurrent writers that add one resource each, and start over when another
// was first.
func TestRacingChangesOfATeamLoseNothing(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 12)...)
	s.team("team_1")
	var wg sync.WaitGroup
	for n := range 12 {
		id := s.ids(instance(n).UID)[0]
		wg.Go(func() {
			store := NewStore(s.Table, s.Clock)
			for {
				team, err := s.teams().Get(s.ctx, testOrg, "team_1")
				if err != nil {
					t.Error(err)
					return
				}
				had, err := store.ListOwned(s.ctx, testOrg, "team_1")
				var own []table.Write
				if err == nil {
					own, err = Own(testOrg, "team_1", team.Generation+1, append(had, id))
				}
				if err == nil {
					_, err = s.teams().Update(s.ctx, testOrg, team, team, own...)
				}
				if err == nil {
					return
				}
				if !fault.Is(err, fault.Conflict) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	equal(t, "owned", len(apitest.Value(s.store.ListOwned(s.ctx, testOrg, "team_1"))(s)), 12)
}
