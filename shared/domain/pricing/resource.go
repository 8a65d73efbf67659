package pricing

import (
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// Resource is what of a resource its price depends on.
type Resource struct {
	Type     string // "aws-ec2", also of a resource of the simulated cloud
	Region   string
	Class    string // instance type, or what stands for one
	Status   cloud.Status
	Capacity map[string]int64
	Inputs   string // of InputsOf
}

// inputNames are, by type, the facts that a price depends on.
var inputNames = map[string][]string{
	"aws-ec2":                   {"platform", "tenancy"},
	"aws-ebs":                   {"volume_type", "iops", "throughput_mibps"},
	"aws-rds":                   {"engine", "multi_az", "storage_type", "allocated_gb", "iops", "license_model"},
	"aws-eks-nodegroup":         {"capacity_type"},
	"aws-ecs":                   {"launch_type"},
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

// InputsOf returns the facts that the price of a type depends on, as one word that an index can keep: "engine=postgres;multi_az=1". A fact
// that is not known is missing, and one that is nothing may be there.
func InputsOf(kind string, facts cloud.Facts) string {
	var b []byte
	for _, name := range inputNames[kind] {
		v, known := facts[name]
		if !known {
			continue
		}
		if len(b) > 0 {
			b = append(b, ';')
		}
		b = append(append(b, name...), '=')
		b = appendInput(b, v)
	}
	return string(b)
}

func appendInput(b []byte, v any) []byte {
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

// input returns an input as it was written; false when it is not known.
func (r *Resource) input(name string) (string, bool) {
	for part := range strings.SplitSeq(r.Inputs, ";") {
		if n, v, ok := strings.Cut(part, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}

// word returns an input that is a word; "" when it is not known.
func (r *Resource) word(name string) string {
	v, _ := r.input(name)
	return v
}

// is reports whether a switch is known to be on.
func (r *Resource) is(name string) bool { return r.word(name) == "1" }
