package inventory

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

func (s *fixture) record(uid string) Resource {
	s.Helper()
	r, err := table.Read[Resource](s.ctx, s.Table, ResourceKey(testOrg, uid))
	s.Must(err)
	return r
}

func TestUpsertCreatesWhatIsNewAndLeavesWhatIsUnchanged(t *testing.T) {
	s := newFixture(t)
	sc := s.scan("job_1")
	equal(t, "first", s.upsert(sc, instances(0, 250)...), Changes{Created: 250})
	equal(t, "the same batch again", s.upsert(sc, instances(0, 250)...), Changes{Unchanged: 250})

	s.Clock.Advance(time.Hour)
	moved, renamed := instance(1), instance(2)
	moved.Status, renamed.Name = cloud.Running, "renamed"
	equal(t, "an hour later", s.upsert(s.scan("job_2"), instance(0), moved, renamed, instance(900)),
		Changes{Created: 1, Updated: 2, Unchanged: 1})

	equal(t, "status in the record", s.record(moved.UID).Status, cloud.Running)
	equal(t, "name in the record", s.record(renamed.UID).Name, "renamed")
	equal(t, "found by its new name", s.uids(List{Filter: Filter{Search: "RENAMED"}}), []string{renamed.UID})
	equal(t, "not by its old one", s.uids(List{Filter: Filter{Search: instance(2).Name}}), []string{})
}

func TestTheIndexShowsWhatTheRecordHolds(t *testing.T) {
	s := newFixture(t)
	found := instance(7)
	found.ParentUID, found.Unschedulable = "asg-1", "member of Auto Scaling group asg-1: act on the group"
	s.upsert(s.scan("job_1"), found)
	got := s.find(List{})[0]
	rec := s.record(found.UID)
	rec.Scan, got.Scan = "", ""
	equal(t, "record", got.Resource, rec)
	equal(t, "account", got.AccountName, "production")
}

func TestUpsertKeepsActionsAndNewerStates(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instance(0))
	sc := s.scan("job_2") // reads the listing before the action ends
	at := s.Clock.Now()
	s.Clock.Advance(time.Minute)
	uid := instance(0).UID
	s.Write(ClaimResource(testOrg, uid, "act_1", cloud.Stop))
	w, err := NoteStatuses(testOrg, s.Clock.Now(), []Seen{{uid, cloud.Stopped, s.Clock.Now()}})
	s.Must(err)
	s.Must(s.Table.Transact(s.ctx, SettleResource(testOrg, "act_1", Seen{uid, cloud.Stopped, s.Clock.Now()}), w))
	s.Write(ClaimResource(testOrg, uid, "act_2", cloud.Start))

	renamed := instance(0)
	renamed.Name = "renamed"
	apitest.Value(s.store.UpsertScanned(s.ctx, testOrg,
		Batch{Scan: sc, At: at, Resources: []cloud.Resource{renamed}}))(s)
	rec := s.record(uid)
	equal(t, "name", rec.Name, "renamed")
	equal(t, "status", rec.Status, cloud.Stopped)
	equal(t, "action in flight", rec.ActionID, "act_2")
	equal(t, "status in the index", s.find(List{})[0].Status, cloud.Stopped)
}

func TestUpsertMendsAnIndexThatDoesNotKnowTheRecord(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 150)...)
	ids := map[string]string{}
	for _, r := range s.find(List{}) {
		ids[r.UID] = r.ID
	}
	page, err := s.Table.Query(s.ctx, table.Query{PK: index.PK(testOrg), Prefix: deltas, Limit: 100})
	s.Must(err)
	for _, it := range page.Items { // as if the process had died between the records and the index
		s.Write(table.Delete(it.Key))
	}
	s.store = NewStore(s.Table, s.Clock)
	equal(t, "nothing listed", len(s.find(List{})), 0)
	s.upsert(s.scan("job_1"), instances(0, 150)...)
	for _, r := range s.find(List{}) {
		equal(t, "id of "+r.UID, r.ID, ids[r.UID])
	}
	equal(t, "all listed", len(s.find(List{})), 150)
}

func TestUpsertRefusesAnAccountThatIsGone(t *testing.T) {
	s := newFixture(t)
	sc := s.scan("job_1")
	sc.AccountID = "ca_other"
	_, err := s.store.UpsertScanned(s.ctx, testOrg, Batch{Scan: sc, At: noon, Resources: instances(0, 1)})
	if !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found", err)
	}
}

// TestFinishLeavesOtherPartitionsAlone checks that an empty scan does not change resources of another account, region
// or kind.
func TestFinishLeavesOtherPartitionsAlone(t *testing.T) {
	s := newFixture(t)
	s.account("ca_2", "other")
	for i, p := range []Partition{
		{testCA, "aws", "eu-west-1", "aws-ec2"},
		{"ca_2", "aws", "eu-west-1", "aws-ec2"},
		{testCA, "aws", "us-east-1", "aws-ec2"},
		{testCA, "aws", "eu-west-1", "aws-rds"},
	} {
		sc := Scan{p, "job_1", noon}
		s.upsert(sc, instance(2*i)) // even ones run
		s.finish(sc)
	}
	s.Clock.Advance(time.Hour)
	equal(t, "finished", s.finish(s.scan("job_2")), Changes{})
	s.Clock.Advance(time.Hour)
	equal(t, "finished again", s.finish(s.scan("job_3")), Changes{Vanished: 1})
	gone := s.find(List{Filter: Filter{Statuses: []string{string(cloud.Terminated)}}})
	equal(t, "terminated", uidsOf(gone), []string{instance(0).UID})
}

