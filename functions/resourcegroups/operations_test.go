package resourcegroups

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is our organization with six instances.
type fixture struct {
	*apitest.Fixture
	ids []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t, Operations)}
	a.ids = inventorytest.Discover(a.Fixture, ours, "aws-ec2", inventorytest.Instances(6)...)
	return a
}

// call makes a request as a member of org who may do everything.
func (a *fixture) call(org, method, path, body string) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(org, "ada", "*:*"), method+" "+path, body)
}

func (a *fixture) sendGroup(method, path, body string) Group {
	a.Helper()
	return apitest.Data[Group](a.call(ours, method, path, body))
}

// memberList writes the members of a body: pairs of the number of a resource and "tier.order".
func (a *fixture) memberList(list ...any) string {
	var out []string
	for i := 0; i < len(list); i += 2 {
		tier, order, _ := strings.Cut(list[i+1].(string), ".")
		out = append(out, fmt.Sprintf(`{"resourceID":%q,"tier":%s,"order":%s}`, a.ids[list[i].(int)], tier, order))
	}
	return `"members":[` + strings.Join(out, ",") + `]`
}

// sequenceOf writes the members of a group in the same way.
func (a *fixture) sequenceOf(g Group) string {
	var out []string
	for _, m := range g.Members {
		for n, id := range a.ids {
			if id == m.ResourceID {
				out = append(out, fmt.Sprintf("%d@%d.%d", n, m.Tier, m.Order))
			}
		}
	}
	if g.Selector != nil { // in the order of ids, which one batch gives at random
		slices.Sort(out)
	}
	return strings.Join(out, " ")
}

func (a *fixture) wantSequence(what string, g Group, sequence string) {
	a.Helper()
	if got := a.sequenceOf(g); got != sequence || g.MemberCount == nil ||
		*g.MemberCount != len(strings.Fields(sequence)) {
		a.Errorf("%s: %s, want %s", what, got, sequence)
	}
}

func TestAGroupFromItsCreationToItsEnd(t *testing.T) {
	a := newFixture(t)
	g := a.sendGroup(http.MethodPost, groups,
		`{"name":" Web ","stepDelaySeconds":5,`+a.memberList(0, "2.1", 1, "1.2", 2, "1.1")+`}`)
	a.wantSequence("created", g, "2@1.1 1@1.2 0@2.1")
	if g.Name != "Web" || g.FailurePolicy != "continue" || g.StepDelaySeconds != 5 || g.Selector != nil {
		t.Errorf("created: %+v", g)
	}
	path := groups + "/" + g.ID
	a.wantSequence("read", a.sendGroup(http.MethodGet, path, ""), "2@1.1 1@1.2 0@2.1")
	a.wantSequence("renamed", a.sendGroup(http.MethodPut, path, `{"name":"Shop","failurePolicy":"abort"}`),
		"2@1.1 1@1.2 0@2.1")
	a.wantSequence("added to", a.sendGroup(http.MethodPost, path+"/resources/"+a.ids[3], ""), "2@1.1 1@1.2 3@1.3 0@2.1")
	a.wantSequence("added to at a place",
		a.sendGroup(http.MethodPost, path+"/resources/"+a.ids[4], `{"tier":3,"order":2}`),
		"2@1.1 1@1.2 3@1.3 0@2.1 4@3.2")
	a.wantSequence("added again elsewhere", a.sendGroup(http.MethodPost, path+"/resources/"+a.ids[4], `{"tier":2}`),
		"2@1.1 1@1.2 3@1.3 0@2.1 4@2.2")
	a.wantSequence("in another sequence",
		a.sendGroup(http.MethodPatch, path+"/sequence", `{`+a.memberList(4, "1.1", 2, "2.2")+`}`),
		"4@1.1 1@1.2 3@1.3 0@2.1 2@2.2")
	if w := a.call(ours, http.MethodDelete, path+"/resources/"+a.ids[1],
		""); apitest.Data[rest.Deleted](w).ID != a.ids[1] {
		t.Errorf("taken out: %s", w.Body)
	}
	a.wantSequence("after one was taken out", a.sendGroup(http.MethodGet, path, ""), "4@1.1 3@1.3 0@2.1 2@2.2")
	a.wantSequence("with others", a.sendGroup(http.MethodPut, path, `{`+a.memberList(5, "1.1")+`}`), "5@1.1")
	a.wantSequence("emptied", a.sendGroup(http.MethodPut, path, `{"members":[]}`), "")
	list := apitest.Data[rest.List[Group]](a.call(ours, http.MethodGet, groups, ""))
	if list.Total != 1 || list.Items[0].Name != "Shop" || list.Items[0].FailurePolicy != "abort" {
		t.Errorf("listed: %+v", list)
	}
	if w := a.call(ours, http.MethodDelete, path, ""); apitest.Data[rest.Deleted](w).ID != g.ID {
		t.Errorf("deleted: %s", w.Body)
	}
	a.call(ours, http.MethodGet, path, "").Want(http.StatusNotFound) // after the end
}

