package local

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = "org_1"

// estate is an organization with resources, teams, groups and what was done to them, behind the door of every group.
type estate struct {
	t       *testing.T
	p       *platform.Platform
	clock   *clock.Manual
	store   *inventory.Store
	door    http.Handler
	teams   map[string][]string // native ids of what they own, some of them gone
	groups  []string
	actions []execution.Action
	bulks   map[string][]string // native ids of what they act on
	owners  map[string][]byte   // what the owner was told, by path
}

// asleep is an engine whose machines never get anywhere.
type asleep struct{ workflow.Engine }

func (asleep) Start(context.Context, string, string, any) error { return nil }

func newEstate(t *testing.T) *estate {
	t.Helper()
	p, c := apitest.NewPlatform(t)
	p.Workflow = asleep{}
	e := &estate{t: t, p: p, clock: c, store: inventory.Of(p), teams: map[string][]string{}, bulks: map[string][]string{}, owners: map[string][]byte{}}
	e.door, _ = rest.Mount(p, mounted(p)...)
	e.put(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1})
	e.put(identity.OrganisationKey(org), identity.Organisation{ID: org, Name: "Engines"})
	return e
}

func (e *estate) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *estate) tenant() context.Context { return table.WithTenant(e.t.Context(), org) }

func (e *estate) put(k table.Key, v any) {
	e.t.Helper()
	it, err := table.Row(k, v)
	e.must(err)
	_, err = e.p.Table.Write(table.Within(e.t.Context(), k.PK), table.Put(it))
	e.must(err)
}

// account connects an account and discovers what found has, all of one kind.
func (e *estate) account(account, kind string, found ...cloud.Resource) {
	e.t.Helper()
	e.put(inventory.AccountKey(org, account), inventory.Account{ID: account, Provider: "aws", Name: "account " + account, PermissionLevel: "read_write"})
	sc := inventory.Scan{Partition: inventory.Partition{AccountID: account, Provider: "aws", Region: "eu-west-1", Kind: kind}, ID: "job_" + kind, Started: e.clock.Now()}
	_, err := e.store.Upsert(e.tenant(), org, inventory.Batch{Scan: sc, At: e.clock.Now(), Resources: found})
	e.must(err)
}

// ids are our ids of the resources of the native ids.
func (e *estate) ids(uids ...string) []string {
	e.t.Helper()
	found, err := e.store.ByUIDs(e.tenant(), org, uids, inventory.Everything())
	e.must(err)
	var out []string
	for _, r := range found {
		out = append(out, r.ID)
	}
	return out
}

func (e *estate) team(name string, uids ...string) string {
	e.t.Helper()
	e.clock.Advance(time.Millisecond)
	t := inventory.Team{ID: id.New("team", e.clock.Now()), Name: name, CreatedAt: e.clock.Now()}
	_, err := e.store.CreateTeam(e.tenant(), org, inventory.Ownership{Team: t, Resources: e.ids(uids...)})
	e.must(err)
	e.teams[t.ID] = uids
	return t.ID
}

func (e *estate) group(name string, selector *inventory.Selector, uids ...string) string {
	e.t.Helper()
	e.clock.Advance(time.Millisecond)
	var places []inventory.Place
	for i, one := range e.ids(uids...) {
		places = append(places, inventory.Place{ResourceID: one, Tier: 1 + i%2, Order: 1 + i})
	}
	g := inventory.Group{ID: id.New("grp", e.clock.Now()), Name: name, Selector: selector, FailurePolicy: inventory.ContinueOnFailure}
	_, err := e.store.CreateGroup(e.tenant(), org, g, places)
	e.must(err)
	e.groups = append(e.groups, g.ID)
	return g.ID
}

