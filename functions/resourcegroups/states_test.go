package resourcegroups

import (
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestStates_CountOnlyMembersInTheCallersScope(t *testing.T) {
	a := newFixture(t)
	dynamic := a.sendGroup("POST", groups, `{"name":"dev","selector":{"type":"aws-ec2","tags":{"env":"dev"}}}`)
	static := a.sendGroup("POST", groups, `{"name":"two",`+a.memberList(1, "1.1", 2, "1.1")+`}`)
	team := inventorytest.Team(a.Fixture, ours, "Shop", a.ids[1])
	tom := apitest.Caller(ours, "tom", "viewer team:"+team)
	seen := map[string]string{}
	for _, g := range apitest.Data[rest.List[Group]](a.Call(tom, "GET "+groups)).Items {
		seen[g.ID] = apitest.JSON(g.States)
		a.Equal("members of "+g.Name, *g.MemberCount, 1)
	}
	a.Equal("states", apitest.JSON(seen), apitest.JSON(map[string]string{
		dynamic.ID: `{"running":1}`, static.ID: `{"running":1}`,
	}))
	a.Equal("one", apitest.JSON(apitest.Data[Group](a.Call(tom, "GET "+groups+"/"+static.ID)).States), `{"running":1}`)
}
