package anomalycheck

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/foundation/money"
)

// The indexes of the dimensions in the keys of a row: the order of dimensions in the question of judgeDays.
const (
	resourceKey = iota
	accountKey
	teamKey
	groupKey
	serviceKey
)

// scopes holds the cost rows of an organization, and the rows of each scope. A team has its share of costs. A group
// has all costs of its resources, even if they are also in other groups.
type scopes struct {
	rows  []cost.Row
	from  time.Time
	until map[string]time.Time // the last settled day of each account
	all   time.Time            // of all accounts
	told  int                  // the index of the first day with notifications

	of map[anomaly.Scope][]int32 // the rows of each scope
}

func newScopes(a cost.Answer, from time.Time, settled map[string]time.Time) *scopes {
	s := &scopes{rows: a.Rows, from: from, until: settled, all: earliest(settled), of: map[anomaly.Scope][]int32{}}
	members := map[string]map[string]bool{} // resources of each group
	for i, r := range a.Rows {
		s.add(anomaly.Org, "", i)
		s.add(anomaly.CloudAccount, r.Keys[accountKey], i)
		s.add(anomaly.Team, r.Keys[teamKey], i)
		s.add(anomaly.Resource, r.Keys[resourceKey], i)
		if g := r.Keys[groupKey]; g != "" {
			if members[g] == nil {
				members[g] = map[string]bool{}
			}
			members[g][r.Keys[resourceKey]] = true
		}
	}
	for g, uids := range members {
		for uid := range uids {
			s.of[anomaly.Scope{
				Type: anomaly.ResourceGroup,
				ID:   g,
			}] = append(s.of[anomaly.Scope{Type: anomaly.ResourceGroup, ID: g}],
				s.of[anomaly.Scope{Type: anomaly.Resource, ID: uid}]...)
		}
	}
	return s
}

// earliest returns the last day that has settled in all accounts. It ignores accounts without bills for the time
// forgotten.
func earliest(settled map[string]time.Time) time.Time {
	last := latest(settled)
	first := last
	for _, t := range settled {
		if t.Before(first) && last.Sub(t) < forgotten {
			first = t
		}
	}
	return first
}

func (s *scopes) add(of anomaly.ScopeType, id string, row int) {
	if id == "" && of != anomaly.Org {
		return // an empty key belongs to no scope
	}
	k := anomaly.Scope{Type: of, ID: id}
	s.of[k] = append(s.of[k], int32(row)) //nolint:gosec // fewer than a billion
}

// series returns the series of all scopes.
func (s *scopes) series() []anomaly.Series {
	out := make([]anomaly.Series, 0, len(s.of))
	outer := map[anomaly.Scope]*anomaly.Series{}
	for scope, rows := range s.of {
		out = append(out, anomaly.Series{
			Scope: scope, Days: s.sum(rows), Within: s.within(scope, rows),
			Until: s.index(s.settled(scope.Type, rows)) + 1,
		})
		if scope.Type != anomaly.Resource {
			outer[scope] = &out[len(out)-1]
		}
	}
	for i := range out {
		if out[i].Type == anomaly.Resource {
			s.addMember(&out[i], outer)
		}
	}
	return out
}

// outerScopes are the kinds of scopes that resources are in, besides the organization.
var outerScopes = [...]struct {
	of  anomaly.ScopeType
	key int
}{{anomaly.CloudAccount, accountKey}, {anomaly.Team, teamKey}, {anomaly.ResourceGroup, groupKey}}

// addMember adds a resource to the members of the scopes that have costs of it.
func (s *scopes) addMember(resource *anomaly.Series, outer map[anomaly.Scope]*anomaly.Series) {
	org := outer[anomaly.Scope{Type: anomaly.Org}]
	org.Members = append(org.Members, resource)
	rows := s.of[resource.Scope]
	for n, row := range rows {
		for _, kind := range outerScopes {
			id := s.rows[row].Keys[kind.key]
			scope := outer[anomaly.Scope{Type: kind.of, ID: id}]
			if scope != nil && len(s.withKey(rows[:n], kind.key, id)) == 0 {
				scope.Members = append(scope.Members, s.member(resource, kind.key, id))
			}
		}
	}
}

// withKey returns the rows that have a key.
func (s *scopes) withKey(rows []int32, key int, id string) (out []int32) {
	for _, row := range rows {
		if s.rows[row].Keys[key] == id {
			out = append(out, row)
		}
	}
	return out
}

