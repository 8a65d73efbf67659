package aws_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// settled advances the cloud until the slowest change has ended.
func settled(tw *awstwin.Cloud) {
	for range 4 {
		tw.SettleAll()
	}
}

// stopAndStart stops a resource, starts it with the snapshot of its live state, and returns that snapshot.
func stopAndStart(t *testing.T, tw *awstwin.Cloud, c cloud.Conn, kind, uid string) json.RawMessage {
	t.Helper()
	before := state(t, c, kind, uid).Snapshot
	if err := act(t, c, cloud.Stop, kind, cloud.Target{UID: uid}); err != nil {
		t.Fatalf("stop: %v", err)
	}
	settled(tw)
	if s := state(t, c, kind, uid); s.Status != cloud.Stopped || s.Snapshot != nil {
		t.Fatalf("after the stop: %+v; want stopped, with nothing to remember", s)
	}
	if err := act(t, c, cloud.Start, kind, cloud.Target{UID: uid, Snapshot: before}); err != nil {
		t.Fatalf("start: %v", err)
	}
	settled(tw)
	return before
}

func TestAGroupKeepsTheSuspensionsOfItsOwner(t *testing.T) {
	for _, owners := range [][]string{
		{},
		{"ScheduledActions"},
		{"AlarmNotification", "ScheduledActions"},
		{"AZRebalance", "AlarmNotification"},
	} {
		t.Run(fmt.Sprint(owners), func(t *testing.T) {
			tw, c := connect(t)
			g := tw.AddGroup(awstwin.Group{
				Name: "web", Region: region, Min: 2, Max: 7, Desired: 3,
				Suspended: slices.Clone(owners),
			})
			before := state(t, c, "aws-asg", g.ARN()).Snapshot
			if err := act(t, c, cloud.Stop, "aws-asg", cloud.Target{UID: g.ARN()}); err != nil {
				t.Fatal(err)
			}
			if g.Size() != "0/0/0" || !slices.Contains(g.Suspended, "ScheduledActions") ||
				!slices.Contains(g.Suspended, "AlarmNotification") {
				t.Errorf("stopped as %s with %v suspended", g.Size(), g.Suspended)
			}
			if err := act(t, c, cloud.Start, "aws-asg", cloud.Target{UID: g.ARN(), Snapshot: before}); err != nil {
				t.Fatal(err)
			}
			slices.Sort(g.Suspended)
			slices.Sort(owners)
			if g.Size() != "2/7/3" || !slices.Equal(g.Suspended, owners) {
				t.Errorf("started as %s with %v suspended; want 2/7/3 with %v", g.Size(), g.Suspended, owners)
			}
		})
	}
}

// Both acts make their two calls in such an order that, after a crash between them, the act is done again.
func TestAGroupThatIsHalfStoppedStillRuns(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(awstwin.Group{Name: "web", Region: region, Min: 1, Max: 3, Desired: 2})
	before := state(t, c, "aws-asg", g.ARN()).Snapshot
	tw.AddFault(awstwin.Fault{
		Op: "autoscaling:UpdateAutoScalingGroup", Code: "ResourceContention",
		Message: "You already have a pending update", Status: 500, Times: -1,
	})
	wantClass(t, "stop with a failing second call", act(t, c, cloud.Stop, "aws-asg", cloud.Target{UID: g.ARN()}),
		cloud.Transient)
	if s := state(t, c, "aws-asg", g.ARN()); s.Status != cloud.Running {
		t.Errorf("half stopped it reads %s; want running", s.Status)
	}
	tw.EndFaults()
	_ = act(t, c, cloud.Stop, "aws-asg", cloud.Target{UID: g.ARN()})
	settled(tw)
	tw.AddFault(awstwin.Fault{
		Op: "autoscaling:UpdateAutoScalingGroup", Code: "ResourceContention",
		Message: "You already have a pending update", Status: 500, Times: -1,
	})
	_ = act(t, c, cloud.Start, "aws-asg", cloud.Target{UID: g.ARN(), Snapshot: before})
	if s := state(t, c, "aws-asg", g.ARN()); s.Status != cloud.Stopped {
		t.Errorf("half started it reads %s; want stopped", s.Status)
	}
}

