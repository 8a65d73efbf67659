package awstwin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Instance is an EC2 instance. State "" is running.
type Instance struct {
	ID, Region, Type, State, Name string
	Tags                          map[string]string
	SpotRequest, SpotType         string // of a spot instance: the request's id, and persistent or one-time
	InstanceStore                 bool
	Operator                      string // the service that manages it
	StopProtected                 bool   // disableApiStop
	NoCapacity                    bool   // a start finds no room
	BrokenKey                     bool   // a start is accepted and falls back
	CrowdedOut                    bool   // a start is accepted and falls back for want of room
	NoPermission                  bool   // a policy denies acts on this one
	reason                        string
	since                         time.Time // when it began to move
}

// AddInstance adds an instance and returns it.
func (c *Cloud) AddInstance(i Instance) *Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i.State == "" {
		i.State = "running"
	}
	if i.Type == "" {
		i.Type = "t3.large"
	}
	c.instances = append(c.instances, &i)
	return &i
}

func (i *Instance) settleState() {
	switch i.State {
	case "pending":
		switch i.State = "running"; {
		case i.BrokenKey:
			i.State, i.reason = "stopped", "Client.InternalError: Client error on launch"
		case i.CrowdedOut:
			i.State, i.reason = "stopped",
				"Server.InsufficientInstanceCapacity: There was insufficient capacity available to satisfy the "+
					"launch request."
		}
	case "stopping":
		i.State = "stopped"
	case "shutting-down":
		i.State = "terminated"
	}
}

var stateCodes = map[string]string{
	"pending": "0", "running": "16", "shutting-down": "32", "terminated": "48",
	"stopping": "64", "stopped": "80",
}

func stateNode(name, state string) node {
	return newElement(name, newText("code", stateCodes[state]), newText("name", state))
}

func (i *Instance) node() node {
	n := newElement("item", newText("instanceId", i.ID), newText("instanceType", i.Type),
		stateNode("instanceState", i.State),
		newText("launchTime", "2026-01-02T03:04:05.000Z"),
		newElement("placement", newText("availabilityZone", i.Region+"a")),
		newElement("cpuOptions", newText("coreCount", "1"), newText("threadsPerCore", "2")))
	root := "ebs"
	if i.InstanceStore {
		root = "instance-store"
	}
	n.kids = append(n.kids, newText("rootDeviceType", root))
	if i.SpotRequest != "" {
		n.kids = append(n.kids, newText("instanceLifecycle", "spot"), newText("spotInstanceRequestId", i.SpotRequest))
	}
	if i.Operator != "" {
		n.kids = append(n.kids, newElement("operator", newText("managed", "true"), newText("principal", i.Operator)))
	}
	if i.reason != "" {
		code, _, _ := strings.Cut(i.reason, ":")
		n.kids = append(n.kids, newElement("stateReason", newText("code", code), newText("message", i.reason)))
	}
	return withTags(n, i)
}

func withTags(n node, i *Instance) node {
	var tags []node
	if i.Name != "" {
		tags = append(tags, newElement("item", newText("key", "Name"), newText("value", i.Name)))
	}
	for k, v := range i.Tags {
		tags = append(tags, newElement("item", newText("key", k), newText("value", v)))
	}
	n.kids = append(n.kids, newItems("tagSet", "item", tags))
	return n
}

func (c *Cloud) describeInstances(q request) (any, *failure) {
	found := slices.DeleteFunc(slices.Clone(c.instances), func(i *Instance) bool { return i.Region != q.region })
	if ids := q.getList("InstanceId"); len(ids) > 0 {
		named, f := c.named(q.region, ids)
		if f != nil {
			return nil, f
		}
		found = named
	}
	if ids, filtered := q.filtered("instance-id"); filtered {
		found = slices.DeleteFunc(found, func(i *Instance) bool { return !slices.Contains(ids, i.ID) })
	}
	if states, filtered := q.filtered("instance-state-name"); filtered {
		found = slices.DeleteFunc(found, func(i *Instance) bool { return !slices.Contains(states, i.State) })
	}
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	if len(q.getList("InstanceId")) > 0 {
		from, to, next = 0, len(found), ""
	}
	var nodes []node
	for _, i := range found[from:to] {
		nodes = append(nodes, i.node())
	}
	return []node{
		newElement("reservationSet",
			newElement("item", newText("reservationId", "r-1"), newItems("instancesSet", "item", nodes))),
		newText("nextToken", next),
	}, nil
}

var instanceID = regexp.MustCompile(`^i-([0-9a-f]{8}|[0-9a-f]{17})$`)

// named returns the instances of the request, or fails as EC2 does: malformed ids first, then all missing ids in one
// message.
func (c *Cloud) named(region string, ids []string) ([]*Instance, *failure) {
	var found []*Instance
	var missing []string
	for _, id := range ids {
		if !instanceID.MatchString(id) {
			return nil, newFailure(http.StatusBadRequest, "InvalidInstanceID.Malformed", `Invalid id: "%s"`, id)
		}
		at := slices.IndexFunc(c.instances, func(i *Instance) bool { return i.ID == id && i.Region == region })
		if at < 0 {
			missing = append(missing, id)
			continue
		}
		found = append(found, c.instances[at])
	}
	switch len(missing) {
	case 0:
		return found, nil
	case 1:
		return nil, newFailure(http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '%s' does "+
			"not exist", missing[0])
	default:
		return nil, newFailure(
			http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist",
			strings.Join(missing, ", "))
	}
}

