package users

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

const here = "org_1"

// stage is an organization with ada as its owner, on an embedded store.
type stage struct {
	membership.People
	t     *testing.T
	ctx   context.Context
	clock *clock.Manual
	door  http.Handler
	trips int // of the last call
}

func newStage(t *testing.T) *stage {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	door, _ := rest.Mount(p, Operations(p))
	s := &stage{People: membership.Of(p), t: t, ctx: t.Context(), clock: c, door: door}
	s.organisation(here)
	s.join(here, "ada", identity.Owner)
	return s
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
	_, err = s.Table.Write(table.Within(s.ctx, k.PK), table.Put(it))
	s.must(err)
}

func (s *stage) organisation(org string) {
	s.t.Helper()
	s.put(identity.AccessKey(org), identity.Access{})
	s.put(identity.OrganisationKey(org), identity.Organisation{ID: org, Name: "Engines of " + org, CreatedAt: s.clock.Now()})
}

func email(name string) string { return name + "@example.com" }

// user makes an account, unless it is there.
func (s *stage) user(name string) identity.User {
	s.t.Helper()
	u := identity.User{ID: "usr_" + name, Email: email(name), Name: strings.ToUpper(name), Verified: true, Created: s.clock.Now()}
	s.put(identity.UserKey(u.ID), u)
	s.put(identity.AddressKey(s.Settings.Pepper, u.Email), identity.AddressRow{User: u.ID})
	return u
}

// join makes name a member of org with the role on all of it.
func (s *stage) join(org, name, role string) {
	s.t.Helper()
	s.must(s.Join(s.ctx, org, s.user(name), []identity.Grant{{Role: role, Scope: identity.OrgScope}}))
}

// caller is what the authorizer tells of a member.
func (s *stage) caller(name string) identity.Caller {
	s.t.Helper()
	c := identity.Caller{Org: here, User: "usr_" + name, Email: email(name), Method: identity.MethodToken, Session: "s"}
	_, m, err := s.Member(s.ctx, here, c.User)
	if fault.Is(err, fault.NotFound) {
		c.Org = ""
		return c
	}
	s.must(err)
	c.Grants = s.access().In(m.Grants)
	return c
}

func (s *stage) access() identity.Access {
	s.t.Helper()
	k := identity.AccessKey(here)
	a, err := table.Read[identity.Access](table.Within(s.ctx, k.PK), s.Table, k)
	s.must(err)
	return a
}

type answer struct {
	Status int             `json:"-"`
	Data   json.RawMessage `json:"data"`
	Error  json.RawMessage `json:"error"`
}

// as makes a request as a member: "PATCH /users/{}" is about the address who.
func (s *stage) as(name, request, who, body string) answer {
	s.t.Helper()
	method, path, _ := strings.Cut(strings.Replace(request, "{}", url.PathEscape(who), 1), " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	ctx, meter := table.WithMeter(identity.With(r.Context(), s.caller(name)))
	w := httptest.NewRecorder()
	s.door.ServeHTTP(w, r.WithContext(ctx))
	s.trips = meter.Usage().RoundTrips
	out := answer{Status: w.Code}
	s.must(json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

// gets decodes a successful answer into a T.
func gets[T any](s *stage, a answer) T {
	s.t.Helper()
	var out T
	if a.Status != http.StatusOK {
		s.t.Fatalf("%d: %s", a.Status, a.Error)
	}
	s.must(json.Unmarshal(a.Data, &out))
	return out
}

func (s *stage) refused(status int, saying string, a answer) {
	s.t.Helper()
	if a.Status != status || !strings.Contains(string(a.Error), saying) {
		s.t.Errorf("%d: %s; want %d about %q", a.Status, a.Error, status, saying)
	}
}

// mails are those that wait to be sent.
func (s *stage) mails() []mail.Mail {
	s.t.Helper()
	ctx := table.Within(s.ctx, mail.Partition)
	page, err := s.Table.Query(ctx, table.Query{PK: mail.Partition, Limit: 1000})
	s.must(err)
	var out []mail.Mail
	for _, it := range page.Items {
		m, _, err := mail.Take(ctx, s.Sealer, it)
		s.must(err)
		out = append(out, m)
	}
	return out
}

// record is the newest row of the audit log.
func (s *stage) record() audit.Row {
	s.t.Helper()
	at := audit.PlaceOf(here)
	page, err := s.Table.Query(table.WithTenant(s.ctx, here), table.Query{PK: at.PK, Limit: 1, Reverse: true})
	s.must(err)
	row, err := table.Decode[audit.Row](page.Items[0])
	s.must(err)
	return row
}
