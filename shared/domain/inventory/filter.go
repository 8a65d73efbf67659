package inventory

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
)

// Filter chooses resources: those that agree with every field that is set, and with one value of each that lists some.
type Filter struct {
	Search        string // within name, uid, and "key=value" of a tag, without regard to case
	Types         []string
	Providers     []string
	Statuses      []string
	Regions       []string
	Accounts      []string // our ids
	GroupID       string
	TeamID        string
	Tags          []string   // each "key=value", or "key" for any value; all of them
	Schedulable   *bool      // can be started and stopped
	CreatedAfter  time.Time  // made at this time or later, as the provider says; what it says nothing of is left out
	CreatedBefore time.Time  // made before this time
	Sight         Visibility // of who asks: what lies outside does not exist
}

// membershipsNeeded returns of which groups and teams the members have to be known for the filter: mostly of none.
func (f *Filter) membershipsNeeded() func(id string) bool {
	if f.GroupID == "" && f.TeamID == "" && f.Sight.Resources.All && f.Sight.Groups.All {
		return none
	}
	group, team, sight := f.GroupID, f.TeamID, f.Sight
	return func(id string) bool { return id == group || id == team || sight.needsTeam(id) }
}

func none(string) bool { return false }

// newMatcher makes the test of a filter; nil when everything passes it. It needs the read lock.
func (v *view) newMatcher(f Filter) func(*row) bool {
	var tests []func(*row) bool
	if in := v.newScopeTest(f.Sight.Resources); in != nil {
		tests = append(tests, in)
	}
	for _, t := range []struct {
		listed []string
		ref    int
	}{
		{f.Providers, providerRef}, {f.Types, kindRef}, {f.Statuses, statusRef}, {f.Regions, regionRef}, {f.Accounts, accountRef},
	} {
		if len(t.listed) > 0 {
			tests = append(tests, v.st.among(t.ref, t.listed))
		}
	}
	if !f.CreatedAfter.IsZero() || !f.CreatedBefore.IsZero() {
		tests = append(tests, made(f.CreatedAfter, f.CreatedBefore))
	}
	if f.Schedulable != nil {
		want := *f.Schedulable
		tests = append(tests, func(r *row) bool { return v.st.isSchedulable(r) == want })
	}
	for _, tag := range f.Tags {
		tests = append(tests, v.st.tagged(tag))
	}
	if f.GroupID != "" {
		tests = append(tests, v.grouped(f.GroupID, f.Sight.Groups))
	}
	if f.TeamID != "" {
		tests = append(tests, v.owned(f.TeamID, &f.Sight))
	}
	if f.Search != "" {
		tests = append(tests, v.st.found(strings.ToLower(f.Search)))
	}
	return all(tests)
}

// among asks for one of the listed values in a field.
func (st *state) among(ref int, listed []string) func(*row) bool {
	var wanted []uint32
	for _, name := range listed {
		if n, known := st.syms.ids[name]; known {
			wanted = append(wanted, n)
		}
	}
	return func(r *row) bool { return slices.Contains(wanted, r.refs[ref]) }
}

// made asks for what was made between two times; the zero time bounds nothing.
func made(after, before time.Time) func(*row) bool {
	from, to := microsOf(after), microsOf(before)
	return func(r *row) bool {
		at := r.times[createdTime]
		return at != 0 && at >= from && (before.IsZero() || at < to)
	}
}

func all(tests []func(*row) bool) func(*row) bool {
	if len(tests) == 0 {
		return nil
	}
	return func(r *row) bool {
		for _, t := range tests {
			if !t(r) {
				return false
			}
		}
		return true
	}
}

// grouped asks for members of a group; who may see groups only in some scopes is told of members in these.
func (v *view) grouped(groupID string, seen grant.Scopes) func(*row) bool {
	in := v.newScopeTest(seen)
	for i := range v.groups {
		if g := &v.groups[i]; g.ID == groupID {
			return func(r *row) bool { return (in == nil || in(r)) && v.isMember(r, g) }
		}
	}
	return func(*row) bool { return false }
}

// owned asks for what a team owns, if the team may be seen.
func (v *view) owned(teamID string, s *Visibility) func(*row) bool {
	for i := range v.owners {
		if t := &v.owners[i]; t.ID == teamID && s.seesTeam(teamID) {
			return func(r *row) bool { return v.isOwnedBy(t, r) }
		}
	}
	return func(*row) bool { return false }
}

// isSchedulable reports whether the resource can be started and stopped.
func (st *state) isSchedulable(r *row) bool {
	return st.startable(r) && cloud.Status(st.syms.refName(r, statusRef)) != cloud.Terminated
}

func (st *state) startable(r *row) bool {
	k, ok := cloud.KindOf(st.syms.refName(r, kindRef))
	return r.refs[whyRef] == 0 && (!ok || k.Actionable)
}

// pairsWhere marks the tags that pass a test: they are far fewer than the rows that have them.
func (st *state) pairsWhere(test func(key, value string, p *pair) bool) func(*row) bool {
	marked := make([]bool, len(st.syms.pairs))
	some := false
	for i := range st.syms.pairs {
		p := &st.syms.pairs[i]
		marked[i] = test(st.syms.names[p.key], st.syms.names[p.value], p)
		some = some || marked[i]
	}
	return func(r *row) bool {
		if !some {
			return false
		}
		for _, n := range r.tags {
			if marked[n] {
				return true
			}
		}
		return false
	}
}

func (st *state) tagged(want string) func(*row) bool {
	if !strings.Contains(want, "=") {
		return st.pairsWhere(func(key, _ string, _ *pair) bool { return key == want })
	}
	return st.pairsWhere(func(key, value string, _ *pair) bool {
		return len(want) == len(key)+1+len(value) && want[:len(key)] == key && want[len(key)] == '=' && want[len(key)+1:] == value
	})
}

func (st *state) found(word string) func(*row) bool {
	tagged := st.pairsWhere(func(_, _ string, p *pair) bool { return strings.Contains(p.lower, word) })
	return func(r *row) bool {
		return strings.Contains(r.lname, word) || strings.Contains(r.luid, word) || tagged(r)
	}
}
