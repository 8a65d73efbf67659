package awstwin

import (
	"net/http"
	"slices"
)

// isService reports whether the resource of a request is a service.
func (c *Cloud) isService(q request) bool {
	return slices.ContainsFunc(c.services, func(s *Service) bool {
		return s.Region == q.region && q.getString("ResourceId") == "service/"+s.Cluster+"/"+s.Name
	})
}

func (c *Cloud) targetOf(q request) int {
	return slices.IndexFunc(c.targets, func(t *ScalableTarget) bool {
		return t.Region == q.region && t.Resource == q.getString("ResourceId")
	})
}

// deregisterTarget removes a target together with its rules.
func (c *Cloud) deregisterTarget(q request) (any, *failure) {
	i := c.targetOf(q)
	if i < 0 {
		return nil, newFailure(
			http.StatusBadRequest, "ObjectNotFoundException", "No scalable target found for %s",
			q.getString("ResourceId"))
	}
	c.targets = slices.Delete(c.targets, i, i+1)
	c.policies = slices.DeleteFunc(c.policies, func(p *ScalingPolicy) bool {
		return p.Region == q.region && p.Group == q.getString("ResourceId")
	})
	return map[string]any{}, nil
}

// Target returns the scalable target of a service; nil when it has none.
func (c *Cloud) Target(resource string) *ScalableTarget {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.targets {
		if t.Resource == resource {
			return t
		}
	}
	return nil
}

func (p *ScalingPolicy) json() map[string]any {
	config := map[string]any{
		"TargetValue":                   p.Target,
		"PredefinedMetricSpecification": map[string]any{"PredefinedMetricType": p.Metric},
	}
	if p.Cooldown >= 0 {
		config["ScaleInCooldown"], config["ScaleOutCooldown"] = p.Cooldown, p.Cooldown
	}
	return map[string]any{
		"PolicyARN": "arn:aws:autoscaling:::" + p.Name, "PolicyName": p.Name, "ServiceNamespace": "ecs",
		"ResourceId": p.Group, "CreationTime": 1767323045.0,
		"ScalableDimension": "ecs:service:DesiredCount", "PolicyType": "TargetTrackingScaling",
		"TargetTrackingScalingPolicyConfiguration": config,
	}
}

func (c *Cloud) describeServicePolicies(q request) (any, *failure) {
	found := slices.DeleteFunc(slices.Clone(c.policies), func(p *ScalingPolicy) bool {
		return p.Region != q.region || p.Group != q.getString("ResourceId")
	})
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	out := []any{}
	for _, p := range found[from:to] {
		out = append(out, p.json())
	}
	if next == "" {
		return map[string]any{"ScalingPolicies": out}, nil
	}
	return map[string]any{"ScalingPolicies": out, "NextToken": next}, nil
}

func (c *Cloud) putServicePolicy(q request) (any, *failure) {
	if c.targetOf(q) < 0 {
		return nil, newFailure(
			http.StatusBadRequest, "ObjectNotFoundException", "No scalable target registered for %s",
			q.getString("ResourceId"))
	}
	config, _ := q.body["TargetTrackingScalingPolicyConfiguration"].(map[string]any)
	spec, _ := config["PredefinedMetricSpecification"].(map[string]any)
	metric, _ := spec["PredefinedMetricType"].(string)
	target, ok := config["TargetValue"].(float64)
	if !ok || metric == "" || q.getString("PolicyType") != "TargetTrackingScaling" {
		return nil, newFailure(
			http.StatusBadRequest, "ValidationException", "TargetTrackingScalingPolicyConfiguration is not valid")
	}
	p := ScalingPolicy{q.getString("ResourceId"), q.getString("PolicyName"), q.region, metric, target, -1}
	if n, ok := config["ScaleInCooldown"].(float64); ok {
		p.Cooldown = int(n)
	}
	c.put(p)
	return map[string]any{"PolicyARN": "arn:aws:autoscaling:::" + p.Name, "Alarms": []any{}}, nil
}

func (c *Cloud) deleteServicePolicy(q request) (any, *failure) {
	i := c.policy(q.region, q.getString("ResourceId"), q.getString("PolicyName"))
	if i < 0 {
		return nil, newFailure(
			http.StatusBadRequest, "ObjectNotFoundException", "No scaling policy found for %s",
			q.getString("PolicyName"))
	}
	c.policies = slices.Delete(c.policies, i, i+1)
	return map[string]any{}, nil
}
