package aws_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/twin"
	"lamplighter.dev/shared/cloud/cloudtest"
)

// mutations counts the calls that change something.
func mutations(tw *twin.Cloud) func() int {
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
func scaledGroup(tw *twin.Cloud, rules ...twin.ScalingPolicy) (*twin.Group, cloudtest.Autoscaled) {
	g := tw.AddGroup(twin.Group{Name: fmt.Sprint("scaled-", len(rules)), Region: apart, Min: 1, Max: 4, Desired: 2})
	for _, r := range rules {
		r.Group, r.Region = g.Name, apart
		tw.AddScalingPolicy(r)
	}
	return g, cloudtest.Autoscaled{
		Kind: cloud.AWSASG, Region: apart, UID: g.ARN(), Missing: (&twin.Group{Name: "nothing", Region: apart}).ARN(), Unscaled: cloud.AWSEC2,
		Other: func(*testing.T) {
			tw.ChangeLocked(func() { g.Desired, g.Max = g.Desired+1, max(g.Max, g.Desired+1) })
		},
		Mutations: mutations(tw),
		Custom: func(*testing.T) string {
			var others []string
			for _, p := range tw.ScalingPolicies(g.Name) {
				if !strings.HasPrefix(p, cloud.CPURule) {
					others = append(others, p)
				}
			}
			return strings.Join(others, ", ")
		},
	}
}

// apart is a region of which no other group of the contract is.
const apart = "us-west-2"

// autoscaledGroups are what the contract is kept with.
func autoscaledGroups(tw *twin.Cloud) []cloudtest.Autoscaled {
	requests := twin.ScalingPolicy{Name: "requests", Metric: "ALBRequestCountPerTarget", Target: 1000, Cooldown: -1}
	_, bare := scaledGroup(tw)
	_, counted := scaledGroup(tw, requests)
	_, tracked := scaledGroup(tw, requests, twin.ScalingPolicy{Name: "theirs", Metric: "ASGAverageCPUUtilization", Target: 62.5, Cooldown: 60})
	_, ours := scaledGroup(tw, requests, twin.ScalingPolicy{Name: "a"}, twin.ScalingPolicy{Name: cloud.CPURule, Metric: "ASGAverageCPUUtilization", Target: 40, Cooldown: -1})
	return []cloudtest.Autoscaled{bare, counted, tracked, ours}
}

func TestAutoscaling_SetsAllSizesOfAGroupInOneCall(t *testing.T) {
	tw, c := connect(t)
	g, _ := scaledGroup(tw)
	percent := int64(50)
	err := c.(cloud.Autoscaler).SetAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN(), cloud.Autoscaling{Min: 6, Max: 9, Desired: 7, TargetCPUPercent: &percent})
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
	g, _ := scaledGroup(tw, twin.ScalingPolicy{Name: "loose", Metric: "ASGAverageCPUUtilization", Target: 80, Cooldown: -1},
		twin.ScalingPolicy{Name: "strict", Metric: "ASGAverageCPUUtilization", Target: 60, Cooldown: 90})
	a := c.(cloud.Autoscaler)
	got, err := a.ReadAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN())
	if err != nil || got.TargetCPUPercent == nil || *got.TargetCPUPercent != 60 || *got.CooldownSeconds != 90 {
		t.Fatalf("%+v, %v; want the rule that the group obeys", got, err)
	}
	got.Native, got.Max = nil, 8
	if err := a.SetAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN(), got); err != nil || len(tw.ScalingPolicies(g.Name)) != 2 {
		t.Errorf("rules %v, %v; want those of the customer's, which do", tw.ScalingPolicies(g.Name), err)
	}
}

func TestAutoscaling_LeavesTheGroupOfANodeGroupAlone(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(twin.Group{Name: "eks", Region: apart, Min: 1, Max: 1, Desired: 1, Tags: map[string]string{"eks:nodegroup-name": "blue"}})
	err := c.(cloud.Autoscaler).SetAutoscaling(t.Context(), cloud.AWSASG, apart, g.ARN(), cloud.Autoscaling{Min: 2, Max: 2, Desired: 2})
	wantClass(t, "a group of EKS", err, cloud.Unsupported)
}