func TestADynamicGroupFollowsItsSelector(t *testing.T) {
	a := newFixture(t)
	g := a.sendGroup(http.MethodPost, groups, `{"name":"dev","selector":{"type":"aws-ec2","tags":{"env":"dev"}}}`)
	a.wantSequence("created", g, "1@1.1 3@1.1 5@1.1")
	path := groups + "/" + g.ID
	a.wantSequence("with another selector", a.sendGroup(http.MethodPut, path, `{"selector":{"tags":{"env":"prod"}}}`),
		"0@1.1 2@1.1 4@1.1")
	a.call(ours, http.MethodPost, path+"/resources/"+a.ids[1], "").Want(http.StatusBadRequest) // adding a member
	list := apitest.Data[rest.List[Group]](a.call(ours, http.MethodGet, groups, "").AtMost(3))
	a.Equal("counted in the list", apitest.JSON(list.Items[0].States), `{"running":3}`)
	a.Equal("members in the list", *list.Items[0].MemberCount, 3)
	a.Equal("counted alone", apitest.JSON(a.sendGroup(http.MethodGet, path, "").States), `{"running":3}`)
	a.wantSequence("made static", a.sendGroup(http.MethodPut, path, `{"selector":null,`+a.memberList(1, "1.1")+`}`),
		"1@1.1")
	a.wantSequence("made dynamic again", a.sendGroup(http.MethodPut, path, `{"selector":{"region":"us-east-1"}}`), "")
	a.wantSequence("made static again", a.sendGroup(http.MethodPut, path, `{"selector":null}`), "")
}

