package roles

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ours   = "org_01k00000000000000000000000"
	theirs = "org_01k00000000000000000000001"
)

// stage is the group behind its door, with two organizations that Olga owns; each has a team and a resource.
type stage struct {
	t         *testing.T
	p         *platform.Platform
	people    membership.People
	clock     *clock.Manual
	door      http.Handler
	teams     map[string]string // by organization
	resources map[string]string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	s := &stage{t: t, p: p, people: membership.Of(p), clock: c, teams: map[string]string{}, resources: map[string]string{}}
	s.door, _ = rest.Mount(p, Operations(p))
	s.user("olga")
	for _, org := range []string{ours, theirs} {
		writes, err := membership.Founding(t.Context(), org, identity.User{ID: "usr_olga", Email: "olga@example.com"}, c.Now())
		s.must(err)
		s.must(p.Table.Transact(table.Within(t.Context(), identity.UserPrefix+"usr_olga", table.TenantPK(org)), writes...))
		s.furnish(org)
	}
	return s
}

// furnish gives the organization a team and a resource.
func (s *stage) furnish(org string) {
	s.t.Helper()
	ctx, inv := table.WithTenant(s.t.Context(), org), inventory.Of(s.p)
	team, err := inv.CreateTeam(ctx, org, inventory.Ownership{Team: inventory.Team{ID: id.New("team", s.clock.Now()), Name: "Web"}})
	s.must(err)
	s.put(inventory.AccountKey(org, "ca_1"), inventory.Account{ID: "ca_1", Provider: "aws"})
	part := inventory.Partition{AccountID: "ca_1", Provider: "aws", Region: "eu-west-1", Kind: "aws-ec2"}
	_, err = inv.Upsert(ctx, org, inventory.Batch{
		Scan: inventory.Scan{Partition: part, ID: "job_1", Started: s.clock.Now()}, At: s.clock.Now(),
		Resources: []cloud.Resource{{UID: "i-1", Name: "web-1", Status: cloud.Running}},
	})
	s.must(err)
	found, err := inv.ByUIDs(ctx, org, []string{"i-1"}, inventory.Everything())
	s.must(err)
	s.teams[org], s.resources[org] = team.ID, found[0].ID
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) put(k table.Key, v any) {
	s.t.Helper()
	it, err := table.Row(k, v)
	s.must(err)
	_, err = s.p.Table.Write(table.Within(s.t.Context(), k.PK), table.Put(it))
	s.must(err)
}

// user makes an account whose address is the name at example.com.
func (s *stage) user(name string) identity.User {
	s.t.Helper()
	u := identity.User{ID: "usr_" + name, Email: name + "@example.com", Name: name, Verified: true}
	s.put(identity.UserKey(u.ID), u)
	s.put(identity.AddressKey(s.p.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
	return u
}

// member makes a user of our organization who has roles on all of it.
func (s *stage) member(name string, roles ...string) {
	s.t.Helper()
	s.clock.Advance(time.Second) // lists are in order of time
	var grants []identity.Grant
	for _, r := range roles {
		grants = append(grants, identity.Grant{Role: r, Scope: identity.OrgScope})
	}
	s.must(s.people.Join(s.t.Context(), ours, s.user(name), grants))
}

// caller is the member as the authorizer would find them now.
func (s *stage) caller(org, name string) identity.Caller {
	s.t.Helper()
	_, m, err := s.people.Member(s.t.Context(), org, "usr_"+name)
	s.must(err)
	a, err := table.Read[identity.Access](table.WithTenant(s.t.Context(), org), s.p.Table, identity.AccessKey(org))
	s.must(err)
	c, err := identity.Decode(identity.Encode(identity.Caller{Org: org, User: m.User, Email: m.Email, Method: identity.MethodToken, Grants: a.In(m.Grants)}))
	s.must(err)
	return c
}

// reply is an answer of the door.
type reply struct {
	t      *testing.T
	status int
	body   string
}

// as asks as the member of our organization: a method, a path and a body.
func (s *stage) as(name, request string) reply {
	s.t.Helper()
	return s.ask(s.caller(ours, name), request)
}

func (s *stage) ask(c identity.Caller, request string) reply {
	s.t.Helper()
	method, tail, _ := strings.Cut(request, " ")
	path, body, _ := strings.Cut(tail, " ")
	r := httptest.NewRequestWithContext(identity.With(s.t.Context(), c), method, path, strings.NewReader(body))
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, r)
	return reply{s.t, w.Code, w.Body.String()}
}

// says wants the status and the words.
func (r reply) says(status int, words ...string) {
	r.t.Helper()
	if r.status != status {
		r.t.Errorf("got %d %s, want %d", r.status, r.body, status)
	}
	for _, w := range words {
		if !strings.Contains(r.body, w) {
			r.t.Errorf("%s does not say %q", r.body, w)
		}
	}
}

func data[T any](r reply) T {
	r.t.Helper()
	var out struct{ Data T }
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != http.StatusOK {
		r.t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return out.Data
}

// role makes a role of our organization, as Olga.
func (s *stage) role(name string, policies ...string) Role {
	s.t.Helper()
	s.clock.Advance(time.Second)
	return data[Role](s.as("olga", `POST /roles `+text(map[string]any{"name": name, "policies": policies})))
}

// assigned gives the member a role, as Olga.
func (s *stage) assigned(name, role, scope string) Assignment {
	s.t.Helper()
	s.clock.Advance(time.Second)
	return data[Assignment](s.as("olga", assigning(name, role, scope)))
}

func assigning(name, role, scope string) string {
	return `POST /assignments ` + text(map[string]any{"email": name + "@example.com", "roleID": role, "scope": scope})
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
