package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const org = apitest.Org

// fixture is an organization with resources, teams, groups and actions, with every group of operations mounted in
// front of it.
type fixture struct {
	*apitest.Fixture
	store   *inventory.Store
	teams   map[string][]string // native ids of their resources, some of them gone
	groups  []string
	actions []execution.Action
	bulks   map[string][]string // native ids of their targets
	owners  map[string][]byte   // answers to the owner, by path
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := apitest.New(t)
	f.Workflow = apitest.Idle{}
	f.Handler, _ = rest.Mount(f.Platform, functions.Groups(f.Platform)...)
	f.Put(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1})
	return &fixture{
		Fixture: f, store: inventory.New(f.Platform), teams: map[string][]string{},
		bulks: map[string][]string{}, owners: map[string][]byte{},
	}
}

// account connects an account and discovers the resources found, all of one kind.
func (e *fixture) account(account, kind string, found ...cloud.Resource) {
	e.Helper()
	inventorytest.Connect(e.Fixture, org, account)
	inventorytest.DiscoverIn(e.Fixture, inventory.Partition{AccountID: account, Region: "eu-west-1", Kind: kind}, org,
		found...)
}

// ids returns the ids of resources by their native ids.
func (e *fixture) ids(uids ...string) []string { return inventorytest.IDs(e.Fixture, org, uids...) }

func (e *fixture) team(name string, uids ...string) string {
	e.Helper()
	e.Clock.Advance(time.Millisecond)
	team := inventorytest.Team(e.Fixture, org, name, e.ids(uids...)...)
	e.teams[team] = uids
	return team
}

func (e *fixture) group(name string, selector *inventory.Selector, uids ...string) string {
	e.Helper()
	e.Clock.Advance(time.Millisecond)
	var places []inventory.GroupPlacement
	for i, one := range e.ids(uids...) {
		places = append(places, inventory.GroupPlacement{ResourceID: one, Tier: 1 + i%2, Order: 1 + i})
	}
	g := inventory.Group{
		ID: id.New("grp", e.Clock.Now()), Name: name, Selector: selector,
		FailurePolicy: inventory.ContinueOnFailure,
	}
	apitest.Value(e.store.CreateGroup(e.In(org), org, g, places))(e)
	e.groups = append(e.groups, g.ID)
	return g.ID
}

// act records an action, and the change of state if it has ended.
func (e *fixture) act(uid string, verb cloud.Verb, ended bool) string {
	e.Helper()
	e.Clock.Advance(time.Second)
	a := execution.Action{
		ID: id.New("act", e.Clock.Now()), ResourceUID: uid, Action: verb, Status: execution.Pending, Provider: "aws",
		ChangedBy: execution.ChangedBy("manual", "ada@example.com"), CreatedAt: e.Clock.Now(),
	}
	a.AppendLog(a.CreatedAt, "intent", "ok", "asked for")
	row := apitest.Value(execution.NewActionItem(org, a))(e)
	e.Write(table.Put(row), execution.CountItems(org, execution.ItemCount{
		List: execution.ActionList, Number: 1, Expires: row.Expires, ShardBy: a.ID,
	}))
	if ended {
		e.Must(execution.SettleActions(e.In(org), e.Table, org,
			[]execution.Outcome{{Action: a, Status: execution.Succeeded, Changed: true, At: e.Clock.Now()}}))
	}
	e.actions = append(e.actions, a)
	return a.ID
}

// bulk records a bulk action on resources by their native ids.
func (e *fixture) bulk(groupID string, uids ...string) string {
	e.Helper()
	e.Clock.Advance(time.Second)
	b := execution.Bulk{
		ID: id.New("bulk", e.Clock.Now()), GroupID: groupID, Type: cloud.Stop, Status: execution.BulkRunning,
		Total:     len(uids),
		CreatedAt: e.Clock.Now(), Plan: &execution.BulkPlan{Stage: execution.Expanded},
	}
	e.Put(execution.BulkKey(org, b.ID), b)
	for i, uid := range uids {
		e.Put(execution.ChunkKey(org, b.ID, i, i),
			execution.Chunk{Members: []execution.Member{{ActionID: "act_1", ResourceUID: uid}}})
	}
	e.bulks[b.ID] = uids
	return b.ID
}

