package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// group makes a static group of the resources with the uids.
func (s *fixture) group(name string, uids ...string) Group {
	s.Helper()
	places := []GroupPlacement{}
	for i, r := range apitest.Value(s.store.ByUIDs(s.ctx, testOrg, uids, SeeEverything()))(s) {
		places = append(places, GroupPlacement{r.ID, 1 + i/2, 1 + i%2})
	}
	g, err := s.store.CreateGroup(s.ctx, testOrg, Group{ID: "grp_1", Name: name, FailurePolicy: ContinueOnFailure},
		places)
	s.Must(err)
	return g
}

func TestFindFilters(t *testing.T) {
	s := newFixture(t)
	s.account("ca_2", "other")
	s.upsert(s.scan("job_1"), instances(0, 30)...)
	db := Scan{Partition{"ca_2", "simulated", "us-east-1", "aws-rds"}, "job_2", noon}
	s.upsert(db, cloud.Resource{
		UID: "arn:aws:rds:us-east-1:1:db:Orders", Name: "Orders", Type: "aws-rds", Region: "us-east-1",
		Status:        cloud.Stopped,
		Unschedulable: "read replica", Tags: map[string]string{"a=b": "c", "Cost Center": "42"},
	})
	static := s.group("static", instance(3).UID, instance(4).UID)
	dynamic, err := s.store.CreateGroup(s.ctx, testOrg,
		Group{
			ID: "grp_2", Name: "dynamic",
			Selector: &Selector{Type: "aws-ec2", Tags: map[string]string{"env": "dev"}},
		}, nil)
	s.Must(err)
	yes, no := true, false
	orders := []string{"arn:aws:rds:us-east-1:1:db:Orders"}
	for _, c := range []struct {
		name string
		f    Filter
		want int
	}{
		{"everything", Filter{}, 31},
		{"a name in another case", Filter{Search: "oRDERS"}, 1},
		{"part of a uid", Filter{Search: ":db:"}, 1},
		{"a tag", Filter{Search: "cost center=42"}, 1},
		{"a word that nothing has", Filter{Search: "zebra"}, 0},
		{"a type", Filter{Types: []string{"aws-rds"}}, 1},
		{"a type that nothing has", Filter{Types: []string{"aws-asg"}}, 0},
		{"a provider", Filter{Providers: []string{"simulated"}}, 1},
		{"a status", Filter{Statuses: []string{string(cloud.Running)}}, 15},
		{"a region", Filter{Regions: []string{"eu-west-1"}}, 30},
		{"an account", Filter{Accounts: []string{"ca_2"}}, 1},
		{"what can be scheduled", Filter{Schedulable: &yes}, 30},
		{"what cannot", Filter{Schedulable: &no}, 1},
		{"a tag and its value", Filter{Tags: []string{"env=dev"}}, 10},
		{"a tag with a sign in its key", Filter{Tags: []string{"a=b=c"}}, 1},
		{"a tag with any value", Filter{Tags: []string{"Cost Center"}}, 1},
		{"part of a tag", Filter{Tags: []string{"env=de"}}, 0},
		{"two tags", Filter{Tags: []string{"env=dev", "team=team-02"}}, 1},
		{"a static group", Filter{GroupID: static.ID}, 2},
		{"a dynamic group", Filter{GroupID: dynamic.ID}, 10},
		{"a group that does not exist", Filter{GroupID: "grp_9"}, 0},
		{"both of two things", Filter{Regions: []string{"eu-west-1"}, Statuses: []string{string(cloud.Stopped)}}, 15},
		{"a team that does not exist", Filter{TeamID: "team_9"}, 0},
	} {
		c.f.Sight = SeeEverything()
		equal(t, c.name, len(s.find(List{Filter: c.f})), c.want)
		sum, err := s.store.SummarizeResources(s.ctx, testOrg, c.f)
		s.Must(err)
		equal(t, "count of "+c.name, sum.Total, c.want)
		for _, p := range []List{{}, {Limit: 1}, {Limit: 100}, {Limit: 5, Skip: 5}, {Limit: 5, Skip: 1000}} {
			p.Filter = c.f
			_, total, err := s.store.FindPage(s.ctx, testOrg, p)
			s.Must(err)
			equal(t, fmt.Sprintf("total of %s, %d after %d", c.name, p.Limit, p.Skip), total, c.want)
		}
	}
	equal(t, "what an account has", s.uids(List{Filter: Filter{Accounts: []string{"ca_2"}}}), orders)
	for _, r := range s.find(List{Filter: Filter{GroupID: static.ID}}) {
		want := []string{"grp_1"}
		if r.Tags["env"] == "dev" {
			want = []string{"grp_1", "grp_2"}
		}
		equal(t, "groups of "+r.UID, r.GroupIDs, want)
	}
	if _, err := s.store.FindResources(s.ctx, testOrg, List{By: "colour"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown order: %v", err)
	}
}

// TestPagesTogetherAreTheList reads every page in every order, both ways, and compares them with a list sorted by the
// test.
func TestPagesTogetherAreTheList(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 137)...)
	all := s.find(List{})
	keys := map[string]func(Listed) string{
		"name": func(Listed) string { return "" }, "cost": func(Listed) string { return "" },
		"type": func(r Listed) string { return r.Type }, "status": func(r Listed) string { return string(r.Status) },
		"provider": func(r Listed) string { return r.Provider }, "region": func(r Listed) string { return r.Region },
	}
	for _, by := range Orders {
		want := uidsOf(slices.SortedFunc(slices.Values(all), func(a, b Listed) int {
			x := keys[by](a) + "\x00" + strings.ToLower(a.Name) + "\x00" + a.UID
			return strings.Compare(x, keys[by](b)+"\x00"+strings.ToLower(b.Name)+"\x00"+b.UID)
		}))
		for _, descending := range []bool{false, true} {
			if descending {
				slices.Reverse(want)
			}
			got := []string{}
			for skip := 0; skip <= len(want); skip += 20 {
				got = append(got, s.uids(List{By: by, Descending: descending, Skip: skip, Limit: 20})...)
			}
			equal(t, fmt.Sprintf("%s descending %v", by, descending), got, want)
		}
	}
	equal(t, "a page behind the last", s.uids(List{Skip: 5000, Limit: 20}), []string{})
}