func TestRefusals(t *testing.T) {
	a := newFixture(t)
	g := a.sendGroup(http.MethodPost, groups, `{"name":"Web",`+a.memberList(0, "1.1")+`}`)
	a.sendGroup(http.MethodPost, groups, `{"name":"Other"}`)
	path, unknown := groups+"/"+g.ID, id.New("res", apitest.Start)
	for _, c := range []struct {
		name, method, path, body string
		code                     int
		says                     string
	}{
		{"no name", http.MethodPost, groups, `{}`, 400, "name"},
		{"a blank name", http.MethodPost, groups, `{"name":"  "}`, 400, "name"},
		{"a name that is taken", http.MethodPost, groups, `{"name":"wEb "}`, 409, "name"},
		{
			"members and a selector", http.MethodPost, groups,
			`{"name":"x","selector":{"type":"y"},` + a.memberList(0, "1.1") + `}`, 400, "selector",
		},
		{"a selector of nothing", http.MethodPost, groups, `{"name":"x","selector":{}}`, 400, "selector"},
		{
			"a resource that does not exist", http.MethodPost, groups,
			`{"name":"x","members":[{"resourceID":"` + unknown + `"}]}`, 400, unknown,
		},
		{
			"a resource twice", http.MethodPost, groups, `{"name":"x",` + a.memberList(0, "1.1", 0, "1.2") + `}`, 400,
			a.ids[0],
		},
		{"a tier of zero", http.MethodPost, groups, `{"name":"x",` + a.memberList(0, "0.1") + `}`, 400, "tier"},
		{
			"a policy that nobody knows", http.MethodPost, groups, `{"name":"x","failurePolicy":"panic"}`, 400,
			"failurePolicy",
		},
		{"a new name that is taken", http.MethodPut, path, `{"name":"other"}`, 409, "name"},
		{"a name of null", http.MethodPut, path, `{"name":null}`, 400, "name"},
		{
			"a group that does not exist", http.MethodGet, groups + "/" + id.New("grp", apitest.Start), "", 404,
			"resource group",
		},
		{"what cannot be a group", http.MethodDelete, groups + "/x", "", 404, "resource group"},
		{"adding what does not exist", http.MethodPost, path + "/resources/" + unknown, "", 404, unknown},
		{"taking out what is not in it", http.MethodDelete, path + "/resources/" + a.ids[1], "", 404, a.ids[1]},
		{
			"a sequence with a stranger", http.MethodPatch, path + "/sequence", `{` + a.memberList(1, "1.1") + `}`, 400,
			a.ids[1],
		},
		{"an empty sequence", http.MethodPatch, path + "/sequence", `{"members":[]}`, 400, "members"},
	} {
		w := a.call(ours, c.method, c.path, c.body)
		if w.Status != c.code || !strings.Contains(w.Body, c.says) {
			t.Errorf("%s: %d %s", c.name, w.Status, w.Body)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		if w := a.call(theirs, method, path, `{}`); w.Status != http.StatusNotFound {
			t.Errorf("%s from elsewhere: %d %s", method, w.Status, w.Body)
		}
	}
	a.wantSequence("after all that", a.sendGroup(http.MethodGet, path, ""), "0@1.1")
}

func TestAGroupInUseIsNotDeleted(t *testing.T) {
	a := newFixture(t)
	g := a.sendGroup(http.MethodPost, groups, `{"name":"Web",`+a.memberList(0, "1.1")+`}`)
	bulk := execution.Bulk{ID: id.New("bulk", apitest.Start), GroupID: g.ID, Status: execution.BulkRunning}
	a.Put(execution.BulkKey(ours, bulk.ID), bulk)
	a.Put(execution.GroupClaimKey(ours, g.ID), execution.GroupClaim{BulkActionID: bulk.ID})
	w := a.call(ours, http.MethodDelete, groups+"/"+g.ID, "")
	if w.Status != http.StatusConflict || !strings.Contains(w.Body, bulk.ID) {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	bulk.Status = execution.BulkCompleted
	a.Put(execution.BulkKey(ours, bulk.ID), bulk)
	if w = a.call(ours, http.MethodDelete, groups+"/"+g.ID, ""); w.Status != http.StatusOK {
		t.Errorf("after the bulk action: %d %s", w.Status, w.Body)
	}
}

func TestMembersAddedAtTheSameTimeAreAllThere(t *testing.T) {
	a := newFixture(t)
	g := a.sendGroup(http.MethodPost, groups, `{"name":"Web"}`)
	var wg sync.WaitGroup
	for _, id := range a.ids {
		wg.Go(func() {
			for range 5 { // more rivals than the service itself tries again for
				if w := a.call(ours, http.MethodPost, groups+"/"+g.ID+"/resources/"+id, ""); w.Status == http.StatusOK {
					return
				}
			}
			t.Errorf("%s was never added", id)
		})
	}
	wg.Wait()
	if g = a.sendGroup(http.MethodGet, groups+"/"+g.ID, ""); len(g.Members) != len(a.ids) {
		t.Errorf("members: %+v", g.Members)
	}
}

func TestListGroups_SearchesNameAndDescription(t *testing.T) {
	a := newFixture(t)
	for _, body := range []string{
		`{"name":"Web shop","description":"The front"}`, `{"name":"Batch","description":"Nightly, for the SHOP"}`,
		`{"name":"Ærø 100%"}`,
	} {
		a.sendGroup(http.MethodPost, groups, body)
	}
	usual := a.call(ours, http.MethodGet, groups, "").Usage.RoundTrips
	for search, want := range map[string]string{
		"shop": "Batch Web shop", "WEB": "Web shop", "%C3%A6r": "Ærø 100%", "100%25": "Ærø 100%", "%5F": "",
		"front":                        "Web shop",
		"shop&sort_order=desc&limit=1": "Web shop", "shop&limit=1&page=2": "Web shop",
	} {
		var got []string
		page := apitest.Data[rest.List[Group]](a.call(ours, http.MethodGet, groups+"?search="+search, "").AtMost(usual))
		for _, g := range page.Items {
			got = append(got, g.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", search, got, want)
		}
	}
	if got := apitest.Data[rest.List[Group]](a.call(theirs, http.MethodGet, groups+"?search=shop",
		"")); got.Total != 0 {
		t.Errorf("another organization finds %+v", got)
	}
}
