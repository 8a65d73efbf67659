package executor

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// listedResource lists a kind of the first account into the inventory, and gives the one resource that there is.
func (w *awsFixture) listedResource(kind string) inventory.Resource {
	w.Helper()
	a := w.accounts[awstwin.AccessKey]
	conn := apitest.Value(w.e.newClouds().Connect(w.ctx, org, a))(w)
	page := apitest.Value(conn.List(w.ctx, kind, "eu-west-1", ""))(w)
	scan := inventory.Scan{Partition: inventory.Partition{
		AccountID: a.ID, Provider: aws.Name, Region: "eu-west-1",
		Kind: kind,
	}, ID: "first", Started: noon}
	apitest.Value(w.e.inventory.UpsertScanned(w.ctx, org,
		inventory.Batch{Scan: scan, At: noon.Add(-time.Minute), Resources: page.Resources}))(w)
	if len(page.Resources) != 1 {
		w.Fatalf("%d of %s", len(page.Resources), kind)
	}
	return w.resource(page.Resources[0].UID)
}

// mutatingCalls returns the calls that change something.
func mutatingCalls(tw *awstwin.Cloud) (ops []string) {
	for _, k := range tw.Calls("") {
		if _, op, _ := strings.Cut(k.Op, ":"); !strings.HasPrefix(op, "Describe") && !strings.HasPrefix(op, "List") &&
			!strings.HasPrefix(op, "Get") {
			ops = append(ops, k.Op)
		}
	}
	return ops
}

func TestOnAWS_WhatIsAlreadySoCostsNoMutatingCall(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		w.first.AddDatabase(awstwin.Database{ID: "orders", Region: "eu-west-1", Engine: "postgres", Status: "stopped"})
		for _, c := range []struct {
			r    inventory.Resource
			verb cloud.Verb
		}{
			{w.instance(awstwin.AccessKey, awstwin.Instance{State: "stopped"}), cloud.Stop},
			{w.instance(awstwin.AccessKey, awstwin.Instance{}), cloud.Start},
			{w.listedResource(cloud.AWSRDS), cloud.Stop},
		} {
			if a, _ := w.runToEnd(c.r, c.verb); a.Status != execution.Succeeded || a.Attempts != 0 {
				t.Errorf("%s of %s: %s after %d attempts, %s", c.verb, c.r.UID, a.Status, a.Attempts, a.ErrorMessage)
			}
		}
		if ops := mutatingCalls(w.first); len(ops) > 0 {
			t.Errorf("asked for %v", ops)
		}
	})
}

// RDS refuses to stop a database that somebody else has stopped since the last look.
func TestOnAWS_AWrongStateIsReadAgainAndSucceeds(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		d := w.first.AddDatabase(awstwin.Database{ID: "orders", Region: "eu-west-1", Engine: "postgres"})
		r := w.listedResource(cloud.AWSRDS)
		w.first.AddFault(awstwin.Fault{
			Op: "rds:StopDBInstance", Code: "InvalidDBInstanceState",
			Message: "Instance orders is not in available state.", Status: 400, Times: 1,
		})
		a := w.submit(r, cloud.Stop)
		apitest.Value(w.e.RunActions(w.ctx,
			execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}))(w)
		w.first.ChangeLocked(func() { d.Status = "stopped" })
		w.runOut(a.ID)
		if a = w.action(a.ID); a.Status != execution.Succeeded || len(w.first.Calls("rds:StopDBInstance")) != 1 {
			t.Errorf("%s: %s; %d stops", a.Status, a.ErrorMessage, len(w.first.Calls("rds:StopDBInstance")))
		}
	})
}

func TestOnAWS_OneBadInstanceOfABatchFailsAlone(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		var actions []string
		for range 20 {
			actions = append(actions, w.submit(w.instance(awstwin.AccessKey, awstwin.Instance{}), cloud.Stop).ID)
		}
		bad := w.submit(w.instance(awstwin.AccessKey, awstwin.Instance{StopProtected: true}), cloud.Stop).ID
		w.runOut(append(actions, bad)...)
		for _, id := range actions {
			if a := w.action(id); a.Status != execution.Succeeded {
				t.Errorf("beside a bad one: %s, %s", a.Status, a.ErrorMessage)
			}
		}
		if a := w.action(bad); a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, "disableApiStop") {
			t.Errorf("the bad one: %s, %s", a.Status, a.ErrorMessage)
		}
	})
}

// A second stop finds 0/0/0 and keeps the snapshot of the first stop.
func TestOnAWS_WhatWasRememberedIsNeverOverwrittenByZero(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		g := w.first.AddGroup(awstwin.Group{Name: "web", Region: "eu-west-1", Min: 2, Max: 7, Desired: 3})
		r := w.listedResource(cloud.AWSASG)
		over := make(chan struct{})
		defer close(over)
		go func() { // instances come and go all the time
			for {
				select {
				case <-over:
					return
				case <-time.After(5 * time.Second):
					w.first.SettleAll()
				}
			}
		}()
		w.first.AddFault(awstwin.Fault{
			Op: "autoscaling:UpdateAutoScalingGroup", Code: "ResourceContention",
			Message: "You already have a pending update", Status: 500, Times: 7,
		})
		for _, verb := range []cloud.Verb{cloud.Stop, cloud.Stop, cloud.Start} {
			if a, _ := w.runToEnd(r, verb); a.Status != execution.Succeeded {
				t.Fatalf("%s: %s, %s", verb, a.Status, a.ErrorMessage)
			}
		}
		if g.Size() != "2/7/3" {
			t.Errorf("came back as %s; want 2/7/3", g.Size())
		}
	})
}

// Instances that a group may not end keep it from arriving: the action fails at its deadline, and says which and why.
func TestOnAWS_WhatKeepsAGroupFromStoppingIsNamed(t *testing.T) {
	onAWS(t, func(w *awsFixture) {
		w.first.AddGroup(awstwin.Group{Name: "web", Region: "eu-west-1", Min: 1, Max: 3, Desired: 2, Protected: true})
		a, took := w.runToEnd(w.listedResource(cloud.AWSASG), cloud.Stop)
		if a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, "protected from scale-in") ||
			took < 15*time.Minute {
			t.Errorf("%s after %s: %s", a.Status, took, a.ErrorMessage)
		}
	})
}
