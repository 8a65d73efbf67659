package aws_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// results acts on the ids and returns the error of each; nil is success.
func results(t *testing.T, c cloud.Conn, v cloud.Verb, ids []string) map[string]error {
	t.Helper()
	targets := make([]cloud.Target, len(ids))
	for i, id := range ids {
		targets[i].UID = id
	}
	out := map[string]error{}
	for _, r := range c.Act(t.Context(), v, "aws-ec2", region, targets) {
		out[r.UID] = r.Err
	}
	return out
}

func TestOneBadInstanceDoesNotKeepABatchFromBeingStopped(t *testing.T) {
	tests := map[string]struct {
		bad   awstwin.Instance
		id    string
		class cloud.Class
		calls int // one call that fails, and one for the rest
	}{
		"one that does not exist":  {id: awstwin.InstanceID(9999), class: cloud.NotFound, calls: 2},
		"one that is no id at all": {id: "i-nonsense", class: cloud.NotFound, calls: 2},
		"one that is terminated":   {bad: awstwin.Instance{State: "terminated"}, class: cloud.Moving, calls: 2},
		"one that is protected": {
			bad: awstwin.Instance{StopProtected: true}, class: cloud.Unsupported,
			calls: 2,
		},
		"one that a policy keeps for it": {bad: awstwin.Instance{NoPermission: true}, class: cloud.Denied, calls: 2},
		"one of a one-time spot request": {
			bad:   awstwin.Instance{SpotRequest: "sir-1", SpotType: "one-time"},
			class: cloud.Unsupported, calls: 2,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			ids := fleet(tw, 40, awstwin.Instance{})
			bad := tt.id
			if bad == "" {
				tt.bad.ID, tt.bad.Region = awstwin.InstanceID(5000), region
				bad = tw.AddInstance(tt.bad).ID
			}
			got := results(t, c, cloud.Stop, append(ids, bad))
			wantClass(t, "stop of "+bad, got[bad], tt.class)
			if n := len(tw.Calls("ec2:StopInstances")); n != tt.calls {
				t.Errorf("%d calls of StopInstances; want %d", n, tt.calls)
			}
			for _, id := range ids {
				if got[id] != nil || state(t, c, "aws-ec2", id).Status != cloud.Stopping {
					t.Fatalf("stop of %s beside a bad one: %v", id, got[id])
				}
			}
		})
	}
}

func fleet(tw *awstwin.Cloud, n int, like awstwin.Instance) []string {
	ids := make([]string, n)
	for i := range ids {
		like.ID, like.Region = awstwin.InstanceID(i), region
		ids[i] = tw.AddInstance(like).ID
	}
	return ids
}

// AWS does not say which instance of a batch lacks capacity, so the batch is halved until the instance is alone.
func TestAnInstanceWithoutCapacityIsFoundByHalving(t *testing.T) {
	tw, c := connect(t)
	ids := fleet(tw, 32, awstwin.Instance{State: "stopped"})
	full := tw.AddInstance(awstwin.Instance{
		ID: awstwin.InstanceID(77), Region: region, State: "stopped",
		NoCapacity: true,
		Type:       "p5.48xlarge",
	}).ID
	got := results(t, c, cloud.Start, append(ids, full))
	wantClass(t, "start without capacity", got[full], cloud.NoCapacity)
	if !strings.Contains(fmt.Sprint(got[full]), "p5.48xlarge capacity") {
		t.Errorf("the error %v does not say it in AWS's words", got[full])
	}
	for _, id := range ids {
		if got[id] != nil {
			t.Errorf("start of %s beside one without capacity: %v", id, got[id])
		}
	}
	if n := len(tw.Calls("ec2:StartInstances")); n > 13 {
		t.Errorf("%d calls to find one of 33; want about 2 for each halving", n)
	}
}

// A denial without an instance's name concerns all instances: halving would only repeat it a hundred times.
func TestADenialOfEverythingCostsOneCall(t *testing.T) {
	tw, c := connect(t)
	ids := fleet(tw, 100, awstwin.Instance{})
	tw.AddFault(awstwin.Fault{
		Op: "ec2:StopInstances", Code: "UnauthorizedOperation",
		Message: "You are not authorized to perform this operation.", Status: 403, Times: -1,
	})
	for id, err := range results(t, c, cloud.Stop, ids) {
		wantClass(t, "stop of "+id, err, cloud.Denied)
	}
	if n := len(tw.Calls("ec2:StopInstances")); n != 1 {
		t.Errorf("%d calls; want 1", n)
	}
}

