package cost

import (
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// own makes a team own exactly the resources with these native IDs.
func (s *fixture) own(teamID string, generation int64, uids ...string) {
	s.Helper()
	s.ownIDs(teamID, generation, inventorytest.IDs(s.Fixture, testOrg, uids...)...)
}

// ownIDs makes a team own exactly the resources with these IDs of ours.
func (s *fixture) ownIDs(teamID string, generation int64, ids ...string) {
	s.Helper()
	ws, err := inventory.Own(testOrg, teamID, generation, ids)
	s.Must(err)
	s.Must(s.Table.Transact(s.ctx, ws...))
}

func (s *fixture) group(id string, selector *inventory.Selector, uids ...string) {
	s.Helper()
	var places []inventory.GroupPlacement
	for _, r := range inventorytest.IDs(s.Fixture, testOrg, uids...) {
		places = append(places, inventory.GroupPlacement{ResourceID: r, Tier: 1, Order: 1})
	}
	_, err := s.inventory.CreateGroup(s.ctx, testOrg, inventory.Group{ID: id, Name: id, Selector: selector}, places)
	s.Must(err)
}

// owned returns an organization with three instances: team_a owns i-0 and i-1, team_b and team_c own i-1.
func owned(t *testing.T) *fixture {
	t.Helper()
	s := newFixture(t)
	inventorytest.Discover(s.Fixture, testOrg, "aws-ec2", inventorytest.Instances(3)...)
	s.own("team_a", 1, "i-0", "i-1")
	s.own("team_b", 1, "i-1")
	s.own("team_c", 1, "i-1")
	return s
}

func TestTeams_ShareWhatSeveralOwnAndAddUpToTheWhole(t *testing.T) {
	s := owned(t)
	s.bring(imported("ca_1", "one", now),
		charge(1, "i-0", "EC2", "5"), charge(1, "i-1", "EC2", "10"), charge(2, "i-2", "EC2", "0.7"),
		charge(2, "", "Support", "1"))
	a := s.ask(ofMarch(TeamDim))
	equal(t, "teams", rows(a), []string{
		"team_a=8.333333333333333333333333333334", "team_b=3.333333333333333333333333333333",
		"team_c=3.333333333333333333333333333333", "=1.7",
	})
	equal(t, "teams and Unassigned", a.Total.String(), "16.7")
	q := ofMarch()
	q.Filter = map[string][]string{TeamDim: {"team_a"}}
	equal(t, "the share of a team", s.ask(q).Total.String(), "8.333333333333333333333333333334")
	q.Filter = map[string][]string{TeamDim: {""}}
	equal(t, "Unassigned", s.ask(q).Total.String(), "1.7")
	q = ofMarch(TeamDim, ServiceDim)
	q.Daily = true
	a = s.ask(q)
	equal(t, "teams by service", len(a.Rows), 5)
	equal(t, "all days", money.Sum(a.Days...).String(), "16.7")
}

func TestGroups_AreFilteredWholeAndSplitWhenListed(t *testing.T) {
	s := owned(t)
	s.group("grp_a", nil, "i-0", "i-1")
	s.group("grp_b", &inventory.Selector{Tags: map[string]string{"env": "dev"}})
	s.bring(imported("ca_1", "one", now), charge(1, "i-0", "EC2", "5"), charge(1, "i-1", "EC2", "10"),
		charge(2, "i-2", "EC2", "0.7"))
	equal(t, "groups", rows(s.ask(ofMarch(GroupDim))), []string{"grp_a=10", "grp_b=5", "=0.7"})
	q := ofMarch(ResourceDim)
	q.Filter = map[string][]string{GroupDim: {"grp_b"}}
	equal(t, "all of a group", rows(s.ask(q)), []string{"i-1=10"})
	q.Dims = []string{GroupDim}
	equal(t, "a group as its only one", rows(s.ask(q)), []string{"grp_b=10"})
}

func TestStamps_OfOpenMonthsFollowTheInventory(t *testing.T) {
	s := owned(t)
	s.attributing(0)
	february := imported("ca_1", "feb", now)
	february.Month, february.Final = march.Add(-1), true
	old := charge(1, "i-0", "EC2", "4")
	old.BillingPeriodStart, old.ChargePeriodStart = february.Month.Start(), february.Month.Start()
	s.bring(february, old)
	s.bring(imported("ca_1", "one", now), charge(1, "i-0", "EC2", "5"))
	s.own("team_a", 2)
	s.own("team_b", 2, "i-0")

	both := Question{From: february.Month.Start(), To: march.End(), Metric: Billed, Dims: []string{TeamDim}}
	equal(t, "as they were at the import", rows(s.ask(both)), []string{"team_a=9"})
	s.Must(s.store.Rebuild(s.ctx, testOrg, nil))
	equal(t, "the open month anew", rows(s.ask(both)), []string{"team_b=5", "team_a=4"})
	february.Fingerprint, february.DeliveredAt = "restated", now.Add(time.Hour)
	old.BilledCost = money.MustParse("4.5")
	s.bring(february, old)
	equal(t, "a closed month that is restated", rows(s.ask(both)), []string{"team_b=5", "team_a=4.5"})
	sums, err := s.store.Summaries(s.ctx, testOrg, february.Month, march)
	s.Must(err)
	equal(t, "summary of the closed month", sums[0].By[TeamDim][0].Value, "team_a")
	equal(t, "summary of the open month", sums[1].By[TeamDim][0].Value, "team_b")
}

func TestRebuild_WritesNothingWhenNothingHasChanged(t *testing.T) {
	s := owned(t)
	s.bring(imported("ca_1", "one", now), charge(1, "i-0", "EC2", "5"))
	ctx, meter := table.WithMeter(s.ctx)
	s.Must(s.store.Rebuild(ctx, testOrg, nil))
	equal(t, "write units", meter.Usage().WriteUnits, 0)
	s.own("team_b", 2, "i-0", "i-1")
	s.Must(s.store.Rebuild(ctx, testOrg, nil))
	equal(t, "teams", rows(s.ask(ofMarch(TeamDim))), []string{"team_a=2.5", "team_b=2.5"})
}

func TestStamps_OfWhatTheInventoryNoLongerKnowsStay(t *testing.T) {
	s := owned(t)
	s.bring(imported("ca_1", "one", now), charge(1, "i-0", "EC2", "5"))
	s.store = NewStore(s.Table, inventory.NewStore(tabletest.NewAt(t, s.Clock), s.Clock), s.Clock)
	s.bring(imported("ca_1", "two", now.Add(time.Hour)), charge(1, "i-0", "EC2", "6"), charge(1, "i-9", "EC2", "2"))
	equal(t, "teams", rows(s.ask(ofMarch(TeamDim, TypeDim))), []string{"team_a,aws-ec2=6", ",Instance=2"})
	s.Must(s.store.Rebuild(s.ctx, testOrg, nil))
	equal(t, "teams after Rebuild", rows(s.ask(ofMarch(TeamDim))), []string{"team_a=6", "=2"})
}

func TestStamps_LeaveTheLinesOfUnknownResourcesAsBilled(t *testing.T) {
	s := newFixture(t)
	machine, traffic := charge(1, "i-9", "EC2", "5"), charge(1, "i-9", "Data transfer", "1")
	traffic.ResourceType, traffic.RegionID = "Transfer", ""
	for n, fingerprint := range []string{"one", "two"} {
		s.bring(imported("ca_1", fingerprint, now.Add(time.Duration(n)*time.Hour)), machine, traffic)
		equal(t, "types and regions", rows(s.ask(ofMarch(TypeDim, RegionDim))),
			[]string{"Instance,eu-west-1=5", "Transfer,=1"})
	}
}

func TestStamps_NameResourcesAsTheInventoryDoes(t *testing.T) {
	s := newFixture(t)
	volume := "arn:aws:ec2:eu-west-1:123456789012:volume/vol-0a1b2c3d4e5f60718"
	inventorytest.Discover(s.Fixture, testOrg, "aws-ebs",
		cloud.Resource{UID: volume, Name: "data", Type: "aws-ebs", Status: cloud.Running})
	s.bring(imported("ca_1", "one", now), charge(1, "vol-0a1b2c3d4e5f60718", "EC2", "5"),
		charge(1, "other", "EC2", "1"))
	equal(t, "resources", rows(s.ask(ofMarch(ResourceDim, TypeDim))),
		[]string{volume + ",aws-ebs=5", "other,Instance=1"})
	costs, err := s.store.ResourceCosts(s.ctx, testOrg, march)
	s.Must(err)
	equal(t, "cost of the volume", costs[volume].Billed.String(), "5")
}

func TestWithin_ShowsOnlyWhatTheCallerSees(t *testing.T) {
	s := owned(t)
	s.bring(imported("ca_1", "one", now),
		charge(1, "i-0", "EC2", "5"), charge(1, "i-1", "EC2", "10"), charge(2, "i-2", "EC2", "0.7"),
		charge(2, "", "Support", "1"))
	scopes := grant.Scopes{Teams: []string{"team_b"}}
	sets, err := s.inventory.ResourceSets(s.ctx, testOrg, scopes, grant.Scopes{})
	s.Must(err)
	q := ofMarch(TeamDim, ResourceDim)
	q.Within = &Within{sets[0], scopes}
	a := s.ask(q)
	equal(t, "his resources, without the names of other teams", rows(a),
		[]string{",i-1=6.666666666666666666666666666667", "team_b,i-1=3.333333333333333333333333333333"})
	equal(t, "total of just these", a.Total.String(), "10")
	q.Filter = map[string][]string{TeamDim: {"team_a"}}
	equal(t, "by a team that he does not see", len(s.ask(q).Rows), 0)
	q.Filter = nil
	q.Within = &Within{sets[1], grant.Scopes{}}
	equal(t, "who sees nothing", len(s.ask(q).Rows), 0)
	q.Within = &Within{Teams: scopes}
	equal(t, "a scope of nothing", s.ask(q).Total.String(), "0")
}
