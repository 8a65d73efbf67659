package simulated

import (
	"maps"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// completions add the facts that AWS's listings give of a kind, beside those of factsOf. One resource in five has
// planted waste or a planted weakness (drawnValues.unused). They are for accounts with the setting facts=complete.
var completions = map[string]func(*settings, node, *cloud.Resource, bool) cloud.Facts{
	"aws-ec2":           (*settings).completeInstance,
	"aws-rds":           (*settings).completeDatabase,
	"aws-aurora":        (*settings).completeCluster,
	"aws-asg":           (*settings).completeGroup,
	"aws-ecs":           (*settings).completeService,
	"aws-eks-nodegroup": (*settings).completeNodeGroup,
}

// completeFacts adds the facts of completions to a described resource.
func (s *settings) completeFacts(n node, r *cloud.Resource) {
	of := completions[r.Type]
	if of == nil {
		of = clusterCompletions[r.Type]
	}
	if !s.complete || of == nil {
		return
	}
	if r.Facts == nil {
		r.Facts = cloud.Facts{}
	}
	maps.Copy(r.Facts, of(s, n, r, s.drawnOf(n).unused))
}

func (s *settings) completeInstance(n node, r *cloud.Resource, weak bool) cloud.Facts {
	group := ""
	if of, _, member := s.groupOf(n); member {
		group = s.nodeName(of)
	}
	return cloud.Facts{
		"state": string(r.Status), "asg_name": group, "launched_at": r.CreatedAt, "architecture": "x86_64",
		"monitoring": either(weak, "enabled", "disabled"), "imds_tokens": either(weak, "optional", "required"),
		"public_ip": "", "burstable": strings.HasPrefix(r.InstanceType, "t"),
	}
}

// databaseState returns the state of a database in AWS's words.
func databaseState(r *cloud.Resource) string {
	return either(r.Status == cloud.Running, "available", string(r.Status))
}

func (s *settings) completeDatabase(n node, r *cloud.Resource, weak bool) cloud.Facts {
	return cloud.Facts{
		"state": databaseState(r), "replica_source": "", "replica_count": 0.0, "backup_days": 7 * count(!weak),
		"public": weak && s.drawHit(n, asSize, 0.5), "encrypted": !weak, "deletion_protection": !weak,
		"auto_minor": !weak, "license_model": "postgresql-license", "insights_days": 0.0, "max_allocated_gb": 0.0,
		"storage_type": either(weak, "gp2", "gp3"),
	}
}

func (s *settings) completeCluster(n node, r *cloud.Resource, weak bool) cloud.Facts {
	return cloud.Facts{
		"state": databaseState(r), "member_count": 2.0, "reader_count": 1.0, "serverless": false, "global": false,
		"storage_type": "aurora", "encrypted": !weak, "deletion_protection": !s.drawHit(n, asSize, unusedRate),
	}
}

// scaleOf adds the facts min_size, max_size and desired of a group or service.
func scaleOf(r *cloud.Resource, facts cloud.Facts) cloud.Facts {
	for fact, field := range map[string]string{"min_size": "min", "max_size": "max", "desired": "desired"} {
		facts[fact] = float64(r.Capacity[field])
	}
	return facts
}

func (s *settings) completeGroup(n node, r *cloud.Resource, weak bool) cloud.Facts {
	zones := []string{r.Region + "a", r.Region + "b"}
	return scaleOf(r, cloud.Facts{
		"health_check_type": "EC2", "target_groups": users(weak), "zones": zones[:2-int(count(weak))],
		"launch_configuration": named(weak, s.nodeName(n)), "suspended": []string{}, "policy_count": count(!weak),
		"warm_pool_size": 0.0, "on_demand_pct": 100.0,
	})
}

func (s *settings) completeService(n node, r *cloud.Resource, weak bool) cloud.Facts {
	desired := float64(r.Capacity["desired"])
	return cloud.Facts{
		"launch_type": "FARGATE", "strategy": "REPLICA", "desired": desired, "running": desired,
		"autoscaled": !weak, "min_capacity": float64(r.Capacity["min"]), "circuit_breaker": !weak,
		"rollout_failed": false, "cpu_units": 512.0, "architecture": s.pickFrom(n, asSize, []string{"X86_64", "ARM64"}),
	}
}

func (s *settings) completeNodeGroup(_ node, r *cloud.Resource, weak bool) cloud.Facts {
	return scaleOf(r, cloud.Facts{
		"capacity_type": either(weak, "SPOT", "ON_DEMAND"), "instance_types": []string{"m6i.large"},
		"health_issues": 0.0,
	})
}
