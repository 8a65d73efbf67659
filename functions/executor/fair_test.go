package executor

import (
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// neighbour is another organization of the same installation.
const neighbour = "org_01k00000000000000000000001"

// TestBulk_OfOneOrganizationKeepsNobodyElseWaiting stops 10,000 instances of one organization through the worker pool
// of a laptop, and one instance of another organization at the same time. MaxConcurrency of the state machine limits
// the first to 20 of the 64 tasks that run at once (150 in the template). The provider's limits apply to its account
// only.
func TestBulk_OfOneOrganizationKeepsNobodyElseWaiting(t *testing.T) {
	if testing.Short() || race.Enabled || tabletest.Limits() != nil {
		t.Skip("stops 10,000 instances: not with -short, nor with the race detector, nor on a store that limits itself")
	}
	shareOutsideBubbles(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(noon))
		w := newFixtureOn(t, apitest.PlatformAt(t, clock.System{}), map[string]string{
			"size": "11500", "kinds": "aws-ec2", "regions": "1", "stopped": "0", "limits": "true", "callMillis": "200",
		})
		engine := w.engine()
		alone := w.stopNeighbours(engine, 1)
		in := w.submitBulk(w.newFlatGroup(10_000), cloud.Stop)
		w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
		for n, after := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 3 * time.Minute} {
			time.Sleep(after)
			if took := w.stopNeighbours(engine, 2+n); took > alone+time.Second {
				t.Errorf("a single stop takes %s beside the 10,000 of another organization; alone it takes %s", took,
					alone)
			}
		}
		if b := w.bulk(in.BulkID); b.Over() {
			t.Error("the 10,000 had ended before: nothing was shown")
		}
		w.Must(engine.Close())
	})
}

// stopNeighbours stops one instance of the neighbour's n-th account. It returns the time from its submission to its
// end.
func (w *fixture) stopNeighbours(engine *workflow.Embedded, n int) time.Duration {
	w.Helper()
	return w.stopOneOf(engine, fleet{
		kind: cloud.AWSEC2, region: "us-east-1",
		account: inventory.Account{
			Provider: "simulated", CloudAccountID: "20000000000" + string(rune('0'+n)),
			AuthMethod: "simulated",
		},
		credentials: map[string]string{
			"size": "4", "kinds": "aws-ec2", "regions": "1", "stopped": "0",
			"limits": "true", "callMillis": "200",
		},
	})
}

// stopOneOf connects the fleet's account to the neighbour and stops one machine of it. It returns the time from its
// submission to its end.
func (w *fixture) stopOneOf(engine *workflow.Embedded, f fleet) time.Duration {
	w.Helper()
	ctx, a := table.WithOrg(w.Context(), neighbour), f.newAccount()
	a.Sealed = apitest.Value(inventory.SealCredentials(ctx, w.e.p.Sealer, inventory.SecretPlace(neighbour, a.ID),
		f.credentials))(w)
	w.Put(inventory.AccountKey(neighbour, a.ID), a)
	conn := apitest.Value(w.e.newClouds().Connect(ctx, neighbour, a))(w)
	page := apitest.Value(conn.List(ctx, f.kind, f.region, ""))(w)
	scan := inventory.Scan{Partition: inventory.Partition{
		AccountID: a.ID, Provider: a.Provider, Region: f.region,
		Kind: f.kind,
	}, ID: a.ID, Started: time.Now()}
	apitest.Value(w.e.inventory.UpsertScanned(ctx, neighbour,
		inventory.Batch{Scan: scan, At: time.Now(), Resources: page.Resources}))(w)
	for _, r := range page.Resources {
		if r.Unschedulable == "" && r.Status == cloud.Running {
			began := time.Now()
			w.runAlone(engine, neighbour, execution.Request{
				Verb: cloud.Stop, ResourceUID: r.UID, Provider: a.Provider, ResourceType: r.Type, CloudAccountID: a.ID,
				Region: f.region,
			})
			return time.Since(began)
		}
	}
	w.Fatal("nothing can be stopped")
	return 0
}

// runAlone submits a single action and waits for the end of its machine.
func (w *fixture) runAlone(engine *workflow.Embedded, of string, r execution.Request) {
	w.Helper()
	ctx := table.WithOrg(w.Context(), of)
	p := platformWith(w.e.p, engine)
	a := apitest.Value(execution.SubmitAction(ctx, p, of, r))(w)
	x := apitest.Value(engine.Wait(ctx, execution.Machine, a.ID))(w)
	if got := apitest.Read[execution.Action](w.Fixture,
		execution.ActionKey(of, a.ID)); x.Status != workflow.Succeeded || got.Status != execution.Succeeded {
		w.Fatalf("%s: %s %s", x.Status, got.Status, got.ErrorMessage)
	}
}

func platformWith(p *platform.Platform, engine *workflow.Embedded) *platform.Platform {
	c := p.Clone()
	c.Workflow = engine
	return c
}

// TestBulk_OfMachinesOfOneOrganizationKeepsNobodyElseWaiting is the same test for clouds where each machine takes a
// call, and the calls wait for rate-limit tokens inside the runs: 2,000 machines of Azure or Google Cloud, and one of
// another organization at the other cloud.
func TestBulk_OfMachinesOfOneOrganizationKeepsNobodyElseWaiting(t *testing.T) {
	if testing.Short() || race.Enabled || tabletest.Limits() != nil {
		t.Skip("stops 2,000 machines: not with -short, nor with the race detector, nor on a store that limits itself")
	}
	shareOutsideBubbles(t)
	for name, other := range map[string]string{"azure": "gcp", "gcp": "azure"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fleets[name].keepsNobodyWaiting(t, fleets[other]) })
		})
	}
}

func (f fleet) keepsNobodyWaiting(t *testing.T, other fleet) {
	t.Helper()
	const size = 2_000
	w, way, settle := f.openFleet(t, size)
	otherWay, settleOther := other.fill(5)
	w.e = New(w.e.p, cloud.Providers{
		f.account.Provider: f.provider(way, w), other.account.Provider: other.provider(otherWay, w),
	})
	defer doEvery(transition, settle)()
	defer doEvery(time.Second, settleOther)()
	engine := w.engine()
	alone := w.stopOneOf(engine, other)
	in := w.submitBulk(w.newFlatGroup(size), cloud.Stop)
	w.Must(engine.Start(w.ctx, execution.BulkMachine, in.BulkID, in))
	for _, after := range []time.Duration{time.Second, 5 * time.Second, 10 * time.Second} {
		time.Sleep(after)
		if b := w.bulk(in.BulkID); b.Over() {
			t.Fatal("they had ended before: nothing was shown")
		}
		if took := w.stopOneOf(engine, other); took > alone+time.Second {
			t.Errorf("a single stop takes %s beside the %d of another organization; alone it takes %s", took, size,
				alone)
		}
	}
	w.awaitExecution(engine, in.BulkID)
	if b := w.bulk(in.BulkID); b.Completed != size {
		t.Errorf("%+v", b)
	}
	w.Must(engine.Close())
}