// act puts an action on record, and when it has ended its change of state.
func (e *estate) act(uid string, verb cloud.Verb, ended bool) string {
	e.t.Helper()
	e.clock.Advance(time.Second)
	a := execution.Action{
		ID: id.New("act", e.clock.Now()), ResourceUID: uid, Action: verb, Status: execution.Pending, Provider: "aws",
		ChangedBy: execution.ChangedBy("manual", "ada@example.com"), CreatedAt: e.clock.Now(),
	}
	a.Note(a.CreatedAt, "intent", "ok", "asked for")
	e.put(execution.ActionKey(org, a.ID), a)
	_, err := e.p.Table.Write(e.tenant(), table.Update(execution.CountKey(org, "ACT"), []table.Change{table.Add("all", 1)}))
	e.must(err)
	if ended {
		e.must(execution.Settle(e.tenant(), e.p.Table, org, []execution.Outcome{{Action: a, Status: execution.Succeeded, Changed: true, At: e.clock.Now()}}))
	}
	e.actions = append(e.actions, a)
	return a.ID
}

// bulk puts a bulk action on record that acts on the native ids.
func (e *estate) bulk(groupID string, uids ...string) string {
	e.t.Helper()
	e.clock.Advance(time.Second)
	b := execution.Bulk{
		ID: id.New("bulk", e.clock.Now()), GroupID: groupID, Type: cloud.Stop, Status: execution.BulkRunning, Total: len(uids),
		CreatedAt: e.clock.Now(), Plan: &execution.BulkPlan{Stage: execution.Expanded},
	}
	e.put(execution.BulkKey(org, b.ID), b)
	for i, uid := range uids {
		e.put(execution.ChunkKey(org, b.ID, i, i), execution.Chunk{Members: []execution.Member{{ActionID: "act_1", ResourceUID: uid}}})
	}
	e.bulks[b.ID] = uids
	return b.ID
}

// random fills the estate: 20 to 40 resources of two kinds, some terminated, some that cannot be acted on, some gone for
// good; teams, groups, actions and bulk actions on any of them.
func (e *estate) random(r *rand.Rand) {
	e.t.Helper()
	gone := []cloud.Resource{{UID: "gone-1", Name: "web-gone", Status: cloud.Running}, {UID: "gone-2", Status: cloud.Running}}
	e.account("ca_2", "aws-asg", gone...)
	var uids []string
	for kind, n := range map[string]int{"aws-ec2": 10 + r.IntN(10), "aws-rds": 10 + r.IntN(10)} {
		var found []cloud.Resource
		for i := range n {
			one := cloud.Resource{
				UID: fmt.Sprintf("%s-%02d", kind, i), Name: fmt.Sprintf("web-%02d", i), Status: []cloud.Status{cloud.Running, cloud.Stopped}[r.IntN(2)],
				Tags: map[string]string{"env": []string{"dev", "prod"}[r.IntN(2)]},
			}
			if r.IntN(8) == 0 {
				one.Unschedulable = "read replica"
			}
			found, uids = append(found, one), append(uids, one.UID)
		}
		e.account("ca_1", kind, found...)
	}
	slices.Sort(uids)
	uids = append(uids, "gone-1", "gone-2")
	for n := range 4 {
		e.team(fmt.Sprintf("team %d", n), some(r, uids)...)
	}
	for n := range 3 {
		e.group(fmt.Sprintf("group %d", n), nil, some(r, uids)...)
	}
	e.group("dev", &inventory.Selector{Tags: map[string]string{"env": "dev"}})
	e.group("databases", &inventory.Selector{Type: "aws-rds", Tags: map[string]string{"env": "prod"}})
	for range 40 {
		e.act(uids[r.IntN(len(uids))], []cloud.Verb{cloud.Start, cloud.Stop}[r.IntN(2)], r.IntN(2) == 0)
	}
	for range 4 {
		e.bulk(e.groups[r.IntN(len(e.groups))], some(r, uids)[:1+r.IntN(2)]...)
	}
	e.end(uids[:2]...)
	_, err := e.store.Forget(e.tenant(), org, "ca_2")
	e.must(err)
}

