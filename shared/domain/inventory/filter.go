package inventory

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// Filter selects the resources that match all fields that are set. A field with a list matches any of its values.
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
	CreatedAfter  time.Time  // created at this time or later, by the provider's record; without a record: left out
	CreatedBefore time.Time  // made before this time
	Sight         Visibility `json:"-"` // of the caller; resources outside do not exist for it
}

// membershipsNeeded returns a function that reports whether the filter needs the members of a group or team. Most
// filters need none.
func (f *Filter) membershipsNeeded() func(id string) bool {
	if f.GroupID == "" && f.TeamID == "" && f.Sight.Resources.All && f.Sight.Groups.All {
		return none
	}
	group, team, sight := f.GroupID, f.TeamID, f.Sight
	return func(id string) bool { return id == group || id == team || sight.needsTeam(id) }
}

func none(string) bool { return false }

// newMatcher returns the test of a filter, or nil if every resource passes. It needs the read lock.
func (v *view) newMatcher(f Filter) func(index.Row) bool {
	var tests []func(index.Row) bool
	if in := v.newScopeTest(f.Sight.Resources); in != nil {
		tests = append(tests, in)
	}
	for _, t := range []struct {
		listed []string
		ref    int
	}{
		{f.Providers, index.ProviderRef},
		{f.Types, index.KindRef},
		{f.Statuses, index.StatusRef},
		{f.Regions, index.RegionRef},
		{f.Accounts, index.AccountRef},
	} {
		if len(t.listed) > 0 {
			tests = append(tests, among(v.st, t.ref, t.listed))
		}
	}
	if !f.CreatedAfter.IsZero() || !f.CreatedBefore.IsZero() {
		tests = append(tests, made(f.CreatedAfter, f.CreatedBefore))
	}
	if f.Schedulable != nil {
		want := *f.Schedulable
		tests = append(tests, func(r index.Row) bool { return schedulable(r) == want })
	}
	for _, tag := range f.Tags {
		tests = append(tests, tagged(v.st, tag))
	}
	if f.GroupID != "" {
		tests = append(tests, v.grouped(f.GroupID, f.Sight.Groups))
	}
	if f.TeamID != "" {
		tests = append(tests, v.owned(f.TeamID, &f.Sight))
	}
	if f.Search != "" {
		tests = append(tests, found(v.st, strings.ToLower(f.Search)))
	}
	return all(tests)
}

// among returns a test for one of the listed values in a field.
func among(st *index.State, ref int, listed []string) func(index.Row) bool {
	var wanted []uint32
	for _, name := range listed {
		if n, known := st.Symbols.Find(name); known {
			wanted = append(wanted, n)
		}
	}
	return func(r index.Row) bool { return slices.Contains(wanted, r.Ref(ref)) }
}

// made returns a filter for resources created from after up to before, exclusive. The zero time sets no limit.
func made(after, before time.Time) func(index.Row) bool {
	from, to := microsOf(after), microsOf(before)
	return func(r index.Row) bool {
		at := r.Time(index.CreatedTime)
		return at != 0 && at >= from && (before.IsZero() || at < to)
	}
}

func all(tests []func(index.Row) bool) func(index.Row) bool {
	if len(tests) == 0 {
		return nil
	}
	return func(r index.Row) bool {
		for _, t := range tests {
			if !t(r) {
				return false
			}
		}
		return true
	}
}

// grouped returns a filter for the members of a group. A caller who may see groups only in some scopes gets the
// members in these scopes.
func (v *view) grouped(groupID string, seen grant.Scopes) func(index.Row) bool {
	in := v.newScopeTest(seen)
	for i := range v.groups {
		if g := &v.groups[i]; g.ID == groupID {
			return func(r index.Row) bool { return (in == nil || in(r)) && v.isMember(r, g) }
		}
	}
	return func(index.Row) bool { return false }
}

// owned returns a filter for the resources that a team owns. It selects nothing if the caller may not see the team.
func (v *view) owned(teamID string, s *Visibility) func(index.Row) bool {
	for i := range v.owners {
		if t := &v.owners[i]; t.ID == teamID && s.seesTeam(teamID) {
			return func(r index.Row) bool { return v.isOwnedBy(t, r) }
		}
	}
	return func(index.Row) bool { return false }
}

// schedulable reports whether the resource can be started and stopped.
func schedulable(r index.Row) bool {
	return startable(r) && cloud.Status(r.Word(index.StatusRef)) != cloud.Terminated
}

func startable(r index.Row) bool {
	k, ok := cloud.KindOf(r.Word(index.KindRef))
	return r.Ref(index.WhyRef) == 0 && (!ok || k.Actionable)
}

func tagged(st *index.State, want string) func(index.Row) bool {
	if !strings.Contains(want, "=") {
		return st.Symbols.TagsWhere(func(key, _ string) bool { return key == want })
	}
	return st.Symbols.TagsWhere(func(key, value string) bool {
		return len(want) == len(key)+1+len(value) && want[:len(key)] == key && want[len(key)] == '=' &&
			want[len(key)+1:] == value
	})
}

func found(st *index.State, word string) func(index.Row) bool {
	tagged := st.Symbols.TagsWith(word)
	return func(r index.Row) bool { return r.Mentions(word) || tagged(r) }
}