// describeStatus accepts at most 100 ids. It returns instances that do not run only with IncludeAllInstances.
func (c *Cloud) describeStatus(q request) (any, *failure) {
	if q.getString("DryRun") == "true" {
		return nil, newFailure(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but "+
			"DryRun flag is set.")
	}
	if _, planned := q.filtered("event.code"); planned {
		return c.tell(q)
	}
	ids := q.getList("InstanceId")
	if len(ids) > 100 {
		return nil, newFailure(
			http.StatusBadRequest, "InvalidParameterValue", "%d instance ids; the maximum is 100", len(ids))
	}
	found, f := c.named(q.region, ids)
	if f != nil {
		return nil, f
	}
	var nodes []node
	for _, i := range found {
		if q.getString("IncludeAllInstances") == "true" || i.State == "running" {
			nodes = append(nodes, newElement("item", newText("instanceId", i.ID), stateNode("instanceState", i.State)))
		}
	}
	return []node{newItems("instanceStatusSet", "item", nodes)}, nil
}

func (c *Cloud) describeSpotRequests(q request) (any, *failure) {
	var nodes []node
	for _, i := range c.instances {
		if i.SpotRequest != "" && slices.Contains(q.getList("SpotInstanceRequestId"), i.SpotRequest) {
			nodes = append(nodes,
				newElement("item", newText("spotInstanceRequestId", i.SpotRequest), newText("type", i.SpotType)))
		}
	}
	return []node{newItems("spotInstanceRequestSet", "item", nodes)}, nil
}

// describeRegions returns the regions, one of them without the account's opt-in.
func (c *Cloud) describeRegions(request) (any, *failure) {
	var nodes []node
	for name, status := range map[string]string{
		"us-east-1": "opt-in-not-required", "eu-west-1": "opt-in-not-required",
		"ap-east-1": "not-opted-in", "eu-south-1": "opted-in",
	} {
		nodes = append(nodes,
			newElement("item", newText("regionName", name), newText("regionEndpoint", "ec2."+name+".amazonaws.com"),
				newText("optInStatus", status)))
	}
	return []node{newItems("regionInfo", "item", nodes)}, nil
}

func (c *Cloud) startInstances(q request) (any, *failure) {
	return c.turn(q, func(i *Instance) (string, *failure) {
		switch {
		case i.State == "running", i.State == "pending":
			return i.State, nil
		case i.State != "stopped":
			return "", newFailure(http.StatusBadRequest, "IncorrectInstanceState", "The instance '%s' is not in a "+
				"state from which it can be started.", i.ID)
		case i.NoCapacity:
			return "", newFailure(http.StatusInternalServerError, "InsufficientInstanceCapacity", "We currently do "+
				"not have sufficient %s capacity in the Availability Zone you requested.", i.Type)
		}
		return "pending", nil
	})
}

func (c *Cloud) stopInstances(q request) (any, *failure) {
	return c.turn(q, func(i *Instance) (string, *failure) {
		switch {
		case i.State == "stopped", i.State == "stopping":
			return i.State, nil
		case i.State == "terminated", i.State == "shutting-down":
			return "", newFailure(http.StatusBadRequest, "IncorrectInstanceState", "This instance '%s' is not in a "+
				"state from which it can be stopped.", i.ID)
		case i.StopProtected:
			return "", newFailure(http.StatusBadRequest, "OperationNotPermitted", "The instance '%s' may not be "+
				"stopped. Modify its 'disableApiStop' instance attribute and try again.", i.ID)
		case i.SpotType == "one-time":
			return "", newFailure(http.StatusBadRequest, "UnsupportedOperation", "You can't stop the Spot Instance "+
				"'%s' because it is associated with a one-time Spot Instance request.", i.ID)
		}
		return "stopping", nil
	})
}

// turn changes the state of all instances of the request, or of none.
func (c *Cloud) turn(q request, next func(*Instance) (string, *failure)) (any, *failure) {
	found, f := c.named(q.region, q.getList("InstanceId"))
	if f != nil {
		return nil, f
	}
	states := make([]string, len(found))
	for n, i := range found {
		if i.NoPermission {
			return nil, newFailure(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform "+
				"this operation. User: arn:aws:iam::%s:user/u is not authorized to perform: ec2:%s on resource: "+
				"arn:aws:ec2:%s:%s:instance/%s because no identity-based policy allows the ec2:%s action.", Account,
				q.op, i.Region, Account, i.ID, q.op)
		}
		if states[n], f = next(i); f != nil {
			return nil, f
		}
	}
	if q.getString("DryRun") == "true" {
		return nil, newFailure(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but "+
			"DryRun flag is set.")
	}
	var nodes []node
	for n, i := range found {
		nodes = append(nodes,
			newElement("item", newText("instanceId", i.ID), stateNode("currentState", states[n]),
				stateNode("previousState", i.State)))
		if states[n] != i.State {
			i.since = time.Now()
		}
		i.State, i.reason = states[n], ""
	}
	return []node{newItems("instancesSet", "item", nodes)}, nil
}

// InstanceID returns a well-formed id.
func InstanceID(n int) string { return fmt.Sprintf("i-%017x", n) }

// HasRoomAgain ends the lack of capacity, so that the instances can start.
func (c *Cloud) HasRoomAgain() {
	c.ChangeLocked(func() {
		for _, i := range c.instances {
			i.NoCapacity, i.CrowdedOut = false, false
		}
	})
}