func TestInstancesAreActedOnInLargeBatches(t *testing.T) {
	tw, c := connect(t)
	ids := fleet(tw, 1000, awstwin.Instance{})
	for id, err := range results(t, c, cloud.Stop, ids) {
		if err != nil {
			t.Fatalf("stop of %s: %v", id, err)
		}
	}
	if n := len(tw.Calls("ec2:StopInstances")); n != 2 {
		t.Errorf("%d calls for 1,000 instances; want 2", n)
	}
	tw.ForgetCalls()
	if got, err := c.Read(t.Context(), "aws-ec2", region,
		append(ids, awstwin.InstanceID(5000), "i-nonsense")); err != nil || len(got) != 1000 {
		t.Errorf("Read = %d states, %v; want 1,000", len(got), err)
	}
	if n := len(tw.Calls("ec2:DescribeInstances")); n > 5 {
		t.Errorf("%d calls to read 1,002 ids of which two are bad; want at most 5", n)
	}
}

// A verification's answer is a tenth as large as a description's, and a call takes 100 ids. An account without its
// permission reads instead.
func TestInstancesAreVerifiedByTheirStatesAlone(t *testing.T) {
	tw, c := connect(t)
	ids := fleet(tw, 1000, awstwin.Instance{State: "stopping"})
	v := c.(cloud.Verifier)
	verify := func(what string) {
		t.Helper()
		got, err := v.Verify(t.Context(), "aws-ec2", region, append(ids, awstwin.InstanceID(5000), "i-nonsense"))
		if err != nil || len(got) != 1000 {
			t.Fatalf("%s: %d states, %v; want 1,000", what, len(got), err)
		}
		for _, s := range got {
			if s.Status != cloud.Stopping || s.Native != "stopping" {
				t.Fatalf("%s: %+v", what, s)
			}
		}
	}
	verify("by states")
	if n, m := len(tw.Calls("ec2:DescribeInstanceStatus")), len(tw.Calls("ec2:DescribeInstances")); n > 13 || m > 0 {
		t.Errorf("%d calls for states and %d for descriptions; want 11, two of them again for a bad id, and none", n, m)
	}
	tw.AddFault(awstwin.Fault{
		Op: "ec2:DescribeInstanceStatus", Code: "UnauthorizedOperation", Message: "no",
		Status: 403,
		Times:  -1,
	})
	verify("by descriptions")
}

func TestAnInstanceThatMovesAwayIsToBeReadAgain(t *testing.T) {
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{State: "stopping"})[0]
	wantClass(t, "start while stopping", act(t, c, cloud.Start, "aws-ec2", cloud.Target{UID: id}), cloud.Moving)
	tw.SettleAll()
	if err := act(t, c, cloud.Start, "aws-ec2", cloud.Target{UID: id}); err != nil {
		t.Errorf("start after it stopped: %v", err)
	}
}

func TestAStartThatFallsBackSaysWhy(t *testing.T) {
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{State: "stopped", BrokenKey: true})[0]
	if err := act(t, c, cloud.Start, "aws-ec2", cloud.Target{UID: id}); err != nil {
		t.Fatal(err)
	}
	if s := state(t, c, "aws-ec2", id); s.Status != cloud.Starting {
		t.Errorf("status %s right after the start; want starting", s.Status)
	}
	tw.SettleAll()
	if s := state(t, c, "aws-ec2", id); s.Status != cloud.Stopped || s.NoCapacity ||
		!strings.Contains(s.Reason, "Client.InternalError") {
		t.Errorf("after it fell back: %+v; want stopped with AWS's reason", s)
	}
}

func TestAStartThatFallsBackForWantOfRoomIsToldFromOthers(t *testing.T) {
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{State: "stopped", CrowdedOut: true})[0]
	if err := act(t, c, cloud.Start, "aws-ec2", cloud.Target{UID: id}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if s := state(t, c, "aws-ec2", id); s.Status != cloud.Stopped || !s.NoCapacity ||
		!strings.Contains(s.Reason, "InsufficientInstanceCapacity") {
		t.Errorf("after it fell back: %+v; want stopped for want of room", s)
	}
}

func TestStatesOfInstances(t *testing.T) {
	for native, want := range map[string]cloud.Status{
		"pending": cloud.Starting, "running": cloud.Running, "stopping": cloud.Stopping, "stopped": cloud.Stopped,
		"shutting-down": cloud.Terminated, "terminated": cloud.Terminated,
	} {
		tw, c := connect(t)
		id := fleet(tw, 1, awstwin.Instance{State: native})[0]
		if s := state(t, c, "aws-ec2", id); s.Status != want || s.Native != native {
			t.Errorf("%s reads as %s (%s); want %s", native, s.Status, s.Native, want)
		}
	}
}

