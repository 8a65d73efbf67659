package awstwin

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// ScalingPolicy is a rule that keeps a metric of an Auto Scaling group, or of a scalable target of an ECS service, at
// a value.
type ScalingPolicy struct {
	Group, Name, Region string // Group is the group's name, or service/<cluster>/<name>
	Metric              string // ASGAverageCPUUtilization, ECSServiceAverageCPUUtilization, …
	Target              float64
	Cooldown            int // EstimatedInstanceWarmup, or both cooldowns; -1 when it has none
}

// AddScalingPolicy adds a policy.
func (c *Cloud) AddScalingPolicy(p ScalingPolicy) *ScalingPolicy {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policies = append(c.policies, &p)
	return &p
}

// ScalingPolicies returns the policies of a group or service, one line each.
func (c *Cloud) ScalingPolicies(group string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []string{}
	for _, p := range c.policies {
		if p.Group == group {
			out = append(out, fmt.Sprintf("%s %s %g %d", p.Name, p.Metric, p.Target, p.Cooldown))
		}
	}
	slices.Sort(out)
	return out
}

func (p *ScalingPolicy) node() node {
	n := newElement("member", newText("AutoScalingGroupName", p.Group), newText("PolicyName", p.Name),
		newText("PolicyType", "TargetTrackingScaling"),
		newElement("TargetTrackingConfiguration", newText("TargetValue", strconv.FormatFloat(p.Target, 'g', -1, 64)),
			newElement("PredefinedMetricSpecification", newText("PredefinedMetricType", p.Metric))))
	if p.Cooldown >= 0 {
		n.kids = append(n.kids, newText("EstimatedInstanceWarmup", strconv.Itoa(p.Cooldown)))
	}
	return n
}

// describePolicies answers with the policies of a group, or of all groups. An answer that a test has set comes first.
func (c *Cloud) describePolicies(q request) (any, *failure) {
	if c.told["autoscaling:DescribePolicies"] != "" {
		return c.tell(q)
	}
	group := q.getString("AutoScalingGroupName")
	found := slices.DeleteFunc(slices.Clone(c.policies), func(p *ScalingPolicy) bool {
		return p.Region != q.region || strings.HasPrefix(p.Group, "service/") || group != "" && p.Group != group
	})
	from, to, next := c.cutPage(q, len(found), "MaxRecords", "NextToken")
	var nodes []node
	for _, p := range found[from:to] {
		nodes = append(nodes, p.node())
	}
	return []node{newItems("ScalingPolicies", "member", nodes), newText("NextToken", next)}, nil
}

// policy returns the index of a policy by group and name.
func (c *Cloud) policy(region, group, name string) int {
	return slices.IndexFunc(c.policies, func(p *ScalingPolicy) bool {
		return p.Region == region && p.Group == group && p.Name == name
	})
}

// put adds a policy, or replaces the policy with its name.
func (c *Cloud) put(p ScalingPolicy) {
	if i := c.policy(p.Region, p.Group, p.Name); i >= 0 {
		*c.policies[i] = p
		return
	}
	c.policies = append(c.policies, &p)
}

func (c *Cloud) putScalingPolicy(q request) (any, *failure) {
	g, f := c.group(q)
	if f != nil {
		return nil, f
	}
	const config = "TargetTrackingConfiguration."
	target, err := strconv.ParseFloat(q.getString(config+"TargetValue"), 64)
	metric := q.getString(config + "PredefinedMetricSpecification.PredefinedMetricType")
	if q.getString("PolicyType") != "TargetTrackingScaling" || err != nil || metric == "" {
		return nil, newFailure(http.StatusBadRequest, "ValidationError", "TargetTrackingConfiguration is required "+
			"for TargetTrackingScaling")
	}
	cooldown, ok := q.getNumber("EstimatedInstanceWarmup")
	if !ok {
		cooldown = -1
	}
	c.put(ScalingPolicy{g.Name, q.getString("PolicyName"), q.region, metric, target, cooldown})
	return []node{newText("PolicyARN",
		"arn:aws:autoscaling:"+q.region+":"+Account+":scalingPolicy:1:autoScalingGroupName/"+g.Name)}, nil
}

func (c *Cloud) deleteScalingPolicy(q request) (any, *failure) {
	name := q.getString("PolicyName")
	i := c.policy(q.region, q.getString("AutoScalingGroupName"), name)
	if i < 0 {
		return nil, newFailure(http.StatusBadRequest, "ValidationError", "PolicyName %s not found", name)
	}
	c.policies = slices.Delete(c.policies, i, i+1)
	return []node{}, nil
}
