package membership_test

import (
	"context"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = "org_1"

// stage is an organization on an embedded store.
type stage struct {
	membership.People
	t     *testing.T
	ctx   context.Context
	clock *clock.Manual
}

func newStage(t *testing.T) *stage {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	s := &stage{membership.Of(p), t, t.Context(), c}
	s.organisation(org)
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) want(kind fault.Kind, err error) {
	s.t.Helper()
	if !fault.Is(err, kind) {
		s.t.Errorf("%v, want kind %d", err, kind)
	}
}

func (s *stage) put(k table.Key, v any) {
	s.t.Helper()
	it, err := table.Row(k, v)
	s.must(err)
	_, err = s.Table.Write(table.Within(s.ctx, k.PK), table.Put(it))
	s.must(err)
}

func (s *stage) organisation(id string) {
	s.t.Helper()
	s.put(identity.AccessKey(id), identity.Access{})
	s.put(identity.OrganisationKey(id), identity.Organisation{ID: id, Name: "Engines", CreatedAt: s.clock.Now()})
}

// user makes an account whose address is the name at example.com.
func (s *stage) user(name string) identity.User {
	s.t.Helper()
	u := identity.User{ID: "usr_" + name, Email: name + "@example.com", Name: name, Verified: true, Created: s.clock.Now()}
	s.put(identity.UserKey(u.ID), u)
	s.put(identity.AddressKey(s.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
	return u
}

// member makes an account that belongs to the organization with the roles.
func (s *stage) member(name string, roles ...string) identity.Member {
	s.t.Helper()
	u := s.user(name)
	s.must(s.Join(s.ctx, org, u, grants(roles...)))
	return s.found(name)
}

func (s *stage) found(name string) identity.Member {
	s.t.Helper()
	_, m, err := s.Find(s.ctx, org, name+"@example.com")
	s.must(err)
	return m
}

func (s *stage) access() identity.Access {
	s.t.Helper()
	k := identity.AccessKey(org)
	a, err := table.Read[identity.Access](table.Within(s.ctx, k.PK), s.Table, k)
	s.must(err)
	return a
}

// counts checks the organization's counters.
func (s *stage) counts(members, owners int64) {
	s.t.Helper()
	if a := s.access(); a.Members != members || a.Owners != owners {
		s.t.Errorf("%d members, %d owners counted; want %d, %d", a.Members, a.Owners, members, owners)
	}
}

func (s *stage) later(d time.Duration) { s.clock.Advance(d) }

func grants(roles ...string) []identity.Grant {
	var out []identity.Grant
	for _, r := range roles {
		out = append(out, identity.Grant{Role: r, Scope: identity.OrgScope})
	}
	return out
}

func caller(gs ...identity.Grant) identity.Caller {
	return identity.Caller{Org: org, User: "usr_1", Grants: identity.Resolve(gs)}
}

// trips is how many round trips f costs.
func (s *stage) trips(f func(ctx context.Context)) int {
	ctx, m := table.WithMeter(s.ctx)
	f(ctx)
	return m.Usage().RoundTrips
}

// disable locks the member m out, or lets them in again.
func (s *stage) disable(m identity.Member, disabled bool) error {
	next := m
	next.Disabled = disabled
	_, err := s.Change(s.ctx, org, membership.Change{Old: m, New: next})
	return err
}
