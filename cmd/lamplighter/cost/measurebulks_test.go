package cost

import (
	"fmt"
	"net/http"
)

// longestCycle is the most pairs of bulk actions between two compactions of the index.
const longestCycle = 100

// settle stops and starts the group until the index is compacted for the first time. The deltas of the first discovery
// are gone then, which a request reads only in the first days of an organization.
func (s *site) settle(group string) {
	s.Helper()
	s.cycle(group, longestCycle)
}

// pairs returns the usage of stops and starts of the group until the index is compacted again, and their number.
func (s *site) pairs(bare map[string]Sample, account, group string) (Sample, int) {
	s.Helper()
	s.sample(account)
	s.linked(bare, newSample())
	took, n := s.cycle(group, longestCycle)
	of := s.sample(account)
	took.CloudCalls = of.CloudCalls
	return s.linked(bare, took), n
}

// cycle stops and starts the group until the index is compacted, or most times. It returns the usage and the number of
// pairs.
func (s *site) cycle(group string, most int) (took Sample, n int) {
	s.Helper()
	took = newSample()
	s.logIn(s.org) // the token may have expired while entries waited to be linked
	for read := s.indexUnits(); n < most; n++ {
		s.logIn(s.org)
		s.Take()
		s.bulk(group, "stop")
		s.bulk(group, "start")
		took = took.plus(s.Take())
		now := s.indexUnits()
		if now < read {
			return took, n + 1
		}
		read = now
	}
	if most == longestCycle {
		s.Fatalf("the index was not compacted by %d pairs of bulk actions", n)
	}
	return took, n
}

// indexUnits returns the read units of the index, of a request that reads it the second time.
func (s *site) indexUnits() float64 {
	s.Helper()
	var units float64
	for range 2 {
		s.Take()
		s.ask(http.MethodGet, "/resources/summary", nil, nil)
		units = s.Take().Units["resources"].ReadUnits
	}
	return units
}

// group makes a group of size instances of the account.
func (s *site) group(account string, size int) (id, resource string) {
	s.Helper()
	var found []struct{ ID string }
	s.ask(http.MethodGet,
		fmt.Sprintf("/resources?type=aws-ec2&cloud_account_id=%s&schedulable=true&status=running&limit=%d", account,
			size), nil, &found)
	if len(found) < size {
		s.Fatalf("%d of %d instances", len(found), size)
	}
	members := make([]map[string]any, size)
	for i, r := range found[:size] {
		members[i] = map[string]any{"resourceID": r.ID, "tier": 1, "order": 1}
	}
	var made struct{ ID string }
	s.ask(http.MethodPost, "/resource-groups", map[string]any{"name": "Nightly", "members": members}, &made)
	s.Take()
	return made.ID, found[0].ID
}

// bulk stops or starts the group, and waits until the bulk action has succeeded.
func (s *site) bulk(group, verb string) {
	s.Helper()
	var b struct {
		ID string `json:"bulkActionID"`
	}
	s.ask(http.MethodPost, "/actions/bulk", map[string]string{"type": verb, "groupID": group}, &b)
	s.must(s.AwaitIdle(s.Context()))
	s.must(s.Notify(s.Context()))
	s.bulks++
	kept := s.Take() // the reads below are not the bulk action's
	var done struct {
		Status           string
		Total, Completed int
	}
	s.ask(http.MethodGet, "/actions/bulk/"+b.ID, nil, &done)
	s.Take()
	s.put(kept)
	if done.Status != "completed" || done.Completed != done.Total || done.Total == 0 {
		s.Fatalf("%s: %+v", verb, done)
	}
}

// put sets the usage back to s.
func (l *Ledger) put(s Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s = s
}