func TestAGroupThatCannotArriveSaysWhy(t *testing.T) {
	tw, c := connect(t)
	held := tw.AddGroup(awstwin.Group{Name: "held", Region: region, Min: 1, Max: 3, Desired: 2, Protected: true})
	short := tw.AddGroup(awstwin.Group{Name: "short", Region: region, Min: 1, Max: 3, Desired: 1, NoCapacity: true})
	tw.ChangeLocked(func() { short.Desired = 2 })
	_ = act(t, c, cloud.Stop, "aws-asg", cloud.Target{UID: held.ARN()})
	settled(tw)
	if s := state(t, c, "aws-asg", held.ARN()); s.Status != cloud.Stopping ||
		!strings.Contains(s.Reason, "protected from scale-in") {
		t.Errorf("with protected instances: %+v", s)
	}
	hooked := tw.AddGroup(awstwin.Group{Name: "hooked", Region: region, Desired: 0})
	tw.ChangeLocked(func() { hooked.Instances = []string{"Terminating:Wait"} })
	if s := state(t, c, "aws-asg", hooked.ARN()); s.Status != cloud.Stopping ||
		!strings.Contains(s.Reason, "is in Terminating:Wait") {
		t.Errorf("with a lifecycle hook: %+v", s)
	}
	if s := state(t, c, "aws-asg", short.ARN()); s.Status != cloud.Starting ||
		s.Reason != "1 of 2 instances are in service" {
		t.Errorf("without capacity: %+v", s)
	}
}

// TestStart_InventsNoSize starts resources without a remembered size. A minimum of a service's scaling is a size that
// its owner has set.
func TestStart_InventsNoSize(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(awstwin.Group{Name: "web", Region: region, Max: 5})
	api := tw.AddService(awstwin.Service{Cluster: "shop", Name: "api", Region: region})
	again := tw.AddService(awstwin.Service{Cluster: "shop", Name: "again", Region: region})
	scaled := tw.AddService(awstwin.Service{Cluster: "shop", Name: "scaled", Region: region})
	tw.AddTarget(awstwin.ScalableTarget{Resource: "service/shop/scaled", Region: region, Min: 3, Max: 9})
	n := tw.AddNodegroup(awstwin.Nodegroup{Cluster: "prod", Name: "blue", Region: region, Max: 4})
	for name, start := range map[string]struct{ kind, uid, memory string }{
		"a group":                       {"aws-asg", g.ARN(), ""},
		"a service":                     {"aws-ecs", api.UID(), ""},
		"a service that was made again": {"aws-ecs", again.UID(), `{"desired":5,"made":1700000000}`},
		"a node group":                  {"aws-eks-nodegroup", n.ARN(), ""},
	} {
		err := act(t, c, cloud.Start, start.kind, cloud.Target{UID: start.uid, Snapshot: []byte(start.memory)})
		wantClass(t, "start of "+name, err, cloud.Unsupported)
		if err == nil || !strings.Contains(err.Error(), "has the size 0, and none is remembered") {
			t.Errorf("start of %s: %v", name, err)
		}
	}
	if g.Size() != "0/5/0" || api.Desired+again.Desired+n.Desired != 0 {
		t.Errorf("started at %s, %d, %d and %d; want none", g.Size(), api.Desired, again.Desired, n.Desired)
	}
	if err := act(t, c, cloud.Start, "aws-ecs", cloud.Target{UID: scaled.UID()}); err != nil || scaled.Desired != 3 {
		t.Errorf("a service of the minimum 3: %v, %d", err, scaled.Desired)
	}
	wantClass(t, "start with a broken memory",
		act(t, c, cloud.Start, "aws-asg", cloud.Target{UID: g.ARN(), Snapshot: []byte(`[`)}), cloud.Invalid)
}

func TestAServiceIsNotRaisedBehindOurBack(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(awstwin.Service{Cluster: "shop", Name: "api", Region: region, Desired: 4})
	target := tw.AddTarget(awstwin.ScalableTarget{
		Resource: "service/shop/api", Region: region, Min: 2, Max: 9,
		Scheduled: true,
	})
	before := state(t, c, "aws-ecs", s.UID()).Snapshot
	if err := act(t, c, cloud.Stop, "aws-ecs", cloud.Target{UID: s.UID()}); err != nil {
		t.Fatal(err)
	}
	if tw.RunAutoScaling(); s.Desired != 0 || !target.In || !target.Out || !target.Scheduled {
		t.Errorf("after scaling had its turn: desired %d, target %+v; want 0 and all suspended", s.Desired, target)
	}
	if err := act(t, c, cloud.Start, "aws-ecs", cloud.Target{UID: s.UID(), Snapshot: before}); err != nil {
		t.Fatal(err)
	}
	if s.Desired != 4 || target.In || target.Out || !target.Scheduled || target.Min != 2 || target.Max != 9 {
		t.Errorf("started: desired %d, target %+v; want all as before", s.Desired, target)
	}
	calls := tw.Calls("")
	suspend := slices.IndexFunc(calls, func(k awstwin.Call) bool {
		return k.Op == "application-autoscaling:RegisterScalableTarget"
	})
	zero := slices.IndexFunc(calls, func(k awstwin.Call) bool { return k.Op == "ecs:UpdateService" })
	if suspend < 0 || zero < suspend {
		t.Errorf("scaling was suspended at call %d, the count set at %d", suspend, zero)
	}
}

