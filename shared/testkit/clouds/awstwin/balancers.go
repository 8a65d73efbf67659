package awstwin

import (
	"slices"
	"strings"
)

// Balancer is a load balancer of Type application, network or classic.
type Balancer struct {
	Name, Region, Type string
	Targets, Healthy   int
}

// AddBalancer adds a load balancer.
func (c *Cloud) AddBalancer(b Balancer) { add(c, &c.balancers, b) }

func (b Balancer) arn() string {
	return "arn:aws:elasticloadbalancing:" + b.Region + ":" + Account + ":loadbalancer/" + b.Type[:3] + "/" + b.Name +
		"/50dc6c495c0c9188"
}

// classicVersion is the API version of classic load balancers. Its operations have the same names as those of the
// newer API.
const classicVersion = "2012-06-01"

func (c *Cloud) describeBalancers(q request) (any, *failure) {
	classic := q.getString("Version") == classicVersion
	found := slices.DeleteFunc(slices.Clone(c.balancers), func(b Balancer) bool {
		return b.Region != q.region || (b.Type == "classic") != classic
	})
	from, to, next := c.cutPage(q, len(found), "PageSize", "Marker")
	var nodes []node
	for _, b := range found[from:to] {
		nodes = append(nodes, b.node(classic))
	}
	if classic {
		return []node{newItems("LoadBalancerDescriptions", "member", nodes), newText("NextMarker", next)}, nil
	}
	return []node{newItems("LoadBalancers", "member", nodes), newText("NextMarker", next)}, nil
}

func (b Balancer) node(classic bool) node {
	n := newElement("member", newText("LoadBalancerName", b.Name), newText("Scheme", "internet-facing"),
		newText("CreatedTime", at))
	if classic {
		n.kids = append(n.kids,
			newItems("Instances", "member",
				slices.Repeat([]node{newElement("member", newText("InstanceId", "i-1"))}, b.Targets)))
		return n
	}
	n.kids = append(n.kids, newText("LoadBalancerArn", b.arn()), newText("Type", b.Type),
		newElement("State", newText("Code", "active")))
	return n
}

func (c *Cloud) describeTargetGroups(q request) (any, *failure) {
	group := strings.Replace(q.getString("LoadBalancerArn"), ":loadbalancer/", ":targetgroup/", 1)
	return []node{newItems("TargetGroups", "member", []node{newElement("member", newText("TargetGroupArn", group))})},
		nil
}

func (c *Cloud) describeTargetHealth(q request) (any, *failure) {
	at := slices.IndexFunc(c.balancers, func(b Balancer) bool {
		return b.arn() == strings.Replace(q.getString("TargetGroupArn"), ":targetgroup/", ":loadbalancer/", 1)
	})
	var nodes []node
	for i := range c.balancers[at].Targets {
		state := "unhealthy"
		if i < c.balancers[at].Healthy {
			state = "healthy"
		}
		nodes = append(nodes, newElement("member", newElement("TargetHealth", newText("State", state))))
	}
	return []node{newItems("TargetHealthDescriptions", "member", nodes)}, nil
}

func (c *Cloud) describeInstanceHealth(q request) (any, *failure) {
	var nodes []node
	for _, b := range c.balancers {
		if b.Name == q.getString("LoadBalancerName") {
			nodes = slices.Repeat([]node{newElement("member", newText("State", "InService"))}, b.Healthy)
		}
	}
	return []node{newItems("InstanceStates", "member", nodes)}, nil
}
