package eventreadiness

import (
	"context"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestCalculate_ByMultiplierWithAndWithoutMetrics(t *testing.T) {
	f := newFixture(t)
	w := f.call("GET /event-readiness/calculate?policy_id=asp_web&multiplier=3.0")
	got := apitest.Data[CalculatedCapacity](w)
	if got.ScaledMin != 9 || got.ScaledMax != 22 || got.ScaledDesired != 9 || got.Method != "multiplier" ||
		!got.IsEstimated || got.EstimationReason == nil || !strings.Contains(w.Body, `"multiplier":3,`) {
		t.Errorf("%s", w)
	}
	f.addMeasurements("web", cloud.AWSASG, 35)
	got = apitest.Data[CalculatedCapacity](f.call("GET /event-readiness/calculate?policy_id=asp_web&multiplier=3"))
	if got.ScaledDesired != 6 || got.IsEstimated || got.EstimationReason != nil {
		t.Errorf("measured at 35 percent: %s", apitest.JSON(got))
	}
}

// addMeasurements has the CPU of a resource be so busy for 14 days.
func (f *fixture) addMeasurements(uid, kind string, percent float64) {
	f.Helper()
	m, ok := cpuOf(kind)
	if !ok {
		f.Fatalf("%s has no CPU", kind)
	}
	today := f.Clock.Now().Truncate(24 * time.Hour)
	for day := today.AddDate(0, 0, -14); day.Before(today); day = day.AddDate(0, 0, 1) {
		points := cloud.Points{}
		for hour := range 24 {
			points.Times = append(points.Times, day.Add(time.Duration(hour)*time.Hour))
			points.Values = append(points.Values, percent)
		}
		series := measurement.NewSeries(uid, m.Of[0], day, points)
		f.Must(measurement.New(f.Platform).WriteDay(f.In(ours), ours, inventorytest.Account,
			measurement.Day{Start: day}, []measurement.Series{series}))
	}
}

func TestCalculate_ByRequests(t *testing.T) {
	f := newFixture(t)
	got := apitest.Data[CalculatedCapacity](f.call(
		"GET /event-readiness/calculate?policy_id=asp_web&expected_requests=1001&requests_per_instance=100"))
	if got.ScaledDesired != 11 || got.ScaledMin != 11 || got.ScaledMax != 14 || got.Method != "absolute" ||
		!got.IsEstimated || apitest.JSON(got.Multiplier) != "2.75" {
		t.Errorf("%s", apitest.JSON(got))
	}
	for query, says := range map[string]string{
		"policy_id=asp_web": "multiplier, expected_requests", "multiplier=3": "policy_id",
		"policy_id=asp_web&multiplier=3&expected_requests=5": "send one of them",
		"policy_id=asp_web&expected_requests=5":              "requests_per_instance",
		"policy_id=asp_web&multiplier=0":                     "multiplier",
		"policy_id=asp_web&multiplier=NaN":                   "multiplier",
		"policy_id=asp_web&multiplier=-1":                    "multiplier",
		"policy_id=asp_web&multiplier=101":                   "multiplier",
		"policy_id=asp_web&expected_requests=0":              "expected_requests",
	} {
		f.call("GET /event-readiness/calculate?"+query).Want(400, says)
	}
	f.call("GET /event-readiness/calculate?policy_id=asp_none&multiplier=3").Want(404, "asp_none")
}

func TestPreview_ShowsSizesAndTimesAndSavesNothing(t *testing.T) {
	f := newFixture(t)
	body := f.planBody("asp_web", "asp_api")
	body["preScaleMinutes"] = 5
	got := apitest.Data[EventPreview](f.call("POST /event-readiness/preview-readiness", body))
	start := f.Clock.Now().Add(24 * time.Hour).Truncate(time.Second)
	if !got.ScaleUpAt.Equal(start.Add(-5*time.Minute)) ||
		!got.ScaleDownAt.Equal(start.Add(8*time.Hour+30*time.Minute)) || len(got.Warnings) != 1 ||
		len(got.Targets) != 2 {
		t.Errorf("%s", apitest.JSON(got))
	}
	if x := got.Targets[1]; x.PolicyID != "asp_api" || x.Current != (GroupSize{2, 10, 4}) ||
		x.Scaled != (GroupSize{9, 22, 9}) || !x.IsEstimated {
		t.Errorf("%s", apitest.JSON(x))
	}
	if n := apitest.Data[EventPlanCount](f.call("GET /event-readiness/count")); n.Count != 0 ||
		len(f.Audited(ours)) != 0 {
		t.Errorf("a preview left %d plans and %d rows in the audit log", n.Count, len(f.Audited(ours)))
	}
	body["eventEnd"] = "2020-01-01"
	f.call("POST /event-readiness/preview-readiness", body).Want(400, "eventEnd")
	f.call("POST /event-readiness/cost-preview", body).Want(400, "eventEnd")
}

// setPrice gives eu-west-1 a price.
func (f *fixture) setPrice(key, usd string) {
	f.Helper()
	f.Must(pricing.New(f.Platform,
		cloud.Providers{"aws": pricer{keys: key, usd: usd}}).RefreshPrices(table.Within(f.Context(),
		pricing.Prefix), pricing.ProviderRegion{Provider: "aws", Region: "eu-west-1"}))
}

// The example of design/finops.md, section 8: five machines of 0.096 for nine hours.
func TestCost_IsExactAndSaysWhatHasNoPrice(t *testing.T) {
	f := newFixture(t)
	f.setPrice("ec2/m5.large/linux/default", "0.096")
	p := f.createPlan("asp_web", "asp_api")
	w := f.call("GET /event-readiness/" + p.ID + "/cost-estimate")
	got := apitest.Data[EventCost](w)
	if got.Currency != "USD" || apitest.JSON(got.EstimatedExtraCost) != "4.32" ||
		apitest.JSON(got.MaximumExtraCost) != "15.55" || !strings.Contains(w.Body, `"estimatedExtraCost":4.32`) {
		t.Errorf("%s", w)
	}
	web, api := got.PerTarget[0], got.PerTarget[1]
	if web.PolicyID != "asp_web" || apitest.JSON(web.ExtraCost) != "4.32" || web.Reason != nil ||
		api.ExtraCost != nil || api.Reason == nil || !strings.Contains(*api.Reason, "x9.unknown") {
		t.Errorf("%s", w)
	}
	f.Equal("the preview",
		apitest.JSON(apitest.Data[EventCost](f.call("POST /event-readiness/cost-preview",
			f.planBody("asp_web", "asp_api")))), apitest.JSON(got))
	f.Equal("without a price", got.Unpriced, 1)
}

func TestCost_SaysThatNoTargetHasAPrice(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web", "asp_api")
	got := apitest.Data[EventCost](f.call("GET /event-readiness/" + p.ID + "/cost-estimate"))
	if got.Unpriced != len(got.PerTarget) || got.PerTarget[0].ExtraCost != nil || got.PerTarget[1].ExtraCost != nil {
		t.Errorf("%+v", got)
	}
}

func TestDatabase_TheNextClassUpThatIsLargeEnough(t *testing.T) {
	f := newFixture(t)
	ids := inventorytest.Discover(f.Fixture, ours, cloud.AWSRDS,
		cloud.Resource{
			UID: "db-1", Name: "orders", Type: cloud.AWSRDS, Region: "eu-west-1", Status: cloud.Running,
			InstanceType: "db.m5.large",
		})
	f.call("GET /event-readiness/calculate-db?multiplier=3&resource_id="+ids[0]).Want(400,
		"multiplier: of the 0 classes with a known price")
	f.setPrices("rds/db.m5.large/postgres/single", "rds/db.m5.xlarge/postgres/single",
		"rds/db.m5.2xlarge/postgres/single",
		"rds/db.r5.xlarge/postgres/single")
	got := apitest.Data[DatabaseClass](f.call("GET /event-readiness/calculate-db?multiplier=3&resource_id=" + ids[0]))
	if got.Current.Name != "db.m5.large" ||
		got.Recommended != (readiness.Class{Name: "db.m5.2xlarge", VCPUs: 8, MemoryMiB: 32768}) || !got.IsEstimated {
		t.Errorf("%s", apitest.JSON(got)) // two vCPUs × 3 × 50 / 70 are 4.3
	}
	if small := apitest.Data[DatabaseClass](f.call("GET /event-readiness/calculate-db?multiplier=1.2&resource_id=" +
		ids[0])); small.Recommended.Name != "db.m5.large" {
		t.Errorf("%s", apitest.JSON(small))
	}
	for query, says := range map[string]string{
		"multiplier=3": "resource_id, policy_id", "multiplier=3&policy_id=asp_web": "no database",
		"resource_id=" + ids[0]: "multiplier", "multiplier=50&resource_id=" + ids[0]: "none of the family",
	} {
		f.call("GET /event-readiness/calculate-db?"+query).Want(400, says)
	}
	p := f.createPlan("asp_web")
	f.call("GET /event-readiness/"+p.ID+"/db-impact").Want(200, `{"data":[]}`)
	f.Change(readiness.PolicyKey(ours, "asp_web"),
		table.Set("target", readiness.PolicyTarget{Type: cloud.AWSRDS, UID: "db-1", Region: "eu-west-1"}))
	impact := apitest.Data[[]DatabaseImpact](f.call("GET /event-readiness/" + p.ID + "/db-impact"))
	if len(impact) != 1 || impact[0].VCPUDelta != 6 || impact[0].MemoryMiBDelta != 24576 {
		t.Errorf("%s", apitest.JSON(impact))
	}
}

func TestCheck_LooksAtTimesCapacityCredentialsAndExecutor(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web")
	look := func(name string) (ReadinessCheck, ReadinessCheckItem) {
		f.Helper()
		got := apitest.Data[ReadinessCheck](f.call("GET /event-readiness/" + p.ID + "/readiness-check"))
		for _, c := range got.Checks {
			if c.Name == name {
				return got, c
			}
		}
		t.Fatalf("nothing looked at %s: %s", name, apitest.JSON(got))
		return got, ReadinessCheckItem{}
	}
	if got, c := look("capacity"); !got.Ready || c.Status != "passed" || *c.PolicyID != "asp_web" ||
		len(got.Checks) != 4 {
		t.Errorf("%s", apitest.JSON(got))
	}
	f.cloud.groups["web"] = cloud.Autoscaling{Min: 3, Max: 10, Desired: 5}
	if got, c := look("capacity"); !got.Ready || c.Status != "warning" ||
		!strings.Contains(c.Message, "min 3, max 10, desired 5") {
		t.Errorf("%s", apitest.JSON(got))
	}
	f.cloud.granted = []cloud.Permission{{
		Capability: "scale", Action: "autoscaling:UpdateAutoScalingGroup",
		Status: "denied", Message: "no",
	}}
	if got, c := look("credentials"); got.Ready || c.Status != "failed" ||
		!strings.Contains(c.Message, "autoscaling:UpdateAutoScalingGroup") {
		t.Errorf("%s", apitest.JSON(got))
	}
	f.cloud.groups["web"] = cloud.Autoscaling{}
	if got, c := look("capacity"); got.Ready || c.Status != "failed" || !strings.Contains(c.Message, "0 instances") {
		t.Errorf("%s", apitest.JSON(got))
	}
	f.cloud.down = true
	if got, c := look("capacity"); got.Ready || c.Status != "unknown" {
		t.Errorf("%s", apitest.JSON(got))
	}
	f.call("POST /event-readiness/" + p.ID + "/schedule").Want(200)
	if _, c := look("executor"); c.Message != "the executor has the plan" {
		t.Errorf("%s", apitest.JSON(c))
	}
	f.Change(inventory.AccountKey(ours, inventorytest.Account), table.Set("permissionLevel", "read_only"))
	if got, c := look("credentials"); got.Ready || c.Status != "failed" || !strings.Contains(c.Message, "read_only") {
		t.Errorf("%s", apitest.JSON(got))
	}
	f.Clock.Advance(72 * time.Hour)
	if got, c := look("times"); got.Ready || c.Status != "failed" {
		t.Errorf("%s", apitest.JSON(got))
	}
}

func TestRehearse_RunsThePlanAndTouchesNothing(t *testing.T) {
	f := newFixture(t)
	p := f.createPlan("asp_web", "asp_api")
	before := apitest.JSON(f.cloud.groups)
	got := apitest.Data[EventRehearsal](f.call("POST /event-readiness/" + p.ID + "/rehearse"))
	if !got.Ready || got.Status != readiness.Completed || len(got.Targets) != 2 ||
		*got.Targets[0].SecondsToCapacity < 100 || got.Targets[0].Scaled != (GroupSize{9, 22, 9}) ||
		len(got.Log) != 12 {
		t.Errorf("%s", apitest.JSON(got))
	}
	slow := apitest.Data[EventRehearsal](f.call("POST /event-readiness/"+p.ID+"/rehearse", `{"launchSeconds":3600}`))
	if slow.Status != readiness.Completed || slow.Ready != (slow.Targets[0].Shortfall+slow.Targets[1].Shortfall == 0) ||
		*slow.Targets[0].SecondsToCapacity < 1700 {
		t.Errorf("%s", apitest.JSON(slow))
	}
	f.call("POST /event-readiness/"+p.ID+"/rehearse", `{"launchSeconds":0}`).Want(400, "launchSeconds")
	f.Equal("the plan", f.getPlan(p.ID), p)
	if f.cloud.set != 0 || apitest.JSON(f.cloud.groups) != before || len(f.engine.started) != 0 {
		t.Errorf("the real cloud was asked for %d changes, and %v started", f.cloud.set, f.engine.started)
	}
}

// setPrices gives eu-west-1 prices of some keys.
func (f *fixture) setPrices(keys ...string) {
	f.Helper()
	f.Clock.Advance(time.Hour)
	f.setPrice(strings.Join(keys, ","), "0.2")
}

// pricer is a cloud that has nothing but prices.
type pricer struct {
	cloud.Provider

	keys, usd string
}

// Prices tells them.
func (p pricer) Prices(_ context.Context, _ string, take func(cloud.Price) error) (string, error) {
	for key := range strings.SplitSeq(p.keys, ",") {
		if err := take(cloud.Price{Key: key, Unit: cloud.PerHour, USD: money.MustParse(p.usd)}); err != nil {
			return "", err
		}
	}
	return p.keys, nil
}

// The CPU of objects in clusters is measured in cores: 0.4 cores are no load of 0.4 %.
func TestPreview_CoresAreNoLoad(t *testing.T) {
	if m, ok := cpuOf(cloud.KubernetesDeployment); ok {
		t.Errorf("the load of Deployments is read from %s in %s", m.Name, m.Unit)
	}
	if _, ok := cpuOf(cloud.AWSASG); !ok {
		t.Error("the load of Auto Scaling groups is not read")
	}
}
