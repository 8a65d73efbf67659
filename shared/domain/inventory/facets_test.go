package inventory

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// Each facet's count is the total of the filter with that value in the facet's place.
func TestSummarize_FacetsAreWhatAListWouldHave(t *testing.T) {
	s := newFixture(t)
	s.account("ca_2", "other")
	s.upsert(s.scan("job_1"), instances(0, 60)...)
	db := Scan{Partition{"ca_2", "simulated", "us-east-1", "aws-rds"}, "job_2", noon}
	s.upsert(db, cloud.Resource{
		UID: "db-1", Name: "Orders", Type: "aws-rds", Region: "us-east-1", Status: cloud.Stopped,
	})
	one, two := s.find(List{})[0], s.find(List{})[1]
	for name, f := range map[string]Filter{
		"none":                 {},
		"a status":             {Statuses: []string{"running"}},
		"a status and a type":  {Statuses: []string{"running"}, Types: []string{"aws-ec2"}},
		"two that exclude all": {Statuses: []string{"pending"}, Types: []string{"aws-rds"}},
		"a search and a region": {
			Search: "env=dev", Regions: []string{"eu-west-1", "mars-1"}, Accounts: []string{one.CloudAccountID},
		},
		"a tag": {Tags: []string{"env=" + two.Tags["env"]}, Statuses: []string{string(two.Status)}},
	} {
		f.Sight = SeeEverything()
		sum, err := s.store.SummarizeResources(s.ctx, testOrg, f)
		s.Must(err)
		for i := range facets {
			listed := 0
			for value, n := range sum.Facets[facets[i].name] {
				with := f
				*facets[i].list(&with) = []string{value}
				other, err := s.store.SummarizeResources(s.ctx, testOrg, with)
				s.Must(err)
				equal(t, fmt.Sprint(name, ": ", facets[i].name, "=", value), n, other.Total)
				listed += n
			}
			with := f
			*facets[i].list(&with) = nil
			other, err := s.store.SummarizeResources(s.ctx, testOrg, with)
			s.Must(err)
			equal(t, name+": all values of "+facets[i].name, listed, other.Total)
		}
	}
}
