package simulated

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// node is one resource by arithmetic: its kind, its region (places in kinds and regionNames) and its number there.
type node struct {
	kind, region uint8
	number       uint32
}

func (n node) bitsOf() uint64 {
	return uint64(n.kind)<<40 | uint64(n.region)<<32 | uint64(n.number)
}

// drawProperty draws the properties of a node: each aspect is a number that depends on nothing but the cloud and the
// node.
func (s *settings) drawProperty(n node, aspect uint64) uint64 {
	return mixBits(mixBits(s.key^n.bitsOf()) + aspect)
}

// The aspects of a node that are drawn.
const (
	asApp uint64 = iota + 1
	asEnv
	asTeam
	asSize
	asZone
	asBorn
	asOff
	asTagged
	asBarred
	asCapacity
	asSpeed
	asVanish
	asFallBack
	asPartial
	asUnused
	asVolume
	asPattern
	asNoCapacity
	asCovered
	asUneven
)

// pickFrom draws one of choices.
func (s *settings) pickFrom(n node, aspect uint64, choices []string) string {
	return choices[s.drawProperty(n, aspect)%uint64(len(choices))]
}

// drawHit draws whether a rate hits the node.
func (s *settings) drawHit(n node, aspect uint64, rate float64) bool {
	return fallsWithin(s.drawProperty(n, aspect), rate)
}

// fallsWithin reports whether the draw falls into the share rate of all draws.
func fallsWithin(draw uint64, rate float64) bool {
	return float64(draw>>11)/(1<<53) < rate
}

// nodeCount returns how many nodes of a kind there are in a region; 0 when the account does not have the region.
func (s *settings) nodeCount(kind int, region string) int {
	i := slices.Index(s.regions, region)
	if i < 0 {
		return 0
	}
	return s.counts[kind][i]
}

// mixBits returns a bijection of 64 bits that leaves no pattern (the finalizer of splitmix64), and unmix its inverse:
// instance ids look drawn and still tell their number.
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unmixBits(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642b2d24d8ec3
	x = (x ^ x>>27 ^ x>>54) * 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60
}

// nativeUID returns the node's native identifier: an instance id, or a resource name in the partition "simulated".
func (s *settings) nativeUID(n node) string {
	k := kinds[n.kind]
	if k.path == "" {
		return fmt.Sprintf("i-0%016x", mixBits(n.bitsOf())^s.key)
	}
	return "arn:simulated:" + k.service + ":" + regionNames[n.region] + ":" + s.number + ":" + k.path + s.nodeName(n)
}

// findNode returns which node of the kind and region a uid names, if there is one.
func (s *settings) findNode(kind int, region, uid string) (node, bool) {
	at := slices.Index(regionNames, region)
	if at < 0 {
		return node{}, false
	}
	number, ok := s.numberOf(kind, uid)
	n := node{kind: uint8(kind), region: uint8(at), number: number}
	if !ok || int(number) >= s.nodeCount(kind, region) || s.nativeUID(n) != uid ||
		s.drawHit(n, asVanish, s.faults.vanish) {
		return node{}, false
	}
	return n, true
}

func (s *settings) numberOf(kind int, uid string) (uint32, bool) {
	if kinds[kind].path == "" {
		v, err := strconv.ParseUint(strings.TrimPrefix(uid, "i-0"), 16, 64)
		return uint32(unmixBits(v ^ s.key)), err == nil
	}
	v, err := strconv.ParseUint(uid[strings.LastIndexByte(uid, '-')+1:], 10, 32)
	return uint32(v), err == nil
}

var (
	apps = []string{
		"orders", "payments", "search", "catalog", "billing", "identity", "media", "reports", "gateway",
		"ledger",
	}
	envs  = []string{"prod", "prod", "staging", "dev", "dev", "test"}
	teams = []string{"atlas", "borealis", "cinder", "delta", "ember"}
)

// nodeName is "<app>-<env>-<number>", behind the label and a hyphen when there is a label.
func (s *settings) nodeName(n node) string {
	name := s.pickFrom(n, asApp, apps) + "-" + s.envOf(n) + "-" + fmt.Sprintf("%05d", n.number)
	if s.label == "" {
		return name
	}
	return s.label + "-" + name
}

// envOf returns the environment of the node.
func (s *settings) envOf(n node) string {
	if p, is := s.plantedAs(n); is {
		return p.env
	}
	return s.pickFrom(n, asEnv, envs)
}

// isTagged reports whether the node has tags: one resource in ten has none.
func (s *settings) isTagged(n node) bool {
	return s.planted != nil || s.drawProperty(n, asTagged)%10 != 0
}

// tagsOf returns the tags that a tidy company would set, or nil.
func (s *settings) tagsOf(n node) map[string]string {
	if !s.isTagged(n) {
		return nil
	}
	app, team := s.pickFrom(n, asApp, apps), s.pickFrom(n, asTeam, teams)
	tags := map[string]string{
		"app": app, "env": s.envOf(n), "team": team, "cost-center": "cc-" + team,
	}
	if s.label != "" {
		tags["label"] = s.label
	}
	if kinds[n.kind].Type == cloud.AWSLambda && s.drawProperty(n, asBarred)%4 == 0 {
		tags[allowStop] = "true"
	}
	return tags
}

// createdAt returns when the node was made: some time in 2025.
func (s *settings) createdAt(n node) time.Time {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	return start.Add(time.Duration(s.drawProperty(n, asBorn)%(365*24*3600)) * time.Second)
}
