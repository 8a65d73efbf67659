package awstwin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Volume is an EBS volume. Instance is the ID of the instance that it is attached to.
type Volume struct {
	ID, Region, Type, Instance string
	SizeGB                     int
	IOPS, Throughput           int // 0: the usual ones of its type
	Tags                       map[string]string
	Token                      string // of the call that made it
}

// Snapshot is an EBS snapshot of a volume, which may be deleted. Image is an image made of the snapshot.
type Snapshot struct {
	ID, Region, Volume, Image string
	SizeGB                    int
	Public, Pending           bool
	Tags                      map[string]string
}

// Address is an Elastic IP address. Instance is the ID of the instance that it is associated with.
type Address struct {
	ID, Region, IP, Instance string
	Tags                     map[string]string
}

// NATGateway is a NAT gateway with a number of routes to it.
type NATGateway struct {
	ID, Region, State string
	Routes            int
}

const at = "2026-01-02T03:04:05.000Z"

// AddVolume adds a volume.
func (c *Cloud) AddVolume(v Volume) { add(c, &c.volumes, v) }

// AddSnapshot adds a snapshot.
func (c *Cloud) AddSnapshot(s Snapshot) { add(c, &c.snapshots, s) }

// AddAddress adds an address.
func (c *Cloud) AddAddress(a Address) { add(c, &c.addresses, a) }

// AddNATGateway adds a NAT gateway.
func (c *Cloud) AddNATGateway(n NATGateway) { add(c, &c.gateways, n) }

// RemoveVolume removes a volume.
func (c *Cloud) RemoveVolume(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.volumes = slices.DeleteFunc(c.volumes, func(v Volume) bool { return v.ID == id })
}

func add[T any](c *Cloud, to *[]T, v T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*to = append(*to, v)
}

// filtered returns the values of a filter of EC2, and whether the request has this filter.
func (q request) filtered(name string) ([]string, bool) {
	for i := 1; len(q.form["Filter."+strconv.Itoa(i)+".Name"]) > 0; i++ {
		if at := "Filter." + strconv.Itoa(i); q.form[at+".Name"][0] == name {
			return q.getList(at + ".Value"), true
		}
	}
	return nil, false
}

func tagNodes(tags map[string]string) []node {
	var out []node
	for k, v := range tags {
		out = append(out, newElement("item", newText("key", k), newText("value", v)))
	}
	return out
}

func (c *Cloud) describeVolumes(q request) (any, *failure) {
	ids, filtered := q.filtered("volume-id")
	found := slices.DeleteFunc(slices.Clone(c.volumes), func(v Volume) bool {
		return v.Region != q.region || filtered && !slices.Contains(ids, v.ID) || !q.filtersTags(v.Tags)
	})
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	var nodes []node
	for _, v := range found[from:to] {
		state, attachments := "available", []node(nil)
		if v.Instance != "" {
			state, attachments = "in-use",
				[]node{newElement("item", newText("instanceId", v.Instance), newText("status", "attached"))}
		}
		nodes = append(nodes,
			newElement("item", newText("volumeId", v.ID), newText("size", strconv.Itoa(v.SizeGB)),
				newText("status", state),
				newText("volumeType", v.Type), v.iops(), v.throughput(),
				newText("encrypted", "true"), newText("createTime", at),
				newText("availabilityZone", v.Region+"a"), newItems("attachmentSet", "item", attachments),
				newItems("tagSet", "item", tagNodes(v.Tags))))
	}
	return []node{newItems("volumeSet", "item", nodes), newText("nextToken", next)}, nil
}

// iops returns the operations a second: those that were set, or the usual ones.
func (v Volume) iops() node {
	if v.isMagnetic() {
		return newElement("zNone") // AWS names them of solid state alone
	}
	return newText("iops", strconv.Itoa(cmp.Or(v.IOPS, 3000)))
}

func (v Volume) isMagnetic() bool { return slices.Contains([]string{"sc1", "st1", "standard"}, v.Type) }

