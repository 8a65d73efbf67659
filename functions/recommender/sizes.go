package recommender

import (
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/foundation/money"
)

// unsized is the reason of facts that depend on a machine type which the catalogue of sizes does not have.
const unsized condition.Reason = "unsized"

// sizeDerivations are the facts of machine types: their size, and the cheaper types that can replace them.
var sizeDerivations = []derivation{
	{"vcpu", sizedTypes, sizeFact(func(s sizing.Size) any { return s.VCPU })},
	{"memory_gib", sizedTypes, sizeFact(func(s sizing.Size) any { return s.GiB })},
	{"gpu_count", []string{"azure-vm"}, sizeFact(func(s sizing.Size) any { return s.GPUs })},
	{"shared_core", []string{"gcp-compute"}, sizeFact(func(s sizing.Size) any { return s.Shared })},
	{"newer_type", []string{
		"aws-ec2", "aws-asg", "aws-eks-nodegroup", "aws-elasticache", "gcp-compute", "gcp-gke-nodepool",
	}, replacement(sizing.Newer)},
	{"newer_type", []string{"aws-opensearch"}, replacement(sizing.AnyNewer)},
	{"newer_class", []string{"aws-rds", "aws-aurora"}, replacement(sizing.Newer)},
	{"newer_size", []string{"azure-vm", "azure-aks-nodepool"}, replacement(sizing.Newer)},
	{"arm_type", []string{
		"aws-ec2", "aws-asg", "aws-eks-nodegroup", "aws-elasticache", "gcp-compute", "gcp-gke-nodepool",
	}, replacement(sizing.Arm)},
	{"arm_class", []string{"aws-rds", "aws-aurora"}, replacement(sizing.Arm)},
	{"arm_size", []string{"azure-vm", "azure-aks-nodepool"}, replacement(sizing.Arm)},
	{"amd_type", []string{"aws-ec2"}, replacement(sizing.AMD)},
	{"amd_size", []string{"azure-vm"}, replacement(sizing.AMD)},
	{"e2_type", []string{"gcp-compute"}, replacement(sizing.Economical)},
}

// sizedTypes are the types whose vCPUs and memory follow from their machine type.
var sizedTypes = []string{"aws-rds", "aws-aurora", "azure-vm", "azure-vmss", "gcp-compute"}

// sizeFact returns the derivation of a fact of the size of the subject's machine type.
func sizeFact(of func(sizing.Size) any) func(*subject) (any, condition.Reason) {
	return func(s *subject) (any, condition.Reason) {
		if serverless, _ := s.facts.Value("serverless").(bool); serverless && s.Type == cloud.AWSAurora {
			return of(sizing.Size{}), "" // its capacity is no machine's
		}
		size, known := sizing.FindSize(vendorOf(s.Type), s.machine().Class)
		if !known {
			return nil, unsized
		}
		return of(size), ""
	}
}

// replacement returns the derivation of the cheapest type that can replace the subject's machine type and costs less,
// "" if there is none.
func replacement(w sizing.Wanted) func(*subject) (any, condition.Reason) {
	return func(s *subject) (any, condition.Reason) {
		m := s.machine()
		q := sizeQuery{s.Provider, s.Region, m.Type, m.Class, m.Inputs, w}
		a, known := s.cheapest[q]
		if !known {
			a = s.cheapestType(q)
			s.cheapest[q] = a
		}
		if a.why != "" {
			return nil, a.why
		}
		return a.class, ""
	}
}

// machine returns the fields that the price of one of the subject's machines depends on: for a group, of one of its
// instances; for a database cluster, of its instances if all have the same class.
func (s *subject) machine() pricing.Resource {
	r := pricing.Resource{Type: s.Type, Region: s.Region, Class: s.InstanceType}
	switch s.Type {
	case cloud.AWSASG: // it does not say which system its instances have; a licence costs the same per vCPU
		r.Type, r.Inputs = cloud.AWSEC2, linuxInstance
	case "azure-aks-nodepool":
		r.Type, r.Inputs = "azure-vm", linuxMachine
	case "aws-opensearch": // data nodes only
		r.Inputs = oneDataNode
	case cloud.AWSAurora:
		r.Type, r.Class = cloud.AWSRDS, ""
		if m := s.parts[s.UID].member; !m.mixed {
			r.Class, r.Inputs = m.class, m.facts
		}
	default:
		r.Inputs = s.indexedFacts()
	}
	return r
}

// The inputs of the prices of machines in groups.
var (
	linuxInstance = inventory.IndexedFacts(cloud.AWSEC2, cloud.Facts{"platform": "Linux/UNIX", "tenancy": "default"})
	linuxMachine  = inventory.IndexedFacts("azure-vm", cloud.Facts{"os_type": "Linux"})
	oneDataNode   = inventory.IndexedFacts("aws-opensearch",
		cloud.Facts{"data_nodes": 1.0, "dedicated_masters": 0.0, "warm_count": 0.0})
)

// vendorOf returns the provider whose type it is: that of resources of the simulated cloud is another.
func vendorOf(kind string) string {
	vendor, _, _ := strings.Cut(kind, "-")
	return vendor
}

// indexedFacts returns the inputs of the subject's price. They are formatted once for a subject.
func (s *subject) indexedFacts() string {
	if s.indexedRead {
		return s.indexed
	}
	clear(s.priceFacts)
	s.addInputFacts(s.priceFacts)
	s.indexed, s.indexedRead = inventory.IndexedFacts(s.Type, s.priceFacts), true
	return s.indexed
}

// sizeQuery asks which type replaces another at the prices of a region.
type sizeQuery struct {
	provider, region, kind, class, inputs string
	wanted                                sizing.Wanted
}

// sizeAnswer is the type that replaces another, "" for none, or the reason why it is unknown.
type sizeAnswer struct {
	class string
	why   condition.Reason
}

// cheapestType returns the cheapest of the types that answer a query, if it costs less than the present one.
func (in *inputs) cheapestType(q sizeQuery) sizeAnswer {
	types, known := sizing.Equivalents(vendorOf(q.kind), q.class, q.wanted)
	switch {
	case !known:
		return sizeAnswer{why: unsized}
	case len(types) == 0:
		return sizeAnswer{}
	}
	table := in.tables.table(pricing.ProviderRegion{Provider: q.provider, Region: q.region})
	switch {
	case table == nil:
		return sizeAnswer{why: unpriced}
	case table.Stale(in.now):
		return sizeAnswer{why: condition.Stale}
	}
	least, priced := q.hourly(table, q.class)
	if !priced {
		return sizeAnswer{why: unpriced}
	}
	out := sizeAnswer{}
	for _, class := range types {
		usd, priced := q.hourly(table, class) // a type without a price is not offered in the region
		if priced && (usd.Cmp(least) < 0 || usd.Cmp(least) == 0 && out.class != "" && class < out.class) {
			out.class, least = class, usd
		}
	}
	return out
}

// hourly returns the price of an hour of one running resource of the query with another class.
func (q *sizeQuery) hourly(t *pricing.Table, class string) (money.Amount, bool) {
	e := pricing.Rate(t, pricing.Resource{
		Type: q.kind, Region: q.region, Class: class, Status: cloud.Running, Capacity: oneMachine, Inputs: q.inputs,
	})
	return e.WhenRunning, e.OK()
}

// oneMachine is the capacity of a group of one machine: a comparison of types needs no number.
var oneMachine = map[string]int64{"desired": 1, "nodes": 1, "storageGiB": 0}
