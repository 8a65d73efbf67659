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
	"aws-ec2":                   {"platform", "tenancy"},
	"aws-ebs":                   {"volume_type", "iops", "throughput_mibps"},
	"aws-rds":                   {"engine", "multi_az", "storage_type", "allocated_gb", "iops", "license_model"},
	"aws-eks-nodegroup":         {"capacity_type"},
	"aws-ecs":                   {"launch_type", "task_vcpu", "task_gib", "architecture", "os_family"},
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
	UID, Name, Type, Provider, Region, Class, CloudAccountID, ParentUID string

	Status       cloud.Status
	Capacity     map[string]int64
	Facts        string // IndexedFacts
	DiscoveredAt time.Time
}

// EachIndexed calls f with every resource of an organization, terminated ones left out, in no order: one round trip. f
// may keep the resources.
func (s *Store) EachIndexed(ctx context.Context, org string, f func(IndexedResource)) error {
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return err
	}
	v.st.RLock()
	defer v.st.RUnlock()
	for r := range v.st.Rows() {
		if status := cloud.Status(r.Word(index.StatusRef)); status != cloud.Terminated {
			f(indexedResource(v.st.Symbols, r, status))
		}
	}
	return nil
}

func indexedResource(syms *index.Symbols, r index.Row, status cloud.Status) IndexedResource {
	capacity, _, facts := splitAmounts(syms, r)
	return IndexedResource{
		UID: r.UID(), Name: r.Name(), Type: r.Word(index.KindRef), Provider: r.Word(index.ProviderRef),
		Region: r.Word(index.RegionRef), Class: r.Word(index.InstanceRef), CloudAccountID: r.Word(index.AccountRef),
		ParentUID: r.Word(index.ParentRef), Status: status, Facts: facts, DiscoveredAt: ulid.Time(r.ID().Time()).UTC(),
		Capacity: newCapacity(syms, capacity),
	}
}
