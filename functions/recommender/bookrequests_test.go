package recommender

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/inventorytest"
)

type object = map[string]any

// addNode adds a node of 4 cores and 16 GiB, on a machine of AWS, with pods of workloads of the namespace used.
func addNode(c *kubernetestwin.Cluster, number int, pods ...string) {
	name := fmt.Sprint("node-", number)
	c.Add("nodes", object{
		"metadata": object{"name": name, "labels": object{"eks.amazonaws.com/nodegroup": "workers"}},
		"spec":     object{"providerID": fmt.Sprint("aws:///eu-west-1a/i-", number)},
		"status": object{
			"capacity":    object{"cpu": "4", "memory": "16Gi", "pods": "110"},
			"allocatable": object{"cpu": "4", "memory": "16Gi", "pods": "110"},
			"conditions":  []any{object{"type": "Ready", "status": "True"}},
		},
	})
	for i, text := range pods {
		workload, requests, _ := strings.Cut(text, " ")
		cpu, memory, _ := strings.Cut(requests, " ")
		c.Add("pods", object{
			"metadata": object{
				"namespace": "used", "name": fmt.Sprintf("%s-%d-%d", workload, number, i),
				"labels": object{"pod-template-hash": "7d9f"},
				"ownerReferences": []any{object{
					"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": workload + "-7d9f", "uid": "u",
					"controller": true,
				}},
			},
			"status": object{"phase": "Running"},
			"spec": object{"nodeName": name, "containers": []any{object{
				"name": "a", "image": "a:1", "resources": object{"requests": object{"cpu": cpu, "memory": memory}},
			}}},
		})
	}
}

// evaluateNodes evaluates the planted workloads on nodes whose machines cost 60 USD a month, on two days. It returns a
// function that evaluates them on the next day.
func (f *fixture) evaluateNodes(c *kubernetestwin.Cluster, machines ...string) (nextDay func()) {
	f.Helper()
	inventorytest.Connect(f.Fixture, org, inventorytest.Account)
	planted := plantUse(c)
	f.Clock.Advance(40 * day)
	perDay := map[string]string{}
	var found []cloud.Resource
	for _, uid := range machines {
		found = append(found, f.found(uid, nil))
		perDay[uid] = "2"
	}
	f.discover(cloud.AWSEC2, found...)
	f.bill(perDay)
	nextDay = func() {
		f.Clock.Advance(day)
		f.discoverCluster(c)
		f.collectMetrics(c, planted)
		f.evaluate()
	}
	nextDay()
	nextDay()
	return nextDay
}

// requestSavings formats the savings of the recommendations about requests as "workload gross net severity unknown".
func (f *fixture) requestSavings() string {
	f.Helper()
	var out []string
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if strings.HasSuffix(r.RuleID, "-cpu-overrequested") && r.Status == recommendation.Open {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.ResourceName, r.Savings.Gross.Fixed(2),
				r.Savings.Net.Fixed(2), r.Severity, r.Savings.Unknown)))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// The pods of large request 2 cores each and need 0.46: one of two machines can be removed. They free 6.16 of 8 cores,
// which cost 92.40 of 120 USD; the bill falls by one machine. No node has pods of vast.
func TestBookRequests_LowerRequestsSaveTheMachinesThatCanBeRemoved(t *testing.T) {
	f := newFixture(t)
	c := kubernetestwin.New()
	t.Cleanup(c.Close)
	addNode(c, 1, "large 2 512Mi", "large 2 512Mi")
	addNode(c, 2, "large 2 512Mi", "large 2 512Mi")
	nextDay := f.evaluateNodes(c, "i-1", "i-2")
	if got, want := f.requestSavings(), "large 92.40 60.00 medium; vast 0.00 0.00 info unplaced"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	view := apitest.Value(recommendation.New(f.Platform).View(f.In(org), org, grant.Scopes{All: true}, false))(f)
	if got := view.Sums().Net.Fixed(2); got != "60.00" {
		t.Errorf("the organization saves %s USD", got)
	}
	before := apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...)
	nextDay()
	after := apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...)
	for i := range before {
		if strings.Contains(before[i].RuleID, "overrequested") && before[i].Version != after[i].Version {
			t.Errorf("the next day writes %s again", before[i].RuleID)
		}
	}
}

func TestBookRequests_SavingsOfNodesWithoutAPriceAreUnknown(t *testing.T) {
	f := newFixture(t)
	c := kubernetestwin.New()
	t.Cleanup(c.Close)
	addNode(c, 1, "large 2 512Mi", "large 2 512Mi")
	addNode(c, 2, "large 2 512Mi", "large 2 512Mi")
	f.evaluateNodes(c, "i-1")
	if got, want := f.requestSavings(), "large 0.00 0.00 info unpriced; vast 0.00 0.00 info unplaced"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// A process that dies while it books savings books them when the pass is continued.
func TestBookRequests_AKilledPassBooksThemLater(t *testing.T) {
	f := newFixture(t)
	c := kubernetestwin.New()
	t.Cleanup(c.Close)
	addNode(c, 1, "large 2 512Mi", "large 2 512Mi")
	addNode(c, 2, "large 2 512Mi", "large 2 512Mi")
	f.evaluateNodes(c, "i-1", "i-2")
	want := f.requestSavings()
	w := newWorker(f.Platform, nil)
	r := apitest.Value(w.open(f.In(org), org, "", f.Clock.Now().Add(stretch)))(f)
	f.Must(r.bookRequests(f.In(org)))
	f.Must(r.bookRequests(f.In(org)))
	if got := f.requestSavings(); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
