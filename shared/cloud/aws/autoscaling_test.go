package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// mutations counts the calls that change something.
func mutations(tw *awstwin.Cloud) func() int {
	return func() int {
		n := 0
		for _, c := range tw.Calls("") {
			_, op, _ := strings.Cut(c.Op, ":")
			if !strings.HasPrefix(op, "Describe") && !strings.HasPrefix(op, "List") && !strings.HasPrefix(op, "Get") {
				n++
			}
		}
		return n
	}
}

// scaledGroup is a group with rules of the customer's.
func scaledGroup(tw *awstwin.Cloud, rules ...awstwin.ScalingPolicy) (*awstwin.Group, cloudtest.Autoscaled) {
	g := tw.AddGroup(awstwin.Group{Name: fmt.Sprint("scaled-", len(rules)), Region: apart, Min: 1, Max: 4, Desired: 2})
	for _, r := range rules {
		r.Group, r.Region = g.Name, apart
		tw.AddScalingPolicy(r)
	}
	return g, cloudtest.Autoscaled{
		Kind: cloud.AWSASG, Region: apart, UID: g.ARN(),
		Missing:  (&awstwin.Group{Name: "nothing", Region: apart}).ARN(),
		Unscaled: cloud.AWSEC2,
		Other: func(*testing.T) {
			tw.ChangeLocked(func() { g.Desired, g.Max = g.Desired+1, max(g.Max, g.Desired+1) })
		},
		Mutations: mutations(tw),
		Custom:    customRules(tw, g.Name),
	}
}

// apart is a region with no other group of the contract.
const apart = "us-west-2"

// autoscaledGroups are the groups that the contract runs with.
func autoscaledGroups(tw *awstwin.Cloud) []cloudtest.Autoscaled {
	requests := awstwin.ScalingPolicy{Name: "requests", Metric: "ALBRequestCountPerTarget", Target: 1000, Cooldown: -1}
	_, bare := scaledGroup(tw)
	_, counted := scaledGroup(tw, requests)
	_, tracked := scaledGroup(tw, requests,
		awstwin.ScalingPolicy{Name: "theirs", Metric: "ASGAverageCPUUtilization", Target: 62.5, Cooldown: 60})
	_, ours := scaledGroup(tw, requests, awstwin.ScalingPolicy{Name: "a"},
		awstwin.ScalingPolicy{Name: cloud.CPURule, Metric: "ASGAverageCPUUtilization", Target: 40, Cooldown: -1})
	return []cloudtest.Autoscaled{
		bare, counted, tracked, ours, scaledService(tw, "bare", nil),
		scaledService(tw, "bounded", &awstwin.ScalableTarget{Min: 1, Max: 4, Scheduled: true}),
		scaledService(tw, "counted", &awstwin.ScalableTarget{Min: 1, Max: 4},
			awstwin.ScalingPolicy{
				Name: "memory", Metric: "ECSServiceAverageMemoryUtilization", Target: 70,
				Cooldown: -1,
			}),
		scaledService(tw, "tracked", &awstwin.ScalableTarget{Min: 1, Max: 4},
			awstwin.ScalingPolicy{Name: "theirs", Metric: serviceCPU, Target: 45, Cooldown: 30}),
	}
}

const serviceCPU = "ECSServiceAverageCPUUtilization"

// scaledService is a service with rules of the customer's, and with a scalable target unless target is nil.
func scaledService(tw *awstwin.Cloud, name string, target *awstwin.ScalableTarget,
	rules ...awstwin.ScalingPolicy,
) cloudtest.Autoscaled {
	s := tw.AddService(awstwin.Service{Cluster: "scaled", Name: name, Region: apart, Desired: 2})
	resource := "service/scaled/" + name
	if target != nil {
		target.Resource, target.Region = resource, apart
		tw.AddTarget(*target)
	}
	for _, r := range rules {
		r.Group, r.Region = resource, apart
		tw.AddScalingPolicy(r)
	}
	return cloudtest.Autoscaled{
		Kind: cloud.AWSECS, Region: apart, UID: s.UID(),
		Missing:  (&awstwin.Service{Cluster: "scaled", Name: "nothing", Region: apart}).UID(),
		Unscaled: cloud.AWSEC2, Fixed: target == nil, Mutations: mutations(tw), Custom: customRules(tw, resource),
		Other: func(*testing.T) { tw.ChangeLocked(func() { s.Desired++ }) },
	}
}

