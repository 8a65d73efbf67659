package gcp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// document is a resource as its own API returns it, for facts of types that have no struct. Google leaves out fields
// that are false, 0 or empty.
type document map[string]any

// documentOf returns the resource of an asset; false if the inventory does not hold it.
func documentOf(a *googlerest.Asset) (d document, told bool) {
	n := len(a.VersionedResources)
	return d, n > 0 && json.Unmarshal(a.VersionedResources[n-1].Resource, &d) == nil
}

// valueAt returns the value at a path of names with dots between them, or nil.
func (d document) valueAt(path string) any {
	var v any = map[string]any(d)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (d document) text(path string) string { s, _ := d.valueAt(path).(string); return s }

func (d document) flag(path string) bool { return d.valueAt(path) == true }

// number returns a number, which Google writes as text if it has 64 bits; 0 if it is not set.
func (d document) number(path string) float64 {
	switch v := d.valueAt(path).(type) {
	case float64:
		return v
	case string:
		n, _ := strconv.ParseFloat(v, 64)
		return n
	}
	return 0
}

func (d document) list(path string) []any { l, _ := d.valueAt(path).([]any); return l }

// texts returns the texts of a list.
func (d document) texts(path string) []string {
	out := []string{}
	for _, v := range d.list(path) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// documents returns the objects of a list.
func (d document) documents(path string) []document {
	var out []document
	for _, v := range d.list(path) {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// documentFacts are, by type, the facts of facts.csv in the resources of the inventory.
var documentFacts = map[string]func(d document, a *googlerest.Asset) cloud.Facts{
	"gcp-artifact-registry": repositoryFacts, "gcp-firewall": firewallFacts, "gcp-gcs": bucketFacts,
	"gcp-gke": clusterFacts, "gcp-interconnect-attachment": attachmentFacts, "gcp-kms-key": keyFacts,
	"gcp-log-bucket": logBucketFacts, "gcp-pubsub-subscription": subscriptionFacts, "gcp-spanner": spannerFacts,
	"gcp-filestore": fileFacts, "gcp-vpn": tunnelFacts,
}

func repositoryFacts(d document, _ *googlerest.Asset) cloud.Facts {
	policies, _ := d.valueAt("cleanupPolicies").(map[string]any)
	f := cloud.Facts{
		"cleanup_policies": float64(len(policies)), "dry_run": d.flag("cleanupPolicyDryRun"),
		"mode": "STANDARD_REPOSITORY",
	}
	if mode := d.text("mode"); mode != "" {
		f["mode"] = mode
	}
	if d.valueAt("sizeBytes") != nil { // the inventory does not always have it
		f["size_gb"] = d.number("sizeBytes") / 1e9
	}
	return f
}

// worldRanges are the ranges of every address.
var worldRanges = []string{"0.0.0.0/0", "::/0"}

func firewallFacts(d document, _ *googlerest.Asset) cloud.Facts {
	ports := []string{}
	for _, rule := range slices.Concat(d.documents("allowed"), d.documents("allow")) {
		given := rule.texts("ports")
		if len(given) == 0 {
			given = []string{"all"}
		}
		for _, p := range given {
			ports = append(ports, portsIn(p)...)
		}
	}
	slices.Sort(ports)
	ranges := d.texts("sourceRanges")
	direction := d.text("direction")
	if direction == "" {
		direction = "INGRESS"
	}
	return cloud.Facts{
		"enabled": !d.flag("disabled"), "direction": direction, "ports": slices.Compact(ports),
		"world_open": slices.ContainsFunc(ranges, func(r string) bool { return slices.Contains(worldRanges, r) }),
		"logging":    d.flag("logConfig.enable"),
	}
}

// watchedPorts are the ports that rules ask about. A range of ports is told as those of them that it contains.
var watchedPorts = []int{22, 1433, 3306, 3389, 5432, 6379, 9200, 27017}

// portsIn returns the ports that a text like "443", "all" or "20-25" means.
func portsIn(text string) []string {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		return []string{text}
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	switch {
	case err != nil || err2 != nil:
		return nil
	case from <= 1 && to == 65535:
		return []string{"all"}
	}
	var out []string
	for _, port := range watchedPorts {
		if from <= port && port <= to {
			out = append(out, strconv.Itoa(port))
		}
	}
	return out
}

func bucketFacts(d document, _ *googlerest.Asset) cloud.Facts {
	rules := d.documents("lifecycle.rule")
	f := cloud.Facts{
		"storage_class": d.text("storageClass"), "autoclass": d.flag("autoclass.enabled"),
		"lifecycle_rules": float64(len(rules)), "versioning": d.flag("versioning.enabled"),
		"noncurrent_rule": slices.ContainsFunc(rules, func(r document) bool {
			return r.valueAt("condition.isLive") == false || r.number("condition.numNewerVersions") > 0
		}),
		"public_prevention": d.text("iamConfiguration.publicAccessPrevention") == "enforced",
		"uniform_access":    d.flag("iamConfiguration.uniformBucketLevelAccess.enabled"),
		"soft_delete_days":  d.number("softDeletePolicy.retentionDurationSeconds") / 86400,
	}
	if kind := d.text("locationType"); kind != "" {
		f["location_type"] = kind
	}
	return f
}

func clusterFacts(d document, a *googlerest.Asset) cloud.Facts {
	return cloud.Facts{
		"autopilot": d.flag("autopilot.enabled"), "regional": regionName.MatchString(a.Location),
		"channel":             d.text("releaseChannel.channel"),
		"authorized_networks": d.flag("masterAuthorizedNetworksConfig.enabled"),
		"workload_identity":   d.text("workloadIdentityConfig.workloadPool") != "",
		"cost_allocation":     d.flag("costManagementConfig.enabled"),
		"autoscaling_profile": d.text("autoscaling.autoscalingProfile"),
		"logging_components":  d.texts("loggingConfig.componentConfig.enableComponents"),
	}
}

// bandwidthUnits are the units at the end of a bandwidth of an attachment: BPS_500M, BPS_10G.
var bandwidthUnits = map[byte]float64{'M': 1, 'G': 1000}

func attachmentFacts(d document, _ *googlerest.Asset) cloud.Facts {
	f := cloud.Facts{"state": d.text("state")}
	speed := strings.TrimPrefix(d.text("bandwidth"), "BPS_")
	if speed == "" {
		return f
	}
	n, err := strconv.ParseFloat(speed[:len(speed)-1], 64)
	if unit := bandwidthUnits[speed[len(speed)-1]]; err == nil && unit > 0 {
		f["bandwidth_mbps"] = n * unit
	}
	return f
}

// longestRotation is the longest period of a rotation that counts, in seconds: a year.
const longestRotation = 366 * 86400

func keyFacts(d document, _ *googlerest.Asset) cloud.Facts {
	period, err := strconv.ParseFloat(strings.TrimSuffix(d.text("rotationPeriod"), "s"), 64)
	return cloud.Facts{"purpose": d.text("purpose"), "rotation": err == nil && period > 0 && period <= longestRotation}
}

// defaultLogDays is how long a log bucket keeps its entries if it does not say how long.
const defaultLogDays = 30

func logBucketFacts(d document, a *googlerest.Asset) cloud.Facts {
	days := d.number("retentionDays")
	if days == 0 {
		days = defaultLogDays
	}
	return cloud.Facts{
		"retention_days": days, "locked": d.flag("locked"), "is_required": lastPart(a.Name) == "_Required",
	}
}

func subscriptionFacts(d document, _ *googlerest.Asset) cloud.Facts {
	return cloud.Facts{
		"retain_acked": d.flag("retainAckedMessages"), "topic_exists": d.text("topic") != "_deleted-topic_",
	}
}

func spannerFacts(d document, _ *googlerest.Asset) cloud.Facts {
	return cloud.Facts{
		"processing_units": d.number("processingUnits"), "autoscaled": d.valueAt("autoscalingConfig") != nil,
		"config": lastPart(d.text("config")),
	}
}

// fileFacts returns the capacity of the share of an instance. A share of it has 1 at the least.
func fileFacts(d document, _ *googlerest.Asset) cloud.Facts {
	for _, share := range d.documents("fileShares") {
		if gb := share.number("capacityGb"); gb > 0 {
			return cloud.Facts{"capacity_gb": gb}
		}
	}
	return cloud.Facts{}
}

func tunnelFacts(d document, _ *googlerest.Asset) cloud.Facts {
	if state := d.text("status"); state != "" {
		return cloud.Facts{"state": state}
	}
	return cloud.Facts{}
}
