package awstwin

import (
	"net/http"
	"slices"
	"strings"
)

// Service is an ECS service.
type Service struct {
	Cluster, Name, Region string
	Desired, Running      int
	Daemon                bool
	Status                string // "" is ACTIVE
	ShortARN              bool   // its ARN is of the form of before 2018
}

// ScalableTarget is the scaling of an ECS service by Application Auto Scaling.
type ScalableTarget struct {
	Resource, Region   string // service/<cluster>/<name>
	Min, Max           int
	In, Out, Scheduled bool // suspended
}

// AddService adds a service that runs its desired count.
func (c *Cloud) AddService(s Service) *Service {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Status == "" {
		s.Status = "ACTIVE"
	}
	s.Running = s.Desired
	c.services = append(c.services, &s)
	return &s
}

// AddTarget adds a scalable target.
func (c *Cloud) AddTarget(t ScalableTarget) *ScalableTarget {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.targets = append(c.targets, &t)
	return &t
}

// UID returns the ARN of the service in its long form.
func (s *Service) UID() string { return s.prefix() + "service/" + s.Cluster + "/" + s.Name }

func (s *Service) prefix() string { return "arn:aws:ecs:" + s.Region + ":" + Account + ":" }

func (s *Service) arn() string {
	if s.ShortARN {
		return s.prefix() + "service/" + s.Name
	}
	return s.UID()
}

func (s *Service) clusterARN() string { return s.prefix() + "cluster/" + s.Cluster }

func (s *Service) settleTasks() { s.Running = s.Desired }

func (s *Service) json() map[string]any {
	strategy := "REPLICA"
	if s.Daemon {
		strategy = "DAEMON"
	}
	return map[string]any{
		"serviceArn": s.arn(), "serviceName": s.Name, "clusterArn": s.clusterARN(), "status": s.Status,
		"launchType":   "FARGATE",
		"desiredCount": s.Desired, "runningCount": s.Running, "pendingCount": max(s.Desired-s.Running, 0),
		"schedulingStrategy": strategy, "createdAt": 1767323045.0,
		"tags": []any{map[string]any{"key": "team", "value": "web"}},
		"events": []any{map[string]any{
			"id": "1", "message": "(service " + s.Name + ") was unable to place a task",
			"createdAt": 1767323045.0,
		}},
	}
}

func (c *Cloud) listECSClusters(q request) (any, *failure) {
	var arns []string
	for _, s := range c.services {
		if s.Region == q.region && !slices.Contains(arns, s.clusterARN()) {
			arns = append(arns, s.clusterARN())
		}
	}
	from, to, next := c.cutPage(q, len(arns), "maxResults", "nextToken")
	return listAnswer("clusterArns", arns[from:to], next), nil
}

func listAnswer(name string, list []string, next string) map[string]any {
	out := map[string]any{name: append([]string{}, list...)}
	if next != "" {
		out["nextToken"] = next
	}
	return out
}

// in reports whether the service is in the requested cluster, which the request has by name or ARN.
func (s *Service) in(q request) bool {
	cluster := q.getString("cluster")
	return s.Region == q.region && s.Cluster == cluster[strings.LastIndex(cluster, "/")+1:]
}

func (c *Cloud) clusterKnown(q request) *failure {
	if slices.ContainsFunc(c.services, func(s *Service) bool { return s.in(q) }) {
		return nil
	}
	return newFailure(http.StatusBadRequest, "ClusterNotFoundException", "Cluster not found.")
}

func (c *Cloud) listServices(q request) (any, *failure) {
	if f := c.clusterKnown(q); f != nil {
		return nil, f
	}
	var arns []string
	for _, s := range c.services {
		if s.in(q) {
			arns = append(arns, s.arn())
		}
	}
	from, to, next := c.cutPage(q, len(arns), "maxResults", "nextToken")
	return listAnswer("serviceArns", arns[from:to], next), nil
}

func (c *Cloud) service(q request, name string) *Service {
	at := slices.IndexFunc(c.services, func(s *Service) bool { return s.in(q) && (s.Name == name || s.arn() == name) })
	if at < 0 {
		return nil
	}
	return c.services[at]
}