// random fills the organization with 20 to 40 resources of two kinds, some terminated, some not schedulable, some
// gone for good; and with teams, groups, actions and bulk actions on any of them.
func (e *fixture) random(r *rand.Rand) {
	e.Helper()
	gone := []cloud.Resource{
		{UID: "gone-1", Name: "web-gone", Status: cloud.Running},
		{UID: "gone-2", Status: cloud.Running},
	}
	e.account("ca_2", "aws-asg", gone...)
	var uids []string
	for kind, n := range map[string]int{"aws-ec2": 10 + r.IntN(10), "aws-rds": 10 + r.IntN(10)} {
		var found []cloud.Resource
		for i := range n {
			one := cloud.Resource{
				UID: fmt.Sprintf("%s-%02d", kind, i), Name: fmt.Sprintf("web-%02d", i),
				Status: []cloud.Status{cloud.Running, cloud.Stopped}[r.IntN(2)],
				Tags:   map[string]string{"env": []string{"dev", "prod"}[r.IntN(2)]},
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
	apitest.Value(e.store.ForgetAccount(e.In(org), org, "ca_2"))(e)
}

// end terminates resources.
func (e *fixture) end(uids ...string) {
	e.Helper()
	var seen []inventory.Seen
	for _, uid := range uids {
		seen = append(seen, inventory.Seen{UID: uid, Status: cloud.Terminated, At: e.Clock.Now()})
	}
	w := apitest.Value(inventory.NoteStatuses(org, e.Clock.Now(), seen))(e)
	e.Write(w)
}

// some returns two or more of uids.
func some(r *rand.Rand, uids []string) []string {
	out := slices.Clone(uids)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:2+r.IntN(6)]
}

// caller returns bob with the grants.
func caller(grants ...string) identity.Caller { return apitest.Caller(org, "bob", grants...) }

func owner() identity.Caller { return caller("owner org") }

// record is a record as a client sees it.
type record = map[string]any

// items reads all pages of a list, bare or not, and returns its total, or -1 if the answer has none. For an error it
// returns only the status.
func (e *fixture) items(c identity.Caller, path string) (all []record, total, status int) {
	e.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	for page := 1; ; page++ {
		got := e.Call(c, fmt.Sprintf("GET %s%spage=%d&limit=9", path, sep, page))
		if got.Status != http.StatusOK {
			return nil, 0, got.Status
		}
		some, n := decodeList(e, got.Body)
		if all = append(all, some...); len(some) < 9 {
			return all, n, got.Status
		}
	}
}

// all returns the list that the owner sees. It is requested once, because no request of this test changes it.
func (e *fixture) all(path string) []record {
	e.Helper()
	if _, had := e.owners[path]; !had {
		list, _, _ := e.items(owner(), path)
		e.owners[path], _ = json.Marshal(list)
	}
	var out []record
	e.Must(json.Unmarshal(e.owners[path], &out))
	return out
}

// whole returns a group as the owner sees it.
func (e *fixture) whole(group string) record {
	e.Helper()
	if _, had := e.owners[group]; !had {
		e.owners[group], _ = json.Marshal(e.one(owner(), "/resource-groups/"+group))
	}
	var out record
	e.Must(json.Unmarshal(e.owners[group], &out))
	return out
}

func decodeList(t testing.TB, body string) ([]record, int) {
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

func (e *fixture) one(c identity.Caller, path string) record {
	e.Helper()
	return apitest.Data[record](e.Call(c, "GET "+path))
}

// without returns a copy of a record without fields.
func without(r record, fields ...string) record {
	out := maps.Clone(r)
	for _, f := range fields {
		delete(out, f)
	}
	return out
}

func (e *fixture) same(what string, got, want any) {
	e.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		e.Errorf("%s:\ngot  %.900s\nwant %.900s", what, g, w)
	}
}
