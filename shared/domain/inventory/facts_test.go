package inventory

import (
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// everythingElse returns a scan of the collective kind "aws-*" in one region, started now. It lists the resources that
// no other kind lists.
func (s *fixture) everythingElse(id string) Scan {
	return Scan{Partition{testCA, "aws", "eu-west-1", "aws-*"}, id, s.Clock.Now()}
}

// volume returns the n-th volume of a cloud, attached or not.
func volume(n int, attached bool) cloud.Resource {
	r := cloud.Resource{
		UID:  fmt.Sprintf("arn:aws:ec2:eu-west-1:111122223333:volume/vol-%017x", uint64(n)*2654435761),
		Name: fmt.Sprintf("data-%06d", n), Type: "aws-ebs",
		Status: cloud.Running, Capacity: map[string]int64{"sizeGiB": int64(8 << (n % 5))},
		Facts: cloud.Facts{
			"attachment_count": 1.0, "unattached_since": cloud.Never, "size_gb": float64(n),
			"volume_type": "gp3",
		},
	}
	if !attached {
		r.Facts["attachment_count"], r.Facts["unattached_since"] = 0.0, cloud.Since{}
	}
	return r
}

func topic(name string) cloud.Resource {
	return cloud.Resource{
		UID: "arn:aws:sns:eu-west-1:111122223333:" + name, Name: name, Type: "aws-sns",
		Status: cloud.Running,
	}
}

func (s *fixture) finishOthers(sc Scan) Changes {
	s.Helper()
	s.remember(sc, nil)
	c, err := s.store.FinishScans(s.ctx, testOrg,
		[]EndedScan{{Scan: sc, Found: s.found[sc], Others: []string{"aws-ec2", "aws-rds", "aws-*"}}})
	s.Must(err)
	return c[0]
}

func TestAScanOfEverythingElse_HoldsManyTypes(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instance(0))
	sc := s.everythingElse("job_1")
	equal(t, "found", s.upsert(sc, volume(1, true), volume(2, true), topic("orders")), Changes{Created: 3})
	s.finishOthers(sc)
	equal(t, "volumes by their type", len(s.find(List{Filter: Filter{Types: []string{"aws-ebs"}}})), 2)

	s.Clock.Advance(time.Hour)
	sc = s.everythingElse("job_2")
	equal(t, "found again", s.upsert(sc, volume(1, true)), Changes{Unchanged: 1})
	equal(t, "not found for the first time", s.finishOthers(sc), Changes{})
	s.Clock.Advance(time.Hour)
	sc = s.everythingElse("job_3")
	equal(t, "found once more", s.upsert(sc, volume(1, true)), Changes{Unchanged: 1})
	equal(t, "what is gone, of all its types, and of no other", s.finishOthers(sc), Changes{Vanished: 2})
	equal(t, "finished again", s.finishOthers(sc), Changes{})
	equal(t, "what another scan finds stays", s.find(List{Filter: Filter{Types: []string{"aws-ec2"}}})[0].Status,
		cloud.Running)
	got := s.find(List{Filter: Filter{Types: []string{"aws-ebs"}, Statuses: []string{"running"}}})[0]
	equal(t, "last seen", got.LastSeenAt, s.Clock.Now())
	equal(t, "schedulable", got.Schedulable, false)
}

func TestAScanThatDidNotEnd_TerminatesNothingOfAnyType(t *testing.T) {
	s := newFixture(t)
	sc := s.everythingElse("job_1")
	s.upsert(sc, volume(1, true), topic("orders"))
	s.finishOthers(sc)
	s.Clock.Advance(time.Hour)
	s.upsert(s.everythingElse("job_2"), volume(1, true)) // its next page is denied
	equal(t, "running", len(s.find(List{Filter: Filter{Statuses: []string{"running"}}})), 2)
}