// throughput returns the throughput that was set, or the usual one.
func (v Volume) throughput() node {
	if v.isMagnetic() || v.Throughput == 0 && v.Type == "gp2" && v.IOPS > 0 {
		return newElement("zNone") // AWS names it of gp3 alone
	}
	return newText("throughput", strconv.Itoa(cmp.Or(v.Throughput, 125)))
}

// filtersTags reports whether tags have the values of all filters of tags in a request.
func (q request) filtersTags(tags map[string]string) bool {
	for i := 1; len(q.form["Filter."+strconv.Itoa(i)+".Name"]) > 0; i++ {
		at := "Filter." + strconv.Itoa(i)
		key, is := strings.CutPrefix(q.form[at+".Name"][0], "tag:")
		if value, has := tags[key]; is && (!has || !slices.Contains(q.getList(at+".Value"), value)) {
			return false
		}
	}
	return true
}

func (c *Cloud) describeSnapshots(q request) (any, *failure) {
	volumes, ofVolumes := q.filtered("volume-id")
	ids, named := q.filtered("snapshot-id")
	found := slices.DeleteFunc(slices.Clone(c.snapshots), func(s Snapshot) bool {
		return s.Region != q.region || ofVolumes && !slices.Contains(volumes, s.Volume) ||
			named && !slices.Contains(ids, s.ID) || !q.filtersTags(s.Tags) ||
			len(q.getList("RestorableBy")) > 0 && !s.Public
	})
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	var nodes []node
	for _, s := range found[from:to] {
		nodes = append(nodes,
			newElement("item", newText("snapshotId", s.ID), newText("volumeId", s.Volume),
				newText("status", s.status()), newItems("tagSet", "item", tagNodes(s.Tags)),
				newText("startTime", at), newText("volumeSize", strconv.Itoa(s.SizeGB)),
				newText("storageTier", "standard")))
	}
	return []node{newItems("snapshotSet", "item", nodes), newText("nextToken", next)}, nil
}

func (s Snapshot) status() string {
	if s.Pending {
		return "pending"
	}
	return "completed"
}

func (c *Cloud) describeImages(q request) (any, *failure) {
	if _, named := q.filtered("image-id"); named {
		return c.tell(q)
	}
	var nodes []node
	for _, s := range c.snapshots {
		if s.Image != "" {
			device := newElement("item", newElement("ebs", newText("snapshotId", s.ID)))
			nodes = append(nodes,
				newElement("item", newText("imageId", s.Image), newItems("blockDeviceMapping", "item", []node{device})))
		}
	}
	return []node{newItems("imagesSet", "item", nodes), {raw: c.told["ec2:DescribeImages"]}}, nil
}

func (c *Cloud) describeAddresses(q request) (any, *failure) {
	var nodes []node
	ids, named := q.filtered("allocation-id")
	for _, a := range c.addresses {
		if a.Region != q.region || named && !slices.Contains(ids, a.ID) || !q.filtersTags(a.Tags) {
			continue
		}
		n := newElement("item", newText("allocationId", a.ID), newText("publicIp", a.IP),
			newItems("tagSet", "item", tagNodes(a.Tags)))
		if a.Instance != "" {
			n.kids = append(n.kids, newText("associationId", "eipassoc-"+a.ID), newText("instanceId", a.Instance),
				newText("networkInterfaceId", "eni-1"))
		}
		nodes = append(nodes, n)
	}
	return []node{newItems("addressesSet", "item", nodes)}, nil
}

func (c *Cloud) describeNATGateways(q request) (any, *failure) {
	var nodes []node
	for _, n := range c.gateways {
		if n.Region == q.region {
			nodes = append(nodes,
				newElement("item", newText("natGatewayId", n.ID), newText("state", n.State), newText("createTime", at)))
		}
	}
	return []node{newItems("natGatewaySet", "item", nodes)}, nil
}

func (c *Cloud) describeRouteTables(q request) (any, *failure) {
	var routes []node
	for _, n := range c.gateways {
		for range n.Routes {
			routes = append(routes, newElement("item", newText("natGatewayId", n.ID)))
		}
	}
	return []node{newItems("routeTableSet", "item",
		[]node{newElement("item", newText("routeTableId", "rtb-1"), newItems("routeSet", "item", routes))})}, nil
}