func (c *Cloud) describeServices(q request) (any, *failure) {
	if f := c.clusterKnown(q); f != nil {
		return nil, f
	}
	names := q.getList("services")
	if len(names) > 10 {
		return nil, newFailure(http.StatusBadRequest, "InvalidParameterException", "Members must have length less "+
			"than or equal to 10.")
	}
	found, failures := []any{}, []any{}
	for _, n := range names {
		if s := c.service(q, n); s != nil {
			found = append(found, s.json())
			continue
		}
		failures = append(failures, map[string]any{"arn": n, "reason": "MISSING"})
	}
	return map[string]any{"services": found, "failures": failures}, nil
}

// updateService accepts any count, also outside of the bounds of the scaling, as ECS does.
func (c *Cloud) updateService(q request) (any, *failure) {
	if f := c.clusterKnown(q); f != nil {
		return nil, f
	}
	s := c.service(q, q.getString("service"))
	n, counted := q.getNumber("desiredCount")
	switch {
	case s == nil:
		return nil, newFailure(http.StatusBadRequest, "ServiceNotFoundException", "Service not found.")
	case s.Status != "ACTIVE":
		return nil, newFailure(http.StatusBadRequest, "ServiceNotActiveException", "Service was not ACTIVE.")
	case counted && s.Daemon:
		return nil, newFailure(http.StatusBadRequest, "InvalidParameterException", "The daemon scheduling strategy "+
			"does not support a desired count.")
	case counted:
		s.Desired = n
	}
	return map[string]any{"service": s.json()}, nil
}

// RunAutoScaling runs Application Auto Scaling once: it moves each count into its bounds, unless the scaling is
// suspended.
func (c *Cloud) RunAutoScaling() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.targets {
		for _, s := range c.services {
			if t.Resource == "service/"+s.Cluster+"/"+s.Name && !t.Out {
				s.Desired = max(s.Desired, t.Min)
			}
		}
	}
}

func (t *ScalableTarget) json() map[string]any {
	return map[string]any{
		"ServiceNamespace": "ecs", "ResourceId": t.Resource, "ScalableDimension": "ecs:service:DesiredCount",
		"RoleARN":     "arn:aws:iam::1:role/r",
		"MinCapacity": t.Min, "MaxCapacity": t.Max, "CreationTime": 1767323045.0,
		"SuspendedState": map[string]any{
			"DynamicScalingInSuspended": t.In, "DynamicScalingOutSuspended": t.Out,
			"ScheduledScalingSuspended": t.Scheduled,
		},
	}
}

func (c *Cloud) describeTargets(q request) (any, *failure) {
	found := []any{}
	for _, t := range c.targets {
		if t.Region == q.region && slices.Contains(q.getList("ResourceIds"), t.Resource) {
			found = append(found, t.json())
		}
	}
	return map[string]any{"ScalableTargets": found}, nil
}

// registerTarget adds or changes a target. Fields that are missing in the request stay unchanged.
func (c *Cloud) registerTarget(q request) (any, *failure) {
	at := slices.IndexFunc(c.targets, func(t *ScalableTarget) bool {
		return t.Region == q.region && t.Resource == q.getString("ResourceId")
	})
	_, least := q.getNumber("MinCapacity")
	_, most := q.getNumber("MaxCapacity")
	switch {
	case at < 0 && (!least || !most || !c.isService(q)):
		return nil, newFailure(http.StatusBadRequest, "ValidationException", "No ECS service found or no capacity "+
			"given for %s", q.getString("ResourceId"))
	case at < 0:
		at, c.targets = len(c.targets),
			append(c.targets, &ScalableTarget{Resource: q.getString("ResourceId"), Region: q.region})
	}
	t := c.targets[at]
	for name, to := range map[string]*int{"MinCapacity": &t.Min, "MaxCapacity": &t.Max} {
		if n, ok := q.getNumber(name); ok {
			*to = n
		}
	}
	suspended, _ := q.body["SuspendedState"].(map[string]any)
	for name, to := range map[string]*bool{
		"DynamicScalingInSuspended": &t.In, "DynamicScalingOutSuspended": &t.Out,
		"ScheduledScalingSuspended": &t.Scheduled,
	} {
		if b, ok := suspended[name].(bool); ok {
			*to = b
		}
	}
	return map[string]any{}, nil
}