func TestFinishTerminatesWhatAScanDidNotFind(t *testing.T) {
	s := newFixture(t)
	first := s.scan("job_1")
	s.upsert(first, instances(0, 10)...)
	equal(t, "first", s.finish(first), Changes{})
	s.Clock.Advance(time.Hour)
	second := s.scan("job_2")
	s.upsert(second, instances(0, 9)...)
	s.Clock.Advance(time.Minute)
	s.upsert(s.scan("job_other"), instance(20)) // made while this scan runs, after its page was read
	equal(t, "second", s.finishRead(second, map[string]bool{instance(9).UID: false}), Changes{Vanished: 1})
	equal(t, "finished twice", s.finish(second), Changes{})

	gone := s.find(List{Filter: Filter{Statuses: []string{string(cloud.Terminated)}}})
	equal(t, "terminated", uidsOf(gone), []string{instance(9).UID})
	equal(t, "last seen", gone[0].LastSeenAt, noon)
	equal(t, "record", s.record(instance(9).UID).Status, cloud.Terminated)
	for _, r := range s.find(List{Filter: Filter{Search: instance(0).UID}}) {
		equal(t, "last seen of what is still there", r.LastSeenAt, second.Started)
	}

	s.Clock.Advance(24 * time.Hour)
	third := s.scan("job_3")
	back := instance(9)
	equal(t, "back again", s.upsert(third, append(instances(0, 9), back, instance(20))...),
		Changes{Updated: 1, Unchanged: 10})
	equal(t, "third", s.finish(third), Changes{})
	equal(t, "none terminated", s.uids(List{Filter: Filter{Statuses: []string{string(cloud.Terminated)}}}), []string{})
}

func TestFinishDropsWhatWasTerminatedAWeekAgo(t *testing.T) {
	s := newFixture(t)
	for day, n := range []int{10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9} {
		sc := s.scan("job_" + string(rune('a'+day)))
		s.upsert(sc, instances(0, n)...)
		want := Changes{}
		switch day {
		case 2:
			want.Vanished = 1
		case 10:
			want.Dropped = 1
		}
		equal(t, sc.ID, s.finish(sc), want)
		s.Clock.Advance(24 * time.Hour)
	}
	equal(t, "listed", len(s.find(List{})), 9)
	_, err := s.Table.Get(s.ctx, ResourceKey(testOrg, instance(9).UID))
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("the record is still there: %v", err)
	}
}

func TestForgetDropsAnAccountAndNothingElse(t *testing.T) {
	s := newFixture(t)
	s.account("ca_2", "other")
	s.upsert(s.scan("job_1"), instances(0, 30)...)
	other := s.scan("job_2")
	other.AccountID = "ca_2"
	s.upsert(other, instances(30, 40)...)
	c, err := s.store.ForgetAccount(s.ctx, testOrg, testCA)
	s.Must(err)
	equal(t, "dropped", c, Changes{Dropped: 30})
	counts, err := s.store.CountByAccount(s.ctx, testOrg)
	s.Must(err)
	equal(t, "left", counts, map[string]int{"ca_2": 10})
}

func TestRecordsReadAsTheyWereWrittenIntoTheIndex(t *testing.T) {
	race.SkipSequential(t)
	s, g, want := newFixture(t), index.NewSegment(), map[string]Resource{}
	for n := range 12_000 { // more than one item holds
		f, at := instance(n), noon.Add(time.Duration(n)*time.Second)
		rec := Resource{
			ID: id.New("res", at), UID: f.UID, Name: f.Name, Type: f.Type, Provider: "aws", CloudAccountID: testCA,
			Region: f.Region, Zone: f.Zone,
			Status: f.Status, InstanceType: f.InstanceType, Capacity: f.Capacity, Tags: f.Tags, ParentUID: "asg-1",
			Unschedulable: "spot", CreatedAt: f.CreatedAt,
			DiscoveredAt: at, LastSeenAt: at, StatusAt: noon.UnixMicro() + int64(n),
		}
		want[rec.UID] = rec
		g.Rows = append(g.Rows, newRow(g.Symbols, rec))
	}
	s.Must(s.store.index.Note(s.ctx, testOrg, g))
	if n := len(s.keys(deltas)); n < 2 {
		t.Errorf("all of it fitted into %d delta", n)
	}
	got := s.find(List{})
	equal(t, "listed", len(got), len(want))
	for _, r := range got {
		equal(t, r.UID, r.Resource, want[r.UID])
	}
}

// maxDiscoverySeconds limits how long the first discovery of half a million resources may use the full capacity of one
// key, except keys of records. DynamoDB gives a key 1,000 write units per second.
const maxDiscoverySeconds = 180

func TestAFirstDiscoveryKeepsNoKeyOfTheIndexBusyForLong(t *testing.T) {
	race.SkipSequential(t)
	const count, huge, perSecond = 40_000, 500_000, 1000
	s := newFixture(t)
	ctx, meter := table.WithPartitionMeter(s.ctx)
	s.ctx = ctx
	s.discover(t, count)
	most := map[string]float64{}
	for pk, u := range meter.Partitions() {
		name, _, _ := strings.Cut(strings.TrimPrefix(pk, table.OrgPK(testOrg)), "#")
		if strings.Contains(pk, "#INV#") {
			name = "a chunk"
		}
		most[name] = max(most[name], u.Write)
	}
	for name, units := range most {
		seconds := units / count * huge / perSecond
		t.Logf("%s: %.0f units of %d resources, %.0f s of %d", name, units, count, seconds, huge)
		if name != "RES" && name != "a chunk" && seconds > maxDiscoverySeconds {
			t.Errorf("%s would be busy for %.0f s; %d are allowed", name, seconds, maxDiscoverySeconds)
		}
	}
}
