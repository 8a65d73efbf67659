package teams

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/identity/identitytest"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/people/membership"
)

const (
	ours   = "org_1"
	theirs = "org_2"
)

// stage is two organizations: ours with ada, who owns it, and bob and six instances; theirs with eve and one.
type stage struct {
	t      *testing.T
	p      *platform.Platform
	clock  *clock.Manual
	door   http.Handler
	people membership.People
	ids    []string // of the six
	trips  int      // of the last call
}

func newStage(t *testing.T) *stage {
	t.Helper()
	p, c := identitytest.New(t)
	s := &stage{t: t, p: p, clock: c, people: membership.New(p)}
	s.door, _ = rest.Mount(p, Operations(p))
	s.organisation(ours)
	s.organisation(theirs)
	s.join(ours, "ada", grant.Owner)
	s.join(ours, "bob", grant.Viewer)
	s.join(theirs, "eve", grant.Owner)
	s.ids = s.discover(ours, 6)
	s.discover(theirs, 1)
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) tenant(org string) context.Context { return table.WithTenant(s.t.Context(), org) }

func (s *stage) put(k table.Key, v any) {
	s.t.Helper()
	it, err := table.Row(k, v)
	s.must(err)
	_, err = s.p.Table.Write(table.Within(s.t.Context(), k.PK), table.Put(it))
	s.must(err)
}

func (s *stage) organisation(org string) {
	s.put(identity.AccessKey(org), identity.Access{})
	s.put(identity.OrganisationKey(org), identity.Organisation{ID: org, Name: org, CreatedAt: s.clock.Now()})
	s.put(inventory.AccountKey(org, "ca_1"), inventory.Account{ID: "ca_1", Provider: "aws", Name: "prod"})
}

func email(name string) string { return name + "@example.com" }

// join makes name, who need not have an account, a member of org.
func (s *stage) join(org, name, role string) {
	s.t.Helper()
	u := identity.User{ID: "usr_" + name, Email: email(name), Name: strings.ToUpper(name), Verified: true, Created: s.clock.Now()}
	s.put(identity.UserKey(u.ID), u)
	s.put(identity.AddressKey(s.p.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
	s.must(s.people.Join(s.t.Context(), org, u, []grant.Grant{{Role: role, Scope: grant.OrgScope}}))
}

func (s *stage) leave(name string) {
	s.t.Helper()
	s.must(s.people.Remove(s.t.Context(), ours, s.member(name)))
}

func (s *stage) member(name string) identity.Member {
	s.t.Helper()
	_, m, err := s.people.Find(s.t.Context(), ours, email(name))
	s.must(err)
	return m
}

// assign gives name a role on a team.
func (s *stage) assign(name, role, teamID string) {
	s.t.Helper()
	m := s.member(name)
	s.must(s.people.Regrant(s.t.Context(), ours, m, append(m.Grants, grant.Grant{Role: role, Scope: grant.TeamScope + teamID})))
}

// discover finds n instances more, and gives all ids.
func (s *stage) discover(org string, n int) []string {
	s.t.Helper()
	var found []cloud.Resource
	for i := range n {
		found = append(found, cloud.Resource{UID: fmt.Sprintf("i-%d", i), Name: fmt.Sprintf("web-%d", i), Status: cloud.Running})
	}
	sc := inventory.Scan{Partition: inventory.Partition{AccountID: "ca_1", Provider: "aws", Region: "eu-west-1", Kind: "aws-ec2"}, ID: "job_1", Started: s.clock.Now()}
	_, err := inventory.New(s.p).Upsert(s.tenant(org), org, inventory.Batch{Scan: sc, At: s.clock.Now(), Resources: found})
	s.must(err)
	list, err := inventory.New(s.p).Find(s.tenant(org), org, inventory.List{Filter: inventory.Filter{Sight: inventory.Everything()}})
	s.must(err)
	var ids []string
	for _, r := range list {
		ids = append(ids, r.ID)
	}
	return ids
}

// ada is who makes requests when nobody else is named.
func ada() identity.Caller {
	return identity.Caller{Org: ours, User: "usr_ada", Email: email("ada"), Session: "s", Grants: grants(grant.Owner, grant.OrgScope)}
}

func eve() identity.Caller {
	return identity.Caller{Org: theirs, User: "usr_eve", Email: email("eve"), Session: "s", Grants: grants(grant.Owner, grant.OrgScope)}
}

// bob holds a role on a scope, and nothing else.
func bob(role, scope string) identity.Caller {
	return identity.Caller{Org: ours, User: "usr_bob", Email: email("bob"), Session: "s", Grants: grants(role, scope)}
}

func grants(role, scope string) []grant.Grant {
	return grant.Resolve([]grant.Grant{{Role: role, Scope: scope}})
}

// as makes a request, "GET /teams", and counts its round trips.
func (s *stage) as(c identity.Caller, request, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	w, trips := s.serve(c, request, body)
	s.trips = trips
	return w
}

// status makes a request beside others.
func (s *stage) status(c identity.Caller, request, body string) int {
	w, _ := s.serve(c, request, body)
	return w.Code
}

func (s *stage) serve(c identity.Caller, request, body string) (*httptest.ResponseRecorder, int) {
	method, path, _ := strings.Cut(request, " ")
	ctx, meter := table.WithMeter(identity.With(table.WithTenant(s.t.Context(), c.Org), c))
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)))
	return w, meter.Usage().RoundTrips
}

func data[T any](s *stage, w *httptest.ResponseRecorder) T {
	s.t.Helper()
	var out struct{ Data T }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		s.t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return out.Data
}

// team makes one; body is what follows its name.
func (s *stage) team(name, body string) Team {
	s.t.Helper()
	return data[Team](s, s.as(ada(), "POST /teams", fmt.Sprintf(`{"name":%q%s}`, name, body)))
}

func (s *stage) read(id string) Team {
	s.t.Helper()
	return data[Team](s, s.as(ada(), "GET /teams/"+id, ""))
}

func (s *stage) refused(status int, saying string, w *httptest.ResponseRecorder) {
	s.t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), saying) {
		s.t.Errorf("%d %s; want %d about %q", w.Code, w.Body, status, saying)
	}
}

func (s *stage) want(what string, got, want any) {
	s.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		s.t.Errorf("%s: %s, want %s", what, g, w)
	}
}

// record is the newest row of the audit log.
func (s *stage) record() audit.Row {
	s.t.Helper()
	at := audit.PlaceOf(ours)
	page, err := s.p.Table.Query(s.tenant(ours), table.Query{PK: at.PK, Limit: 1, Reverse: true})
	s.must(err)
	if len(page.Items) == 0 {
		s.t.Fatal("the audit log is empty")
	}
	row, err := table.Decode[audit.Row](page.Items[0])
	s.must(err)
	return row
}
