package dashboards

import (
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestDashboards_ANarrowGrantSeesNoFilters(t *testing.T) {
	f := newFixture(t)
	made := f.dashboard("Shop",
		Widget{
			Type: totalsWidget, Title: "Secret server",
			Query: WidgetQuery{Filter: map[string][]string{"resource_uid": {"i-1"}, "tag:env": {"hidden-env"}}},
		})
	narrow := apitest.Caller(apitest.Org, "tom", "viewer team:"+f.team)
	for _, path := range []string{"/dashboards/" + made.ID, "/dashboards"} {
		got := f.Call(narrow, "GET "+path).Want(http.StatusOK, "Shop")
		if strings.Contains(got.Body, "i-1") || strings.Contains(got.Body, "hidden-env") {
			t.Errorf("%s shows a filter: %s", path, got.Body)
		}
	}
	viewer := apitest.Caller(apitest.Org, "vera", "viewer")
	f.Call(viewer, "GET /dashboards/"+made.ID).Want(http.StatusOK, "i-1", "hidden-env")
	if all := apitest.Data[rest.List[Dashboard]](f.Call(viewer,
		"GET /dashboards")); len(all.Items[len(all.Items)-1].Widgets[0].Query.Filter) != 2 {
		t.Errorf("a reader of the organization sees %+v", all.Items[len(all.Items)-1])
	}
	if got := f.data(narrow, made.ID); got[0].Totals == nil || got[0].Totals.CostUSD != "0.00" {
		t.Errorf("the data is not filtered: %+v", got[0].Totals)
	}
}