func TestFacts_StandInTheRecordAndAreReadWithIt(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.everythingElse("job_1"), volume(7, true))
	listed := s.find(List{})[0]
	if listed.Facts != nil {
		t.Errorf("a list shows facts: %v", listed.Facts)
	}
	equal(t, "capacity", listed.Capacity, map[string]int64{"sizeGiB": 32})
	ctx, m := table.WithMeter(s.ctx)
	got := apitest.Value(s.store.DescribeByID(ctx, testOrg, listed.ID, SeeEverything()))(s)
	equal(t, "facts", got.Facts,
		cloud.Facts{
			"attachment_count": 1.0, "size_gb": 7.0, "unattached_since": "9999-12-31T00:00:00Z",
			"volume_type": "gp3",
		})
	if n := m.Usage().RoundTrips; n > 2 {
		t.Errorf("%d round trips; want two at most", n)
	}
}

func TestFacts_AChangeOfThemAloneIsWritten(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.everythingElse("job_1"), volume(1, true))
	grown := volume(1, true)
	grown.Facts["size_gb"] = 500.0
	s.Clock.Advance(time.Hour)
	equal(t, "grown", s.upsert(s.everythingElse("job_2"), grown), Changes{Updated: 1})
	equal(t, "in the record", s.record(grown.UID).Facts["size_gb"], any(500.0))
	none := grown
	none.Facts = nil
	equal(t, "a scan that may not read them", s.upsert(s.everythingElse("job_3"), none), Changes{Updated: 1})
	equal(t, "what is unknown is not kept", len(s.record(grown.UID).Facts), 0)
}

func TestFacts_TellSinceWhenByOurOwnSight(t *testing.T) {
	s := newFixture(t)
	sight := func(attached bool) any {
		s.Clock.Advance(time.Hour)
		v := volume(1, attached)
		s.upsert(s.everythingElse("job"), v)
		return s.record(v.UID).Facts["unattached_since"]
	}
	at := func(hours int) string { return noon.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339) }
	equal(t, "found unattached", sight(false), any(at(1)))
	equal(t, "still unattached", sight(false), any(at(1)))
	s.Clock.Advance(time.Hour)
	v := volume(1, false)
	v.Facts["size_gb"] = 2.0
	equal(t, "grown", s.upsert(s.everythingElse("job"), v), Changes{Updated: 1})
	equal(t, "grown and still unattached", s.record(v.UID).Facts["unattached_since"], any(at(1)))
	equal(t, "attached", sight(true), any("9999-12-31T00:00:00Z"))
	equal(t, "unattached again", sight(false), any(at(5)))
}

// A record from another process may know an earlier time.
func TestFacts_SinceOutlivesAnIndexThatDoesNotKnow(t *testing.T) {
	s := newFixture(t)
	v := volume(1, false)
	rec := Resource{
		ID: "res_01kkbhasqg1n7ds5th2w6s4wa4", UID: v.UID, Type: "aws-ebs",
		Facts: cloud.Facts{"unattached_since": "2026-01-01T00:00:00Z"},
	}
	s.Put(ResourceKey(testOrg, v.UID), rec)
	s.upsert(s.everythingElse("job_1"), v)
	equal(t, "since", s.record(v.UID).Facts["unattached_since"], any("2026-01-01T00:00:00Z"))
}

// Facts are not part of the index. The index has only a sum of each resource's facts: 5 bytes stored, and 20 in
// memory.
func TestFacts_TakeLittleOfTheIndex(t *testing.T) {
	race.SkipSequential(t)
	const n = 20_000
	bytes := func(with bool) int {
		s := newFixture(t)
		sc := s.everythingElse("job_1")
		found := make([]cloud.Resource, n)
		for i := range found {
			if found[i] = volume(i, true); !with {
				found[i].Facts = nil
			}
		}
		s.upsert(sc, found...)
		v, err := s.store.openIndex(s.ctx, testOrg)
		s.Must(err)
		return v.st.Bytes() / n
	}
	without, with := bytes(false), bytes(true)
	t.Logf("%d bytes a volume, %d with facts", without, with)
	if with-without > 40 {
		t.Errorf("facts take %d bytes a resource of the index; want 40 at most", with-without)
	}
}