// end terminates resources.
func (e *estate) end(uids ...string) {
	e.t.Helper()
	var seen []inventory.Seen
	for _, uid := range uids {
		seen = append(seen, inventory.Seen{UID: uid, Status: cloud.Terminated, At: e.clock.Now()})
	}
	w, err := inventory.Delta(org, e.clock.Now(), seen)
	e.must(err)
	_, err = e.p.Table.Write(e.tenant(), w)
	e.must(err)
}

// some is two or more of uids.
func some(r *rand.Rand, uids []string) []string {
	out := slices.Clone(uids)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:2+r.IntN(6)]
}

// caller holds grants; each is a role, or policies between commas, and behind a space the scope.
func caller(grants ...string) identity.Caller {
	c := identity.Caller{Org: org, User: "usr_bob", Email: "bob@example.com", Session: "s", Method: identity.MethodToken}
	for _, g := range grants {
		role, scope, _ := strings.Cut(g, " ")
		one := identity.Grant{Role: role, Scope: scope}
		if _, system := identity.SystemRole(role); !system {
			one.Role, one.Policies = "role_custom", strings.Split(role, ",")
		}
		c.Grants = append(c.Grants, one)
	}
	identity.Resolve(c.Grants)
	return c
}

func owner() identity.Caller { return caller("owner org") }

// reply is what was answered.
type reply struct {
	code int
	body string
}

func (e *estate) call(c identity.Caller, request string, body ...string) reply {
	e.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	w := httptest.NewRecorder()
	e.door.ServeHTTP(w, httptest.NewRequestWithContext(identity.With(table.WithTenant(e.t.Context(), c.Org), c), method, path, strings.NewReader(strings.Join(body, ""))))
	return reply{w.Code, w.Body.String()}
}

// record is a thing as a client sees it.
type record = map[string]any

// items reads all pages of a list, bare or not, and its total, -1 when it tells none. Of an answer that is no list it is
// the status alone.
func (e *estate) items(c identity.Caller, path string) (all []record, total, status int) {
	e.t.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	for page := 1; ; page++ {
		got := e.call(c, fmt.Sprintf("GET %s%spage=%d&limit=9", path, sep, page))
		if got.code != http.StatusOK {
			return nil, 0, got.code
		}
		some, n := decodeList(e.t, got.body)
		if all = append(all, some...); len(some) < 9 {
			return all, n, got.code
		}
	}
}

// all is the list that the owner sees. Nothing that is asked about in this way changes, so it is asked for once.
func (e *estate) all(path string) []record {
	e.t.Helper()
	if _, had := e.owners[path]; !had {
		list, _, _ := e.items(owner(), path)
		e.owners[path], _ = json.Marshal(list)
	}
	var out []record
	e.must(json.Unmarshal(e.owners[path], &out))
	return out
}

// whole is a group as the owner sees it.
func (e *estate) whole(group string) record {
	e.t.Helper()
	if _, had := e.owners[group]; !had {
		e.owners[group], _ = json.Marshal(e.one(owner(), "/resource-groups/"+group))
	}
	var out record
	e.must(json.Unmarshal(e.owners[group], &out))
	return out
}

func decodeList(t *testing.T, body string) ([]record, int) {
	t.Helper()
	var bare struct{ Data []record }
	if json.Unmarshal([]byte(body), &bare) == nil {
		return bare.Data, -1
	}
	var list struct {
		Data struct {
			Items []record
			Total int
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return list.Data.Items, list.Data.Total
}

func (e *estate) one(c identity.Caller, path string) record {
	e.t.Helper()
	got := e.call(c, "GET "+path)
	var out struct{ Data record }
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.code != http.StatusOK {
		e.t.Fatalf("GET %s: %d %s", path, got.code, got.body)
	}
	return out.Data
}

// without is a copy of a record without fields.
func without(r record, fields ...string) record {
	out := maps.Clone(r)
	for _, f := range fields {
		delete(out, f)
	}
	return out
}

func (e *estate) same(what string, got, want any) {
	e.t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		e.t.Errorf("%s:\ngot  %.900s\nwant %.900s", what, g, w)
	}
}
