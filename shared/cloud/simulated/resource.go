package simulated

import (
	"encoding/json"
	"time"

	"lamplighter.dev/shared/cloud"
)

// capacity is how many instances a thing has that has a number of instances instead of a state, and the rule that
// scales it: the percentage of CPU, 0 without one, and how many seconds it waits.
type capacity struct {
	Min      int32 `json:"min"`
	Max      int32 `json:"max"`
	Desired  int32 `json:"desired"`
	CPU      int32 `json:"cpu,omitempty"`
	Cooldown int32 `json:"cooldown,omitempty"`
}

// withoutInstances returns the capacity without instances. Its rule stays.
func (c capacity) withoutInstances() capacity { return capacity{CPU: c.CPU, Cooldown: c.Cooldown} }

func (c capacity) fields() map[string]int64 {
	return map[string]int64{"min": int64(c.Min), "max": int64(c.Max), "desired": int64(c.Desired)}
}

// machine is an instance type.
type machine struct {
	name        string
	vcpu, memMB int64
}

var (
	machines = []machine{
		{"t3.micro", 2, 1024},
		{"t3.medium", 2, 4096},
		{"t3.large", 2, 8192},
		{"m6i.large", 2, 8192},
		{"m6i.xlarge", 4, 16384},
		{"c6i.2xlarge", 8, 16384},
		{"r6i.2xlarge", 8, 65536},
		{"m6i.4xlarge", 16, 65536},
	}
	engines = []machine{
		{"db.t3.medium", 2, 4096},
		{"db.m6g.large", 2, 8192},
		{"db.r6g.large", 2, 16384},
		{"db.r6g.xlarge", 4, 32768},
	}
)

// The places of the kinds that know of each other.
const (
	kindEC2 = iota
	kindRDS
	kindAurora
	kindASG
	kindECS
	kindNodeGroup
)

// describeNode describes the node as a listing at the time now does.
func (s *settings) describeNode(n node, h history, now time.Time) cloud.Resource {
	st := s.stateAt(n, h, now)
	r := cloud.Resource{
		UID: s.nativeUID(n), Name: s.nodeName(n), Type: kinds[n.kind].Type, Region: regionNames[n.region],
		Status: st.status,
		Tags:   s.tagsOf(n), ParentUID: s.parentOf(n), Unschedulable: s.whyUnschedulable(n), CreatedAt: s.createdAt(n),
	}
	if m, ok := s.machineType(n); ok {
		r.InstanceType, r.Capacity = m.name, map[string]int64{"vCPU": m.vcpu, "memoryMiB": m.memMB}
		r.Zone = r.Region + string('a'+rune(s.drawProperty(n, asZone)%3))
	} else if kinds[n.kind].Remembers {
		r.Capacity = st.cap.fields()
	}
	if r.Facts = s.factsOf(n); r.Type == cloud.KubernetesNode {
		s.describeKubernetesNode(n, h, now, &r)
	}
	s.completeFacts(n, &r)
	s.plantFacts(n, &r)
	applyValues(&r, h.changed(n))
	if gib, sized := r.Facts["size_gb"].(float64); sized {
		r.Capacity = map[string]int64{"sizeGiB": int64(gib)}
	}
	return r
}

func (s *settings) machineType(n node) (machine, bool) {
	switch n.kind {
	case kindEC2:
		return machines[s.drawProperty(n, asSize)%uint64(len(machines))], true
	case kindRDS:
		return engines[s.drawProperty(n, asSize)%uint64(len(engines))], true
	}
	return machine{}, false
}

// memberEvery is the share of instances that belong to an Auto Scaling group: one in so many.
const memberEvery = 5

// groupOf returns the Auto Scaling group that an instance belongs to, and its rank among the members.
func (s *settings) groupOf(n node) (node, int32, bool) {
	groups := s.nodeCount(kindASG, regionNames[n.region])
	if n.kind != kindEC2 || groups == 0 || n.number%memberEvery != 0 {
		return node{}, 0, false
	}
	i := int(n.number / memberEvery)
	return node{kind: kindASG, region: n.region, number: uint32(i % groups)}, int32(i / groups), true
}

func (s *settings) parentOf(n node) string {
	if g, _, ok := s.groupOf(n); ok {
		return s.nativeUID(g)
	}
	if n.kind == kindNodeGroup || kinds[n.kind].Type == cloud.KubernetesNode {
		return s.clusterUID(regionNames[n.region])
	}
	return ""
}

// allowStop is the tag that lets AWS's kind stop a function; one function in four has it here.
const allowStop = "lamplighter:allow-stop"

// whyUnschedulable returns why the node can never be started or stopped: the cases that each real cloud has.
func (s *settings) whyUnschedulable(n node) string {
	if g, _, ok := s.groupOf(n); ok {
		return "member of Auto Scaling group " + s.nodeName(g) + ": act on the group"
	}
	rare := s.planted == nil && s.drawProperty(n, asBarred)%25 == 0
	switch {
	case rare && n.kind == kindEC2:
		return "one-time Spot instance: it can only be terminated"
	case rare && n.kind == kindRDS:
		return "read replica: a replica or its source cannot be stopped"
	case rare && n.kind == kindECS:
		return "service of scheduling strategy DAEMON: it has no desired count"
	case kinds[n.kind].Type == cloud.AWSLambda && s.tagsOf(n)[allowStop] != "true":
		return "Lambda functions are stopped only where their tag " + allowStop + " is true"
	}
	return ""
}

// initialState returns how the node was before anybody did anything to it.
func (s *settings) initialState(n node) (bool, capacity) {
	if p, is := s.plantedAs(n); is && kinds[n.kind].Remembers {
		return true, p.plantedCapacity()
	} else if is {
		return true, capacity{}
	}
	on := !s.drawHit(n, asOff, s.stopped) || !kinds[n.kind].Actionable
	if !kinds[n.kind].Remembers || !on {
		return on, capacity{}
	}
	d := int32(s.drawProperty(n, asCapacity)%4) + 1
	if n.kind == kindASG {
		d = max(s.memberCount(n), 1)
	}
	return true, capacity{Min: (d + 1) / 2, Max: 2 * d, Desired: d}
}

// memberCount returns how many instances belong to the Auto Scaling group n.
func (s *settings) memberCount(n node) int32 {
	region := regionNames[n.region]
	slots, groups := (s.nodeCount(kindEC2, region)+memberEvery-1)/memberEvery, s.nodeCount(kindASG, region)
	return int32((slots - int(n.number) + groups - 1) / groups)
}

// snapshotOf returns the state of the node that a stop would overwrite.
func (s *settings) snapshotOf(n node, st state) json.RawMessage {
	if !kinds[n.kind].Remembers || !st.on {
		return nil
	}
	b, _ := json.Marshal(st.cap) // three integers always encode
	return b
}
