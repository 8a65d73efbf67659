package smarttags

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

type fixture struct {
	*apitest.Fixture
	ids []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	a := &fixture{Fixture: apitest.New(t, Operations)}
	found := inventorytest.Instances(4)
	for i := range found {
		found[i].InstanceType = []string{"M5.large", ""}[i%2]
	}
	found = append(found,
		cloud.Resource{UID: "i-tagged", Name: "own", Status: cloud.Running, Tags: map[string]string{"tier": "gold"}})
	a.ids = inventorytest.Discover(a.Fixture, apitest.Org, "aws-ec2", found...)
	return a
}

func (a *fixture) call(request string, body ...any) apitest.Answer {
	a.Helper()
	return a.Call(apitest.Caller(apitest.Org, "ada", "finops"), request, body...)
}

const tier = `{"name":"Tier","key":"tier","selector":{"type":"aws-ec2"},` +
	`"value":{"fields":["res.instance_type"],"lowercase":true}}`

// listTags writes the tags as "i-0 tier=m5.large pending".
func (a *fixture) listTags(query string) string {
	a.Helper()
	var out []string
	for _, t := range apitest.Data[SmartTags](a.call("GET " + tags + query)).Items {
		out = append(out, fmt.Sprintf("%s %s=%s %s", t.ResourceUID, t.Key, t.Value, t.Status))
	}
	return strings.Join(out, ", ")
}

func TestSmartTags_AreAcceptedWhileTheyAreDerived(t *testing.T) {
	a := newFixture(t)
	p := apitest.Data[TagPolicy](a.call("POST "+policies, tier))
	a.Equal("derived", a.listTags(""), "i-0 tier=m5.large pending, i-2 tier=m5.large pending")
	a.call("POST "+tags+"/accept", `{"tags":[{"resourceUID":"i-2","key":"tier"}]}`).Want(http.StatusOK, `"count":1`)
	a.Equal("accepted", a.listTags("?status=accepted"), "i-2 tier=m5.large accepted")
	a.Equal("pending", a.listTags("?status=pending&key=tier"), "i-0 tier=m5.large pending")

	a.call("PUT "+policies+"/"+p.ID,
		`{"value":{"fields":["res.instance_type","res.region"],"separator":"/"}}`).Want(http.StatusOK)
	a.Equal("of another value", a.listTags("?status=accepted"), "")
	a.call("PUT "+policies+"/"+p.ID, `{"value":{"fields":["res.instance_type"],"lowercase":true}}`).Want(http.StatusOK)
	a.Equal("of the value that was accepted", a.listTags("?status=accepted"), "i-2 tier=m5.large accepted")

	a.call("POST "+tags+"/accept", fmt.Sprintf(`{"policyID":%q}`, p.ID)).Want(http.StatusOK, `"count":1`)
	a.Equal("all", a.listTags("?status=accepted&size=1&page=2"), "i-2 tier=m5.large accepted")
	a.call("POST "+tags+"/revoke", `{"tags":[{"resourceUID":"i-0","key":"tier"}]}`).Want(http.StatusOK, `"count":1`)
	a.Equal("revoked", a.listTags(""), "i-0 tier=m5.large pending, i-2 tier=m5.large accepted")
	a.call("DELETE " + policies + "/" + p.ID).Want(http.StatusOK)
	a.Equal("without the policy", a.listTags(""), "")
}

func TestSmartTags_RefuseWhatCannotBe(t *testing.T) {
	a := newFixture(t)
	p := apitest.Data[TagPolicy](a.call("POST "+policies, tier))
	a.call("POST "+policies, strings.Replace(tier, "Tier", "TIER", 1)).Want(http.StatusConflict, "another name")
	a.call("POST "+policies,
		strings.NewReplacer("Tier", "Colour", "res.instance_type",
			"res.colour").Replace(tier)).Want(http.StatusBadRequest, "res.colour")
	a.call("POST "+tags+"/accept", `{"tags":[{"resourceUID":"i-1","key":"tier"}]}`).Want(http.StatusNotFound, "i-1")
	a.call("POST "+tags+"/accept", `{"tags":[{"resourceUID":"i-tagged","key":"tier"}]}`).Want(http.StatusNotFound)
	a.call("POST "+tags+"/accept", `{}`).Want(http.StatusBadRequest, "give one")
	a.call("POST "+tags+"/accept", `{"policyID":"tagp_none"}`).Want(http.StatusNotFound)
	a.call("GET " + policies + "/tagp_none").Want(http.StatusNotFound)
	a.Call(apitest.Caller(apitest.OtherOrg, "eve", "owner"), "GET "+policies+"/"+p.ID).Want(http.StatusNotFound)
	a.Call(apitest.Caller(apitest.Org, "bob", "viewer"), "POST "+tags+"/accept",
		`{"policyID":"`+p.ID+`"}`).Want(http.StatusForbidden)
}

func TestSmartTags_ShowAPreviewAndWhoIsScopedJustTheirs(t *testing.T) {
	a := newFixture(t)
	p := apitest.Data[TagPolicy](a.call("POST "+policies,
		strings.Replace(tier, `"res.instance_type"`, `"res.instance_type","res.region"`, 1)))
	got := apitest.Data[PolicyPreview](a.call("POST " + policies + "/" + p.ID + "/preview"))
	a.Equal("preview", fmt.Sprint(got.Resources, got.Values), "4 [{m5.largeeu-west-1 2} {eu-west-1 2}]")
	scoped := a.Call(apitest.Caller(apitest.Org, "bob", "viewer resource:"+a.ids[2]), "GET "+tags).Want(http.StatusOK,
		"i-2", `"total":1`)
	if strings.Contains(scoped.Body, "i-0") {
		t.Errorf("a scoped caller sees %s", scoped.Body)
	}
}

// Of several that are added at the same moment, no two have one name, and no more are added than there is room for.
func TestPolicies_SeveralAtOnceKeepTheirNamesAndTheirLimit(t *testing.T) {
	a := newFixture(t)
	add := func(names ...string) (added int) {
		var wg sync.WaitGroup
		answers := make([]apitest.Answer, len(names))
		for i, name := range names {
			wg.Go(func() { answers[i] = a.call("POST "+policies, strings.Replace(tier, "Tier", name, 1)) })
		}
		wg.Wait()
		for _, answer := range answers {
			if answer.Status == http.StatusOK {
				added++
			} else if answer.Status != http.StatusConflict && !strings.Contains(answer.Body, "which is the most") {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		}
		return added
	}
	for i := range smarttag.MaxPolicies - 2 {
		a.Equal("one by one", add("P"+strconv.Itoa(i)), 1)
	}
	a.Equal("of one name", add("same", "same", "same", "same", "same", "same"), 1)
	a.Equal("for one place", add("a", "b", "c", "d", "e", "f"), 1)
}
