package autoscalerpolicies

import (
	"maps"
	"slices"
	"testing"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
	vic = apitest.Caller(apitest.Org, "vic", "viewer")
)

// region is where the groups of the simulated account are.
const region = "us-east-1"

// fixture is an organization with an account of the simulated cloud and its scalable groups.
type fixture struct {
	*apitest.Fixture
	provider cloud.Provider
	account  string
	byType   map[string][]cloud.Resource // that can be acted on
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations), byType: map[string][]cloud.Resource{}}
	f.provider = simulated.New(f.Table, f.Clock)
	f.Workers = lambdacall.Local{inventory.Connector: connector.Handler(f.Platform,
		cloud.Providers{simulated.Name: f.provider})}
	f.account = id.New("ca", f.Clock.Now())
	f.connectAccount(map[string]string{}, "read_write")
	for _, kind := range append(cloud.AutoscaledTypes(), cloud.AWSEC2) {
		f.discoverKind(kind)
	}
	return f
}

// connectAccount makes the account anew, with these settings besides.
func (f *fixture) connectAccount(settings map[string]string, level string) {
	f.Helper()
	all := map[string]string{
		"size": "200", "regions": region, "stopped": "0", "transitionSeconds": "0",
		"kinds": "aws-ec2,aws-asg,aws-ecs,azure-vmss,gcp-mig,kubernetes-deployment",
	}
	maps.Copy(all, settings)
	sealed, err := inventory.SealCredentials(f.Context(), f.Sealer, inventory.SecretPlace(apitest.Org, f.account), all)
	f.Must(err)
	f.Put(inventory.AccountKey(apitest.Org, f.account), inventory.Account{
		ID: f.account, Provider: simulated.Name, Name: "Playground", CloudAccountID: "111122223333",
		AuthMethod:      simulated.AuthMethod,
		PermissionLevel: level, Sealed: sealed,
	})
}

// conn opens the account besides the product, as its owner does.
func (f *fixture) conn() cloud.Conn {
	f.Helper()
	a := inventory.Account{
		ID: f.account, Provider: simulated.Name, CloudAccountID: "111122223333",
		AuthMethod: simulated.AuthMethod,
	}
	a.Sealed = apitest.Read[inventory.Account](f.Fixture, inventory.AccountKey(apitest.Org, f.account)).Sealed
	c, err := inventory.Clouds{
		Sealer:    f.Sealer,
		Providers: cloud.Providers{simulated.Name: f.provider},
	}.Connect(f.In(apitest.Org), apitest.Org, a)
	f.Must(err)
	return c
}

func (f *fixture) discoverKind(kind string) {
	f.Helper()
	listed := kind
	if kind != cloud.AWSEC2 && kind != cloud.AWSASG && kind != cloud.AWSECS {
		listed = cloud.CollectiveOf(simulated.Name).Type
	}
	page, err := f.conn().List(f.Context(), listed, region, "")
	f.Must(err)
	var found []cloud.Resource
	for _, r := range page.Resources {
		if r.Type != kind {
			continue
		}
		if found = append(found, r); r.Unschedulable == "" {
			f.byType[kind] = append(f.byType[kind], r)
		}
	}
	scan := inventory.Scan{
		Partition: inventory.Partition{AccountID: f.account, Region: region, Kind: kind, Provider: simulated.Name},
		ID:        "job_" + kind, Started: f.Clock.Now(),
	}
	_, err = inventory.New(f.Platform).UpsertScanned(f.In(apitest.Org), apitest.Org,
		inventory.Batch{Scan: scan, At: f.Clock.Now(), Resources: found})
	f.Must(err)
}

// policyBody is of a policy for a group of a type, the nth; more replaces fields.
func (f *fixture) policyBody(kind string, n int, more ...map[string]any) map[string]any {
	f.Helper()
	out := map[string]any{
		"name": kind, "cloudAccountID": f.account,
		"target": map[string]any{"type": kind, "uid": f.byType[kind][n].UID},
	}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// createPolicy makes a policy for an Auto Scaling group.
func (f *fixture) createPolicy(more ...map[string]any) AutoscalerPolicy {
	f.Helper()
	return apitest.Data[AutoscalerPolicy](f.Call(ada, "POST /autoscaler-policies",
		f.policyBody(cloud.AWSASG, 0, more...)))
}

// liveScaling asks the cloud how the target of a policy is scaled.
func (f *fixture) liveScaling(p AutoscalerPolicy) cloud.Autoscaling {
	f.Helper()
	got, err := f.conn().(cloud.Autoscaler).ReadAutoscaling(f.Context(), p.Target.Type, p.Target.Region, p.Target.UID)
	f.Must(err)
	return got
}

// changeScaling scales the target of a policy as somebody else does.
func (f *fixture) changeScaling(p AutoscalerPolicy, to cloud.Autoscaling) {
	f.Helper()
	to.Native = nil
	f.Must(f.conn().(cloud.Autoscaler).SetAutoscaling(f.Context(), p.Target.Type, p.Target.Region, p.Target.UID, to))
}

// postVerb posts to a policy.
func (f *fixture) postVerb(p AutoscalerPolicy, verb string) apitest.Answer {
	f.Helper()
	return f.Call(ada, "POST /autoscaler-policies/"+p.ID+"/"+verb, "{}")
}

func (f *fixture) getPolicy(p AutoscalerPolicy) AutoscalerPolicy {
	f.Helper()
	return apitest.Data[AutoscalerPolicy](f.Call(ada, "GET /autoscaler-policies/"+p.ID))
}

// readLog returns the kinds of the entries of a policy, the oldest first.
func (f *fixture) readLog(p AutoscalerPolicy) []AutoscalerEntry {
	f.Helper()
	type items struct {
		Items []AutoscalerEntry `json:"items"`
	}
	all := apitest.Data[items](f.Call(ada, "GET /autoscaler-policies/"+p.ID+"/logs?limit=100")).Items
	slices.Reverse(all)
	return all
}

func (f *fixture) wantLog(p AutoscalerPolicy, kinds ...string) {
	f.Helper()
	var got []string
	for _, e := range f.readLog(p) {
		got = append(got, e.Kind)
	}
	f.Equal("log", apitest.JSON(got), apitest.JSON(kinds))
}

// countCalls counts the changes requested from the cloud.
func (f *fixture) countCalls() int {
	return simulated.CallsByMethod(f.provider, f.account)["SetAutoscaling"]
}