// TestRoundTrips counts the store calls of requests on a warm index.
func TestRoundTrips(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 3000)...)
	g := s.group("static", instance(3).UID, instance(4).UID)
	id := s.find(List{})[0].ID
	for _, c := range []struct {
		name string
		want int64
		call func(*Store) error
	}{
		{"a page", 2, func(st *Store) error {
			return second(st.FindResources(s.cost(), testOrg, List{Filter: everything, Limit: 20}))
		}},
		{"a page far behind", 2, func(st *Store) error {
			return second(st.FindResources(s.cost(), testOrg, List{Filter: everything, Skip: 2900, Limit: 100}))
		}},
		{"a search", 2, func(st *Store) error {
			return second(st.FindResources(s.cost(), testOrg,
				List{Filter: Filter{Search: "web", Sight: SeeEverything()}, Limit: 20}))
		}},
		{"a page of a group", 2, func(st *Store) error {
			return second(st.FindResources(s.cost(), testOrg,
				List{Filter: Filter{GroupID: g.ID, Sight: SeeEverything()}, Limit: 20}))
		}},
		{"one resource", 2, func(st *Store) error { return second(st.ByID(s.cost(), testOrg, id, SeeEverything())) }},
		{"many by uid", 2, func(st *Store) error {
			return second(st.ByUIDs(s.cost(), testOrg, []string{instance(1).UID, instance(2).UID}, SeeEverything()))
		}},
		{"a summary", 1, func(st *Store) error { return second(st.SummarizeResources(s.cost(), testOrg, everything)) }},
		{"the members of a group", 1, func(st *Store) error { return second(st.ExpandGroup(s.cost(), testOrg, g.ID)) }},
	} {
		s.Must(c.call(s.store))
		ctx, meter := table.WithMeter(s.ctx)
		before := s.ctx
		s.ctx = ctx
		s.Must(c.call(s.store))
		s.ctx = before
		equal(t, c.name, int64(meter.Usage().RoundTrips), c.want)
	}
}

func (s *fixture) cost() context.Context { return s.ctx }

func second[T any](_ T, err error) error { return err }

func TestMembersComeInTheirSequence(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 10)...)
	g := s.group("Web", instance(5).UID, instance(1).UID, instance(7).UID)
	members, err := s.store.ExpandGroup(s.ctx, testOrg, g.ID)
	s.Must(err)
	got := []string{}
	for _, m := range members {
		got = append(got, fmt.Sprintf("%s %d.%d", m.UID, m.Tier, m.Order))
	}
	equal(t, "members", got, []string{instance(5).UID + " 1.1", instance(1).UID + " 1.2", instance(7).UID + " 2.1"})

	_, err = s.store.CreateGroup(s.ctx, testOrg, Group{ID: "grp_2", Name: " web "}, nil)
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("a second group of the same name: %v", err)
	}
	old, g2 := g, g
	g2.Name = "Databases"
	g2, err = s.store.UpdateGroup(s.ctx, testOrg, old, Grouping{Group: g2})
	s.Must(err)
	equal(t, "members after a rename", g2.Size, 3)
	if _, err = s.store.UpdateGroup(s.ctx, testOrg, old, Grouping{Group: g2}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an update of what was read before another: %v", err)
	}
	apitest.Value(s.store.CreateGroup(s.ctx, testOrg, Group{ID: "grp_3", Name: "web"}, nil))(s)
	s.Must(s.store.DeleteGroup(s.ctx, testOrg, g2))
	if _, err = s.store.ExpandGroup(s.ctx, testOrg, g.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("members of a deleted group: %v", err)
	}
}

func TestLastSeenFollowsScansThatFoundNothingNew(t *testing.T) {
	s := newFixture(t)
	for day := range 3 {
		sc := s.scan(fmt.Sprintf("job_%d", day))
		s.upsert(sc, instance(0))
		s.finish(sc)
		equal(t, "last seen", s.find(List{})[0].LastSeenAt, s.Clock.Now())
		s.Clock.Advance(24 * time.Hour)
	}
}
