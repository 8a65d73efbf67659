package awstwin

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// Group is an Auto Scaling group. Instances are the lifecycle states of its instances.
type Group struct {
	Name, Region      string
	Min, Max, Desired int
	Suspended         []string
	Tags              map[string]string
	Instances         []string
	Protected         bool // its instances are protected from scale-in
	WarmPoolMin       int  // minimum size of a warm pool
	NoCapacity        bool // launches fail
}

// AddGroup adds a group whose desired instances are in service.
func (c *Cloud) AddGroup(g Group) *Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range g.Desired {
		g.Instances = append(g.Instances, "InService")
	}
	c.groups = append(c.groups, &g)
	return &g
}

// ARN returns the ARN of the group.
func (g *Group) ARN() string {
	return "arn:aws:autoscaling:" + g.Region + ":" + Account + ":autoScalingGroup:0f0f:autoScalingGroupName/" + g.Name
}

// settleInstances removes terminating instances, brings pending ones into service, and adds missing ones as pending.
func (g *Group) settleInstances() {
	g.Instances = slices.DeleteFunc(g.Instances, func(s string) bool { return s == "Terminating" })
	for i, s := range g.Instances {
		switch {
		case s == "Pending" && !g.NoCapacity:
			g.Instances[i] = "InService"
		case s == "InService" && i >= g.Desired && !g.Protected:
			g.Instances[i] = "Terminating"
		}
	}
	for len(g.Instances) < g.Desired {
		g.Instances = append(g.Instances, "Pending")
	}
}

func (g *Group) node() node {
	n := newElement("member", newText("AutoScalingGroupName", g.Name), newText("AutoScalingGroupARN", g.ARN()),
		newText("MinSize", strconv.Itoa(g.Min)), newText("MaxSize", strconv.Itoa(g.Max)),
		newText("DesiredCapacity", strconv.Itoa(g.Desired)),
		newText("CreatedTime", "2026-01-02T03:04:05Z"))
	var instances, suspended, tags []node
	for i, s := range g.Instances {
		instances = append(instances,
			newElement("member", newText("InstanceId", InstanceID(i+0xa000)), newText("LifecycleState", s),
				newText("InstanceType", "m5.large"), newText("ProtectedFromScaleIn", strconv.FormatBool(g.Protected))))
	}
	for _, p := range g.Suspended {
		suspended = append(suspended,
			newElement("member", newText("ProcessName", p),
				newText("SuspensionReason", "User suspended at 2026-01-01T00:00:00Z")))
	}
	for k, v := range g.Tags {
		tags = append(tags, newElement("member", newText("Key", k), newText("Value", v)))
	}
	n.kids = append(n.kids, newItems("Instances", "member", instances),
		newItems("SuspendedProcesses", "member", suspended), newItems("Tags", "member", tags))
	if g.WarmPoolMin > 0 {
		n.kids = append(n.kids, newElement("WarmPoolConfiguration", newText("MinSize", strconv.Itoa(g.WarmPoolMin))),
			newText("WarmPoolSize", strconv.Itoa(g.WarmPoolMin)))
	}
	return n
}

func (c *Cloud) describeGroups(q request) (any, *failure) {
	wanted := q.getList("AutoScalingGroupNames.member")
	found := slices.DeleteFunc(slices.Clone(c.groups), func(g *Group) bool {
		return g.Region != q.region || (len(wanted) > 0 && !slices.Contains(wanted, g.Name))
	})
	from, to, next := c.cutPage(q, len(found), "MaxRecords", "NextToken")
	if len(wanted) > 0 {
		from, to, next = 0, len(found), ""
	}
	var nodes []node
	for _, g := range found[from:to] {
		nodes = append(nodes, g.node())
	}
	return []node{newItems("AutoScalingGroups", "member", nodes), newText("NextToken", next)}, nil
}

func (c *Cloud) group(q request) (*Group, *failure) {
	name := q.getString("AutoScalingGroupName")
	at := slices.IndexFunc(c.groups, func(g *Group) bool { return g.Name == name && g.Region == q.region })
	if at < 0 {
		return nil, newFailure(http.StatusBadRequest, "ValidationError", "AutoScalingGroup name not found - "+
			"AutoScalingGroup %s not found", name)
	}
	return c.groups[at], nil
}

func (c *Cloud) updateGroup(q request) (any, *failure) {
	g, f := c.group(q)
	if f != nil {
		return nil, f
	}
	next := *g
	for name, to := range map[string]*int{
		"MinSize": &next.Min, "MaxSize": &next.Max,
		"DesiredCapacity": &next.Desired,
	} {
		if n, ok := q.getNumber(name); ok {
			*to = n
		}
	}
	if next.Min > next.Desired || next.Desired > next.Max {
		return nil, newFailure(http.StatusBadRequest, "ValidationError", "Desired capacity:%d must be between the "+
			"specified min size:%d and max size:%d", next.Desired, next.Min, next.Max)
	}
	*g = next
	return []node{}, nil
}

func (c *Cloud) suspendProcesses(q request) (any, *failure) {
	g, f := c.group(q)
	if f != nil {
		return nil, f
	}
	for _, p := range q.getList("ScalingProcesses.member") {
		if !slices.Contains(g.Suspended, p) {
			g.Suspended = append(g.Suspended, p)
		}
	}
	return []node{}, nil
}

func (c *Cloud) resumeProcesses(q request) (any, *failure) {
	g, f := c.group(q)
	if f != nil {
		return nil, f
	}
	names := q.getList("ScalingProcesses.member")
	g.Suspended = slices.DeleteFunc(g.Suspended, func(p string) bool {
		return len(names) == 0 || slices.Contains(names, p)
	})
	return []node{}, nil
}

// Size returns "min/max/desired", for tests.
func (g *Group) Size() string { return fmt.Sprintf("%d/%d/%d", g.Min, g.Max, g.Desired) }