// member returns the costs of a resource in a scope: all of them, or those with a key, such as the share of a team. A
// group has all of them.
func (s *scopes) member(resource *anomaly.Series, key int, id string) *anomaly.Series {
	rows := s.of[resource.Scope]
	if key == groupKey || len(rows) == 1 {
		return resource
	}
	share := s.withKey(rows, key, id)
	if len(share) == len(rows) {
		return resource
	}
	return &anomaly.Series{Scope: resource.Scope, Days: s.sum(share)}
}

func (s *scopes) index(day time.Time) int { return int(day.Sub(s.from) / (24 * time.Hour)) }

// sum adds rows up, day by day.
func (s *scopes) sum(rows []int32) money.Series {
	if len(rows) == 1 {
		return s.rows[rows[0]].Days
	}
	out := make([]money.Amount, s.rows[rows[0]].Days.Len())
	for _, i := range rows {
		s.rows[i].Days.AddTo(out)
	}
	return money.SeriesOf(out...)
}

// settled returns the last day of a scope that can be judged: the last settled day of its accounts.
func (s *scopes) settled(of anomaly.ScopeType, rows []int32) time.Time {
	if of == anomaly.Org {
		return s.all
	}
	accounts := map[string]time.Time{}
	for _, i := range rows {
		a := s.rows[i].Keys[accountKey]
		accounts[a] = s.until[a]
	}
	if len(accounts) == 1 {
		return latest(accounts)
	}
	return earliest(accounts)
}

// within returns the scopes that contain a whole scope, except the organization.
func (s *scopes) within(of anomaly.Scope, rows []int32) []anomaly.Scope {
	switch of.Type {
	case anomaly.Resource:
		var out []anomaly.Scope
		for _, i := range rows {
			k := s.rows[i].Keys
			for t, id := range map[anomaly.ScopeType]string{
				anomaly.CloudAccount: k[accountKey],
				anomaly.Team:         k[teamKey], anomaly.ResourceGroup: k[groupKey],
			} {
				if outer := (anomaly.Scope{Type: t, ID: id}); id != "" && !slices.Contains(out, outer) {
					out = append(out, outer)
				}
			}
		}
		return out
	case anomaly.Team, anomaly.ResourceGroup:
		accounts := map[string]bool{}
		for _, i := range rows {
			accounts[s.rows[i].Keys[accountKey]] = true
		}
		if len(accounts) == 1 {
			for a := range accounts {
				return []anomaly.Scope{{Type: anomaly.CloudAccount, ID: a}}
			}
		}
	case anomaly.Org, anomaly.CloudAccount:
	}
	return nil
}

// belongings returns the account, group and team scopes of a resource as of its costs. Their subscribers are notified
// of the resource's anomalies.
func (s *scopes) belongings(of anomaly.Scope) []event.Scope {
	if of.Type != anomaly.Resource {
		return nil
	}
	var out []event.Scope
	for _, outer := range s.within(of, s.of[of]) {
		out = append(out, event.Scope{Type: string(outer.Type), ID: outer.ID})
	}
	slices.SortFunc(out, func(a, b event.Scope) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
	})
	return out
}

// judged reports whether a day of a scope was judged in this run. A scope without costs counts as judged if the
// organization was.
func (s *scopes) judged(of anomaly.ScopeType, id string, day time.Time) bool {
	rows, there := s.of[anomaly.Scope{Type: of, ID: id}]
	if !there {
		return !day.After(s.all)
	}
	return !day.After(s.settled(of, rows))
}

// contributors splits a finding by services, resources and accounts.
func (s *scopes) contributors(f *anomaly.Finding) ([]anomaly.Contributor, error) {
	var out []anomaly.Contributor
	for _, by := range []struct {
		dim string
		key int
	}{{cost.ServiceDim, serviceKey}, {cost.ResourceDim, resourceKey}, {cost.AccountDim, accountKey}} {
		parts := map[string]*anomaly.Part{}
		for _, i := range s.of[f.Scope] {
			s.addPart(parts, f, i, s.rows[i].Keys[by.key])
		}
		list := make([]anomaly.Part, 0, len(parts))
		for _, k := range slices.Sorted(maps.Keys(parts)) {
			list = append(list, *parts[k])
		}
		got, err := f.Contributors(by.dim, list)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// addPart adds a row to the part with the given key.
func (s *scopes) addPart(parts map[string]*anomaly.Part, f *anomaly.Finding, row int32, key string) {
	p := parts[key]
	if p == nil {
		p = &anomaly.Part{Key: key}
		parts[key] = p
	}
	days := &s.rows[row].Days
	p.Cost = p.Cost.Add(days.At(f.Day))
	p.Baseline = p.Baseline.Add(f.BaselineOf(s.rows[row].Keys[resourceKey], days, f.Day))
}