func TestADaemonServiceIsRefused(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(awstwin.Service{Cluster: "shop", Name: "agent", Region: region, Desired: 2, Daemon: true})
	wantClass(t, "stop of a daemon service", act(t, c, cloud.Stop, "aws-ecs", cloud.Target{UID: s.UID()}),
		cloud.Unsupported)
	if s.Desired != 2 {
		t.Errorf("desired %d; want 2", s.Desired)
	}
}

func TestAServiceWithoutScalingHasNoBounds(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(awstwin.Service{Cluster: "shop", Name: "api", Region: region, Desired: 2})
	two := int64(2)
	wantClass(t, "a maximum for it", c.Scale(t.Context(), "aws-ecs", region, s.UID(), cloud.Capacity{Max: &two}),
		cloud.Unsupported)
}

func TestANodegroupKeepsItsMaximum(t *testing.T) {
	tw, c := connect(t)
	n := tw.AddNodegroup(awstwin.Nodegroup{Cluster: "prod", Name: "blue", Region: region, Min: 2, Max: 6, Desired: 3})
	stopAndStart(t, tw, c, "aws-eks-nodegroup", n.ARN())
	if n.Min != 2 || n.Max != 6 || n.Desired != 3 {
		t.Errorf("came back as %d/%d/%d; want 2/6/3", n.Min, n.Max, n.Desired)
	}
	first := tw.Calls("eks:UpdateNodegroupConfig")[0].Params["scalingConfig"].(map[string]any)
	if first["minSize"] != 0.0 || first["desiredSize"] != 0.0 || first["maxSize"] != 6.0 {
		t.Errorf("stopped with %v; want 0, 0 and the maximum as it was, in one call", first)
	}
}

func TestANodegroupThatIsUpdatedIsToBeReadAgain(t *testing.T) {
	tw, c := connect(t)
	n := tw.AddNodegroup(awstwin.Nodegroup{Cluster: "prod", Name: "blue", Region: region, Min: 1, Max: 3, Desired: 2})
	before := state(t, c, "aws-eks-nodegroup", n.ARN()).Snapshot
	_ = act(t, c, cloud.Stop, "aws-eks-nodegroup", cloud.Target{UID: n.ARN()})
	s := state(t, c, "aws-eks-nodegroup", n.ARN())
	if s.Status != cloud.Stopping || !strings.Contains(s.Reason, "update-1: InProgress") {
		t.Errorf("while it is updated: %+v", s)
	}
	wantClass(t, "a second update",
		act(t, c, cloud.Start, "aws-eks-nodegroup", cloud.Target{UID: n.ARN(), Snapshot: before}), cloud.Moving)
}

func TestAnUnhealthyNodegroupSaysWhy(t *testing.T) {
	tw, c := connect(t)
	n := tw.AddNodegroup(awstwin.Nodegroup{
		Cluster: "prod", Name: "blue", Region: region, Min: 1, Max: 3, Desired: 2,
		Status: "DEGRADED", Issue: "AsgInstanceLaunchFailures",
	})
	s := state(t, c, "aws-eks-nodegroup", n.ARN())
	if s.Status != cloud.Unknown || !strings.HasPrefix(s.Reason, "AsgInstanceLaunchFailures: ") {
		t.Errorf("with a health issue: %+v", s)
	}
}

func TestSizesThatContradictThemselvesAreNotSent(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(awstwin.Group{Name: "web", Region: region, Min: 1, Max: 3, Desired: 2})
	num := func(n int64) *int64 { return &n }
	for what, want := range map[string]cloud.Capacity{
		"desired above the maximum": {Desired: num(4)}, "desired below the minimum": {Desired: num(0)},
		"a negative size": {Min: num(-1)}, "a size beyond all bounds": {Max: num(1 << 40)},
	} {
		wantClass(t, what, c.Scale(t.Context(), "aws-asg", region, g.ARN(), want), cloud.Invalid)
	}
	if n := len(tw.Calls("autoscaling:UpdateAutoScalingGroup")); n != 0 || g.Size() != "1/3/2" {
		t.Errorf("%d calls, size %s", n, g.Size())
	}
}
