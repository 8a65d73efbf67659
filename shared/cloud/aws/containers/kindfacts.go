package containers

import (
	"context"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
)

// askTasks adds the facts of the services' task definitions. It asks for each definition once.
func askTasks(ctx context.Context, c ecsAPI, list []ecs.Service, found []cloud.Resource) {
	definition := map[string]string{}
	var names []string
	for _, s := range list {
		name := sdk.ToString(s.TaskDefinition)
		definition[longARN(sdk.ToString(s.ServiceArn), sdk.ToString(s.ClusterArn))] = name
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
	got, errs := make([]*ecs.DescribeTaskDefinitionOutput, len(names)), make([]error, len(names))
	resource.AskEach(len(names), func(i int) {
		got[i], errs[i] = c.DescribeTaskDefinition(ctx, &ecs.DescribeTaskDefinitionInput{TaskDefinition: &names[i]})
	})
	for _, r := range found {
		at, ok := slices.BinarySearch(names, definition[r.UID])
		switch {
		case !ok:
		case errs[at] != nil:
			resource.NoteMissing(r.Facts, errs[at], "ecs:DescribeTaskDefinition", "architecture", "cpu_units",
				"task_vcpu", "task_gib", "task_storage_gib", "os_family")
		default:
			addTask(r.Facts, got[at].TaskDefinition)
		}
	}
}

func addTask(f cloud.Facts, t *ecs.TaskDefinition) {
	if t == nil {
		return
	}
	f["cpu_units"], f["architecture"], f["os_family"] = numberIn(sdk.ToString(t.Cpu)), "X86_64", "LINUX"
	addTaskSize(f, "task_vcpu", t.Cpu)
	addTaskSize(f, "task_gib", t.Memory)
	if s := t.EphemeralStorage; s != nil {
		f["task_storage_gib"] = float64(s.SizeInGiB)
	}
	p := t.RuntimePlatform
	if p == nil {
		return
	}
	if p.CpuArchitecture != "" {
		f["architecture"] = string(p.CpuArchitecture)
	}
	if os := sdk.ToString(p.OperatingSystemFamily); os != "" {
		f["os_family"] = os
	}
}

// addTaskSize adds the size of a task, which AWS states in 1/1024 of a CPU and in MiB. Only tasks of Fargate must state
// it.
func addTaskSize(f cloud.Facts, name string, size *string) {
	if n := numberIn(sdk.ToString(size)); n > 0 {
		f[name] = n / 1024
	}
}

// launchType returns where the tasks of a service run: the launch type, or the capacity providers by name. A provider
// without weight and base runs nothing.
func launchType(s ecs.Service) string {
	var names []string
	for _, p := range s.CapacityProviderStrategy {
		if p.Weight > 0 || p.Base > 0 || len(s.CapacityProviderStrategy) == 1 {
			names = append(names, sdk.ToString(p.CapacityProvider))
		}
	}
	if len(names) == 0 {
		return string(s.LaunchType)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// askVersionLag adds the number of minor versions that node groups are behind their cluster.
func askVersionLag(ctx context.Context, c EksAPI, cluster string, found []cloud.Resource, versions []string) {
	if len(found) == 0 {
		return
	}
	out, err := c.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &cluster})
	for i, r := range found {
		if err != nil {
			resource.NoteMissing(r.Facts, err, "eks:DescribeCluster", "version_lag")
			continue
		}
		if lag, ok := minorsBehind(versions[i], sdk.ToString(out.Cluster.Version)); ok {
			r.Facts["version_lag"] = lag
		}
	}
}

// numberIn reads a number that AWS writes as text; 0 if it is not one.
func numberIn(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n
}

func serviceFacts(s ecs.Service, scaled *Scaling) cloud.Facts {
	f := cloud.Facts{
		"launch_type": launchType(s), "desired": float64(s.DesiredCount), "running": float64(s.RunningCount),
		"strategy": string(s.SchedulingStrategy), "circuit_breaker": false, "autoscaled": scaled != nil,
		"min_capacity": 0.0,
		"rollout_failed": slices.ContainsFunc(s.Deployments, func(d ecs.Deployment) bool {
			return d.RolloutState == ecs.DeploymentRolloutStateFailed
		}),
	}
	if c := s.DeploymentConfiguration; c != nil && c.DeploymentCircuitBreaker != nil {
		f["circuit_breaker"] = c.DeploymentCircuitBreaker.Enable
	}
	if scaled != nil {
		f["min_capacity"] = float64(scaled.Min)
	}
	return f
}

func nodegroupFacts(n *eks.Nodegroup) cloud.Facts {
	s := nodegroupSize(n)
	f := cloud.Facts{
		"min_size": float64(s.Min), "max_size": float64(s.Max), "desired": float64(s.Desired),
		"capacity_type":  string(n.CapacityType),
		"instance_types": resource.SortTexts(n.InstanceTypes), "health_issues": 0.0,
	}
	if n.Health != nil {
		f["health_issues"] = float64(len(n.Health.Issues))
	}
	return f
}

// minorsBehind returns how many minor versions one version is behind another: "1.31" is 2 behind "1.33".
func minorsBehind(version, of string) (float64, bool) {
	minor := func(v string) (int, error) { return strconv.Atoi(strings.Split(v+".", ".")[1]) }
	a, err := minor(version)
	b, err2 := minor(of)
	return float64(max(b-a, 0)), err == nil && err2 == nil
}