// The stop takes effect and only its answer is lost. The next read shows the state.
func TestALostAnswerIsTransient(t *testing.T) {
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{})[0]
	tw.AddFault(awstwin.Fault{Op: "ec2:StopInstances", Lost: true, Times: -1})
	wantClass(t, "stop without an answer", act(t, c, cloud.Stop, "aws-ec2", cloud.Target{UID: id}), cloud.Transient)
	if s := state(t, c, "aws-ec2", id); s.Status != cloud.Stopping {
		t.Errorf("status %s; want stopping", s.Status)
	}
}

func TestAListedInstanceIsDescribed(t *testing.T) {
	tw, c := connect(t)
	tw.AddInstance(awstwin.Instance{
		ID: awstwin.InstanceID(1), Region: region, Name: "web",
		Tags: map[string]string{"env": "dev"},
	})
	p, err := c.List(t.Context(), "aws-ec2", region, "")
	if err != nil || len(p.Resources) != 1 {
		t.Fatalf("List = %+v, %v", p, err)
	}
	r := p.Resources[0]
	if r.Name != "web" || r.Tags["env"] != "dev" || r.InstanceType != "t3.large" || r.Capacity["vCPU"] != 2 ||
		r.Zone != region+"a" || r.CreatedAt.Year() != 2026 {
		t.Errorf("listed as %+v", r)
	}
}

// Hibernation keeps the memory billed, and a forced stop may lose data. A stop requests neither.
func TestAStopIsAPlainStop(t *testing.T) {
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{})[0]
	if err := act(t, c, cloud.Stop, "aws-ec2", cloud.Target{UID: id}); err != nil {
		t.Fatal(err)
	}
	for _, k := range tw.Calls("ec2:StopInstances") {
		if k.Params["Hibernate"] != nil || k.Params["Force"] != nil || k.Params["InstanceId.1"] != id {
			t.Errorf("StopInstances was called with %v", k.Params)
		}
	}
}

func BenchmarkStopAThousandInstances(b *testing.B) {
	tw := &awstwin.Cloud{}
	ids := fleet(tw, 1000, awstwin.Instance{})
	targets := make([]cloud.Target, len(ids))
	for i, id := range ids {
		targets[i].UID = id
	}
	c, err := aws.New(options(tw)).Connect(b.Context(), keys(awstwin.AccessKey))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range c.Act(b.Context(), cloud.Stop, "aws-ec2", region, targets) {
			if r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	}
	b.ReportMetric(float64(len(tw.Calls("ec2:StopInstances")))/float64(b.N), "calls/op")
}

// An instance that a stop would harm, or that AWS cannot stop, is refused before any request to stop it.
func TestAnInstanceThatAStopWouldHarmIsRefused(t *testing.T) {
	for says, i := range map[string]awstwin.Instance{
		"member of Auto Scaling group web, which would replace it: act on the group": {
			Tags: map[string]string{"aws:autoscaling:groupName": "web"},
		},
		"spot instance of a one-time request, which cannot be stopped": {
			SpotRequest: "sir-2",
			SpotType:    "one-time",
		},
		"its root device is an instance store, which a stop would erase": {InstanceStore: true},
		"managed by eks.amazonaws.com: only that service may stop it":    {Operator: "eks.amazonaws.com"},
	} {
		t.Run(says, func(t *testing.T) {
			tw, c := connect(t)
			id := fleet(tw, 1, i)[0]
			if s := state(t, c, "aws-ec2", id); s.Unschedulable != says {
				t.Errorf("it reads as unschedulable because %q", s.Unschedulable)
			}
		})
	}
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{SpotRequest: "sir-1", SpotType: "persistent"})[0]
	if err := act(t, c, cloud.Stop, "aws-ec2", cloud.Target{UID: id}); err != nil ||
		state(t, c, "aws-ec2", id).Unschedulable != "" {
		t.Errorf("a spot instance of a persistent request: %v, %+v", err, state(t, c, "aws-ec2", id))
	}
}

// Protection against stops is its owner's decision. The error names it; the stop neither removes it nor uses force.
func TestAnInstanceThatIsProtectedAgainstStopsStaysSo(t *testing.T) {
	tw, c := connect(t)
	id := fleet(tw, 1, awstwin.Instance{StopProtected: true})[0]
	err := act(t, c, cloud.Stop, "aws-ec2", cloud.Target{UID: id})
	wantClass(t, "stop", err, cloud.Unsupported)
	if err != nil && !strings.Contains(err.Error(), "disableApiStop") {
		t.Errorf("the refusal is told as %q", err)
	}
	for _, k := range tw.Calls("") {
		if strings.Contains(k.Op, "Modify") || k.Params["Force"] == "true" || k.Params["SkipOsShutdown"] == "true" {
			t.Errorf("%s was called with %v", k.Op, k.Params)
		}
	}
}
