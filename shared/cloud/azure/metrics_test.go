package azure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

const metricsRead = "Microsoft.Insights/metrics/read"

func request(uids ...string) cloud.MetricRequest {
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return cloud.MetricRequest{
		Type: "azure-vm", Region: region, UIDs: uids, Measures: cloud.MeasuresOf("azure-vm"), Period: time.Hour,
		From: from, To: from.Add(24 * time.Hour),
	}
}

func openMetered(t *testing.T, tw *azuretwin.Cloud) cloud.Metered {
	t.Helper()
	m, ok := open(t, tw, principal(azuretwin.Secret)).(cloud.Metered)
	if !ok {
		t.Fatal("Azure has no metrics")
	}
	return m
}

func TestMetrics_FiftyResourcesAreOneCall(t *testing.T) {
	tw := &azuretwin.Cloud{}
	var uids []string
	for n := range 120 {
		uids = append(uids, tw.AddVM(fmt.Sprint("web-", n), region, func(r *azuretwin.Resource) {
			r.Metrics = map[string][]float64{"Percentage CPU": {1, 2, 3}}
		}).UID())
	}
	got, err := openMetered(t, tw).Metrics(t.Context(), request(uids...))
	if err != nil || got.Calls != 3 || len(tw.Calls(metricsRead)) != 3 || got.Queries != 120 || len(got.Points) != 240 {
		t.Errorf("%d calls, %d queries, %d points, %v; want 3, 120, 240", got.Calls, got.Queries, len(got.Points), err)
	}
}

func TestMetrics_AreTheStatisticsThatWereAskedFor(t *testing.T) {
	tw := &azuretwin.Cloud{}
	vm := tw.AddVM("Web", region, func(r *azuretwin.Resource) {
		r.Metrics = map[string][]float64{"Percentage CPU": {10, -1, 30}, "Network In Total": {5}}
	})
	r := request(vm.UID())
	got, err := openMetered(t, tw).Metrics(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, p := range got.Points {
		m := r.Measures[p.Measure]
		if p.UID != vm.UID() || len(p.Times) != len(p.Values) {
			t.Errorf("points %+v are not of the machine, or not as many as times", p)
		}
		told[m.Metric+": "+m.Statistic] = fmt.Sprint(p.Values)
		if i := slices.Index(p.Values, 31); i >= 0 && !p.Times[i].Equal(r.From.Add(2*time.Hour)) {
			t.Errorf("the third hour is %s", p.Times[i])
		}
	}
	want := map[string]string{
		"Percentage CPU: Maximum": "[11 31]", "Percentage CPU: Average": "[10 30]",
		"Network In Total: Total": "[5]",
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("measured %v; want %v, without the gap and what nobody measured", told, want)
	}
}

func TestMetrics_OfOtherTypesAndSubscriptionsAreNotAskedFor(t *testing.T) {
	tw := &azuretwin.Cloud{}
	set := tw.AddScaleSet("set", region, 1, nil)
	got, err := openMetered(t, tw).Metrics(t.Context(), request(set.UID(), "web"))
	if err != nil || got.Calls != 0 || len(tw.Calls(metricsRead)) != 0 {
		t.Errorf("%+v, %v; want no call", got, err)
	}
	r := request(set.UID())
	r.Region = "no/where"
	_, err = openMetered(t, tw).Metrics(t.Context(), r)
	wantClass(t, "Metrics of no region", err, cloud.Invalid)
}

func TestMetrics_AFailureIsTold(t *testing.T) {
	tw := &azuretwin.Cloud{}
	vm := tw.AddVM("web", region, nil)
	tw.SetRoles(azuretwin.Role{Actions: []string{"*"}, NotActions: []string{metricsRead}})
	_, err := openMetered(t, tw).Metrics(t.Context(), request(vm.UID()))
	wantClass(t, "Metrics without the permission", err, cloud.Denied)
}

func TestMetrics_OfACustomEndpointAreThere(t *testing.T) {
	tw := &azuretwin.Cloud{}
	vm := tw.AddVM("web", region, func(r *azuretwin.Resource) {
		r.Metrics = map[string][]float64{"Percentage CPU": {1}}
	})
	m, ok := plain(t, tw, principal(azuretwin.Secret)).(cloud.Metered)
	if !ok {
		t.Fatal("Azure has no metrics")
	}
	if got, err := m.Metrics(t.Context(), request(vm.UID())); err != nil || len(got.Points) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Without points a count is 0, if Azure was asked: it says nothing of resources of other types and those that it
// refuses.
func TestMetrics_OfWhatIsRefusedAreUnread(t *testing.T) {
	tw := &azuretwin.Cloud{}
	vm := tw.AddVM("web", region, func(r *azuretwin.Resource) {
		r.Metrics = map[string][]float64{"Percentage CPU": {1}}
	})
	set := tw.AddScaleSet("set", region, 1, nil)
	gone := vm.UID() + "-gone"
	r := request(vm.UID(), set.UID(), gone)
	got, err := openMetered(t, tw).Metrics(t.Context(), r)
	unread := map[string]int{}
	for _, u := range got.Unread {
		unread[u.UID]++
	}
	if n := len(r.Measures); err != nil || unread[set.UID()] != n || unread[gone] != n || unread[vm.UID()] != 0 {
		t.Errorf("unread: %v, %v; want all %d measures of the set and of the missing one", unread, err, n)
	}
}

// Azure answers with an error in the place of a metric that it cannot give.
func TestMetrics_ThatFailAloneAreUnread(t *testing.T) {
	tw := &azuretwin.Cloud{}
	vm := tw.AddVM("web", region, func(r *azuretwin.Resource) {
		r.Metrics = map[string][]float64{"Percentage CPU": {1}}
		r.MetricErrors = map[string]string{"Network In Total": "InternalServerError"}
	})
	r := request(vm.UID())
	got, err := openMetered(t, tw).Metrics(t.Context(), r)
	if err != nil || len(got.Unread) != 1 || r.Measures[got.Unread[0].Measure].Metric != "Network In Total" {
		t.Errorf("unread: %+v, %v; want the one that failed", got.Unread, err)
	}
}

// Each measure that is collected is of the namespace of its type: Azure knows no other metrics of the resource.
func TestMetrics_AreOfTheNamespaceOfTheirType(t *testing.T) {
	for _, k := range cloud.Catalogue() {
		for _, m := range cloud.MeasuresOf(k.Type) {
			native, _, _ := strings.Cut(k.Native, "#")
			if k.Provider == "azure" && native != "" && !strings.EqualFold(m.Namespace, native) {
				t.Errorf("%s is measured in %s; its type is %s", k.Type, m.Namespace, native)
			}
		}
	}
}
