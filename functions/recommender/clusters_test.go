package recommender

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// discoverCluster lists all kinds of a cluster over a new connection, and stores what it finds.
func (f *fixture) discoverCluster(c *kubernetestwin.Cluster) {
	f.Helper()
	p := kubernetes.New(kubernetes.Options{Clock: f.Clock, PrivateAddresses: true})
	conn := apitest.Value(p.Connect(f.In(org), cloud.Account{
		Org: org, ID: inventorytest.Account, Provider: kubernetes.Name, AuthMethod: "kubeconfig",
		Credentials: map[string]string{"kubeconfig": c.Kubeconfig(kubernetestwin.Token)},
	}))(f)
	for _, k := range p.Kinds() {
		var found []cloud.Resource
		for page, first := "", true; first || page != ""; first = false {
			got := apitest.Value(conn.List(f.In(org), k.Type, kubernetes.Region, page))(f)
			found, page = append(found, got.Resources...), got.Next
		}
		inventorytest.DiscoverIn(f.Fixture, inventory.Partition{
			AccountID: inventorytest.Account, Region: kubernetes.Region, Kind: k.Type,
		}, org, found...)
	}
}

// openRules returns the open recommendations of each object of a cluster as Planted has them.
func (f *fixture) openRules() map[string]string {
	f.Helper()
	found := map[string][]string{}
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.Status == recommendation.Open {
			found[r.ResourceUID] = append(found[r.ResourceUID], r.RuleID)
		}
	}
	return plantedForm(found)
}

// trueConditions returns the rules whose conditions are true for each object of a cluster, whatever they save.
func (f *fixture) trueConditions() map[string]string {
	f.Helper()
	w := newWorker(f.Platform, nil)
	in := apitest.Value(w.read(f.In(org), inputsOf{org, f.Clock.Now(), everyPart}))(f)
	rules := apitest.Value(w.readRules(f.In(org), org))(f)
	found := map[string][]string{}
	for shard := range inventory.ResourceShards {
		f.Must(w.eachGroup(f.In(org), org, shard, func(_ int, records []table.Item) error {
			for _, it := range records {
				found[it.SK] = append(found[it.SK], f.trueOf(it, in, rules)...)
			}
			return nil
		}))
	}
	return plantedForm(found)
}

// trueOf returns the rules whose conditions are true for a record.
func (f *fixture) trueOf(it table.Item, in *inputs, rules *orgRules) (out []string) {
	f.Helper()
	r := apitest.Value(table.Decode[record](it))(f)
	e := apitest.Value(in.newEvaluator(rules, r.Type))(f)
	if e == nil || r.isTerminated() {
		return nil
	}
	unused := func(string) measurement.Use { return measurement.Use{} }
	s := apitest.Value(e.begin(&r, it.Data, unused))(f)
	for i := range e.rules {
		as := apitest.Value(e.settingOf(&e.rules[i], s))(f)
		if outcome, _ := e.decide(&e.rules[i], as); outcome == recommendation.True {
			out = append(out, e.rules[i].ID)
		}
	}
	return out
}

// plantedForm returns rules by object as Planted has them.
func plantedForm(found map[string][]string) map[string]string {
	out := map[string]string{}
	for uid, rules := range found {
		if !strings.HasPrefix(uid, kubernetestwin.UID) || len(rules) == 0 { // of a disk, or of a healthy object
			continue
		}
		slices.Sort(rules)
		out[uid] = strings.ReplaceAll(strings.Join(rules, " "), "kubernetes-", "")
	}
	return out
}

// uidOf returns the native id of a planted object.
func uidOf(p kubernetestwin.Planted) string {
	ns, name, namespaced := strings.Cut(p.At, "/")
	switch {
	case p.Resource == "namespaces":
		return kubernetestwin.UID + "/" + p.At
	case !namespaced:
		ns, name = "", p.At
	}
	return kubernetestwin.UID + "/" + ns + "/" + p.Resource + "/" + name
}

// billPlanted imports bills that say what each object costs: rules about money find nothing whose cost is unknown.
func (f *fixture) billPlanted(planted []kubernetestwin.Planted) {
	f.Helper()
	perDay := map[string]string{}
	for _, disk := range f.clusterDisks() {
		perDay[disk.UID] = "0.5"
	}
	for _, p := range planted {
		perDay[uidOf(p)] = "0.5"
	}
	f.bill(perDay)
}

// clusterDisks returns the disks in the cloud that planted volumes are. No machine has them.
func (f *fixture) clusterDisks() []cloud.Resource {
	var out []cloud.Resource
	for _, name := range []string{"vol-released", "vol-free", "vol-orphan", "vol-ring"} {
		out = append(out, f.found("arn:aws:ec2:eu-west-1:123456789012:volume/"+name, nil))
	}
	return out
}

// withoutPrice are the planted rules about money that open no recommendation, because nothing says what their change
// saves: a load balancer is charged in the cloud, and replicas, targets and hours have no price.
var withoutPrice = []string{
	"service-lb-no-endpoints", "hpa-target-low", "deployment-replicas-nonprod", "namespace-schedule-nonprod",
}

// checkPlanted holds the rules by object against the planted ones, less those in without.
func checkPlanted(
	t *testing.T, got map[string]string, planted []kubernetestwin.Planted, without ...string,
) (rules int) {
	t.Helper()
	for _, p := range planted {
		want := slices.DeleteFunc(strings.Fields(p.Rules), func(rule string) bool {
			return slices.Contains(without, rule)
		})
		if uid := uidOf(p); got[uid] != strings.Join(want, " ") {
			t.Errorf("%s %s is found by %q, want %q", p.Resource, p.At, got[uid], want)
		}
		rules += len(want)
		delete(got, uidOf(p))
	}
	if len(got) > 0 {
		t.Errorf("found beside the planted objects: %v", got)
	}
	return rules
}

// The planted objects are found by exactly the rules that they are planted for, and their healthy neighbours by none.
func TestEvaluate_FindsExactlyThePlantedWasteOfACluster(t *testing.T) {
	f := newFixture(t)
	inventorytest.Connect(f.Fixture, org, inventorytest.Account)
	c := kubernetestwin.New()
	t.Cleanup(c.Close)
	f.Clock.Advance(40 * 24 * time.Hour)
	c.Without = []string{"metrics.k8s.io"}
	planted := append(c.Plant(f.Clock.Now().AddDate(0, 0, 33)),
		kubernetestwin.Planted{Resource: "clusters", At: "cluster", Rules: "cluster-no-metrics"})
	f.discoverCluster(c)
	for uid, rules := range f.trueConditions() {
		if strings.Contains(rules, "unmounted") || strings.Contains(rules, "leftover") {
			t.Errorf("%s is found by %s before anybody knows since when it is not mounted", uid, rules)
		}
	}
	f.Clock.Advance(6 * 24 * time.Hour)
	f.discoverCluster(c)
	f.Clock.Advance(27 * 24 * time.Hour)
	f.discoverCluster(c)
	f.discover("aws-ebs", f.clusterDisks()...)
	f.billPlanted(planted)
	f.evaluate()
	t.Logf("%d rules are true", checkPlanted(t, f.trueConditions(), planted))
	t.Logf("%d recommendations are open", checkPlanted(t, f.openRules(), planted, withoutPrice...))
}