// customRules returns the rules of a group that are not ours.
func customRules(tw *awstwin.Cloud, group string) func(*testing.T) string {
	return func(*testing.T) string {
		return strings.Join(slices.DeleteFunc(tw.ScalingPolicies(group), func(p string) bool {
			return strings.HasPrefix(p, cloud.CPURule)
		}), ", ")
	}
}

func TestAutoscaling_TakesNoScalableTargetOfTheCustomersAway(t *testing.T) {
	tw, c := connect(t)
	g := scaledService(tw, "bare", nil)
	a, name := c.(cloud.Autoscaler), "service/scaled/bare"
	found, err := a.ReadAutoscaling(t.Context(), g.Kind, apart, g.UID)
	if err != nil {
		t.Fatal(err)
	}
	set := func(want cloud.Autoscaling) {
		t.Helper()
		if err := a.SetAutoscaling(t.Context(), g.Kind, apart, g.UID, want); err != nil {
			t.Fatal(err)
		}
	}
	set(cloud.Autoscaling{Min: 2, Max: 5, Desired: 3})
	if tw.Target(name) == nil {
		t.Fatal("nothing keeps the bounds")
	}
	set(found)
	if tw.Target(name) != nil {
		t.Error("the scalable target that was made here is left")
	}
	set(cloud.Autoscaling{Min: 2, Max: 5, Desired: 3})
	tw.AddScalingPolicy(awstwin.ScalingPolicy{
		Group: name, Region: apart, Name: "theirs", Metric: serviceCPU,
		Target:   45,
		Cooldown: 30,
	})
	set(found)
	if tw.Target(name) == nil || len(tw.ScalingPolicies(name)) != 1 {
		t.Error("the customer's rule went with its scalable target")
	}
}

func TestAutoscaling_SetsAllSizesOfAGroupInOneCall(t *testing.T) {
	tw, c := connect(t)
	g, _ := scaledGroup(tw)
	percent := int64(50)
	err := c.(cloud.Autoscaler).SetAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN(),
		cloud.Autoscaling{Min: 6, Max: 9, Desired: 7, TargetCPUPercent: &percent})
	if err != nil || g.Size() != "6/9/7" {
		t.Fatalf("%s, %v; want 6/9/7", g.Size(), err)
	}
	if n := len(tw.Calls("autoscaling:UpdateAutoScalingGroup")); n != 1 {
		t.Errorf("%d calls for the sizes; want 1: AWS refuses a desired above the maximum", n)
	}
	if got := tw.ScalingPolicies(g.Name); len(got) != 1 || got[0] != "lamplighter-cpu ASGAverageCPUUtilization 50 -1" {
		t.Errorf("rules %v; want one of ours", got)
	}
}

func TestAutoscaling_TellsTheCustomersRuleAndMakesNoSecondOne(t *testing.T) {
	tw, c := connect(t)
	g, _ := scaledGroup(tw,
		awstwin.ScalingPolicy{Name: "loose", Metric: "ASGAverageCPUUtilization", Target: 80, Cooldown: -1},
		awstwin.ScalingPolicy{Name: "strict", Metric: "ASGAverageCPUUtilization", Target: 60, Cooldown: 90})
	a := c.(cloud.Autoscaler)
	got, err := a.ReadAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN())
	if err != nil || got.TargetCPUPercent == nil || *got.TargetCPUPercent != 60 || *got.CooldownSeconds != 90 {
		t.Fatalf("%+v, %v; want the rule that the group obeys", got, err)
	}
	got.Native, got.Max = nil, 8
	if err := a.SetAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN(), got); err != nil ||
		len(tw.ScalingPolicies(g.Name)) != 2 {
		t.Errorf("rules %v, %v; want those of the customer's, which do", tw.ScalingPolicies(g.Name), err)
	}
}

func TestAutoscaling_LeavesTheGroupOfANodeGroupAlone(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(awstwin.Group{
		Name: "eks", Region: apart, Min: 1, Max: 1, Desired: 1,
		Tags: map[string]string{"eks:nodegroup-name": "blue"},
	})
	err := c.(cloud.Autoscaler).SetAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN(),
		cloud.Autoscaling{Min: 2, Max: 2, Desired: 2})
	wantClass(t, "a group of EKS", err, cloud.Unsupported)
}
