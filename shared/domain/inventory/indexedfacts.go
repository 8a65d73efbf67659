package inventory

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// indexedFacts are, by type, the facts that the index keeps: the facts for the price and the emissions of a resource.
var indexedFacts = map[string][]string{
	"aws-ec2":           {"platform", "tenancy"},
	"aws-ebs":           {"volume_type", "iops", "throughput_mibps"},
	"aws-rds":           {"engine", "multi_az", "storage_type", "allocated_gb", "iops", "license_model"},
	"aws-eks-nodegroup": {"capacity_type"},
	"aws-ecs": {
		"launch_type", "task_vcpu", "task_gib", "task_storage_gib", "architecture", "os_family",
	},
	"aws-elb":                   {"lb_type"},
	"aws-elasticache":           {"engine"},
	"aws-opensearch":            {"data_nodes", "dedicated_masters", "warm_count", "volume_type", "volume_gb"},
	"aws-lambda":                {"provisioned_concurrency", "memory_mb", "architecture"},
	"azure-vm":                  {"os_type", "priority", "license_type"},
	"azure-vmss":                {"priority"},
	"azure-aks":                 {"tier"},
	"azure-aks-nodepool":        {"count", "spot"},
	"azure-disk":                {"sku", "tier_iops", "tier_mbps"},
	"azure-publicip":            {"sku", "allocation"},
	"azure-loadbalancer":        {"sku", "rule_count"},
	"azure-sql-database":        {"pool_id", "serverless", "zone_redundant", "max_gb"},
	"azure-postgresql-flexible": {"vcores", "ha_mode", "storage_gb", "iops"},
	"azure-mysql-flexible":      {"vcores", "ha_mode", "storage_gb", "iops"},
	"azure-appserviceplan":      {"workers"},
	"gcp-compute":               {"spot", "gpu_count", "local_ssd_count", "os_license"},
	"gcp-disk":                  {"disk_type", "size_gb", "provisioned_iops", "regional"},
	"gcp-cloudsql":              {"engine", "edition", "ha", "storage_gb", "storage_type"},
	"gcp-gke-nodepool":          {"node_count", "spot"},
	"gcp-cloudrun":              {"min_instances", "cpu_limit", "memory_mb", "cpu_always"},
	"gcp-address":               {"state", "address_type"},
	"gcp-forwarding-rule":       {"scheme"},
	"kubernetes-deployment":     {"cpu_request_cores", "mem_request_gib"},
	"kubernetes-statefulset":    {"cpu_request_cores", "mem_request_gib"},
	"kubernetes-daemonset":      {"cpu_request_cores", "mem_request_gib"},
}

// IndexedFactNames lists the facts of a type that the index keeps. Callers must not change the list.
func IndexedFactNames(kind string) []string { return indexedFacts[kind] }

// IndexedFacts returns the indexed facts of a resource as one string: "engine=postgres;multi_az=1". An unknown fact is
// missing. A fact that is empty, false or 0 is included.
func IndexedFacts(kind string, facts cloud.Facts) string {
	var b []byte
	for _, name := range indexedFacts[kind] {
		v, known := facts[name]
		if !known {
			continue
		}
		if len(b) > 0 {
			b = append(b, ';')
		}
		b = append(append(b, name...), '=')
		b = appendFact(b, v)
	}
	return string(b)
}

func appendFact(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(b, strings.ReplaceAll(v, ";", ",")...)
	case bool:
		if v {
			return append(b, '1')
		}
		return append(b, '0')
	case float64:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return b
}

// IndexedResource is a resource with the price inputs that the index knows.
type IndexedResource struct {
	UID, Name, Type, Provider, Region, Zone, Class, CloudAccountID, ParentUID string

	Status       cloud.Status
	StatusAt     time.Time // of the observation behind Status
	ChangedAt    time.Time // of the observation behind the other fields and the facts
	Capacity     map[string]int64
	Facts        string // IndexedFacts
	DiscoveredAt time.Time

	id ulid.ULID
}

// ID returns the id of the resource, which begins with res_.
func (r *IndexedResource) ID() string { return formatID(r.id) }

// indexedAtOnce is the number of resources that EachIndexed reads under one lock.
const indexedAtOnce = 4096

// EachIndexed calls f with every resource of an organization, terminated ones left out, in no order: one round trip.
// f may keep the resources, and take its time: it holds no lock of the index, so later resources may be of a later
// moment.
func (s *Store) EachIndexed(ctx context.Context, org string, f func(IndexedResource)) error {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return err
	}
	some := make([]IndexedResource, 0, indexedAtOnce)
	for from, more := int32(0), true; more; from += indexedAtOnce {
		if some, more = readIndexed(v.st, from, some[:0]); ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range some {
			f(some[i])
		}
	}
	return nil
}

// readIndexed appends the resources of the rows from a number on, and reports whether there are further ones.
func readIndexed(st *index.State, from int32, to []IndexedResource) (some []IndexedResource, more bool) {
	st.RLock()
	defer st.RUnlock()
	for r := range st.RowsFrom(from, indexedAtOnce) {
		if status := cloud.Status(r.Word(index.StatusRef)); status != cloud.Terminated {
			to = append(to, indexedResource(st.Symbols, r, status))
		}
	}
	return to, st.HasRow(from + indexedAtOnce)
}

func indexedResource(syms *index.Symbols, r index.Row, status cloud.Status) IndexedResource {
	capacity, _, facts := splitAmounts(syms, r)
	return IndexedResource{
		UID: r.UID(), Name: r.Name(), Type: r.Word(index.KindRef), Provider: r.Word(index.ProviderRef),
		Region: r.Word(index.RegionRef), Zone: r.Word(index.ZoneRef), Class: r.Word(index.InstanceRef),
		CloudAccountID: r.Word(index.AccountRef),
		ParentUID:      r.Word(index.ParentRef), Status: status, Facts: facts,
		DiscoveredAt: ulid.Time(r.ID().Time()).UTC(), Capacity: newCapacity(syms, capacity),
		StatusAt:  timeOfMicros(r.Time(index.StatusTime)),
		ChangedAt: timeOfMicros(r.Time(index.ContentTime)), id: r.ID(),
	}
}
