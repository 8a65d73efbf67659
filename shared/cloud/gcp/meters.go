package gcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// meter is how Cloud Monitoring knows the resources of a type.
type meter struct {
	place  string   // the filter for the region, with a place for its name; "" if the names alone select
	name   string   // the label that selects single resources in a filter
	groups []string // the labels that identify a resource with several series; none when each resource has one series
	loose  bool     // names may have capitals, dots and underscores
	asked  func(r ref) (name, key string)
	told   func(s *googlerest.TimeSeries) (key string) // the key of the resource that a series is of
}

// isPlaced reports whether the series of a resource are selected by its region.
func (m meter) isPlaced() bool { return strings.Contains(m.place, "%s") }

// parse splits a uid into the parts that name its series.
func (m meter) parse(uid string) (ref, bool) {
	if !m.loose {
		return parseName(uid)
	}
	service, path, ok := strings.Cut(strings.TrimPrefix(uid, "//"), "/")
	parts := strings.Split(path, "/")
	r := ref{uid: uid, service: service, name: lastPart(path)}
	if i := slices.Index(parts, "locations"); i >= 0 && i+1 < len(parts) {
		r.location = parts[i+1]
	}
	return r, ok && strings.HasPrefix(uid, "//") && looseName.MatchString(r.name) && !strings.Contains(r.location, `"`)
}

// looseName is a name that is safe in a filter.
var looseName = regexp.MustCompile(`^[A-Za-z0-9_.~+%-]{1,255}$`)

// poolLabel names the node pool of a node.
const poolLabel = "cloud.google.com/gke-nodepool"

// byName returns how the resources of a type are measured that have a label with their name alone.
func byName(label string) meter {
	short := label[strings.LastIndex(label, ".")+1:]
	return meter{
		name: label, groups: []string{label}, loose: true,
		asked: func(r ref) (string, string) { return r.name, r.name },
		told: func(s *googlerest.TimeSeries) string {
			if strings.HasPrefix(label, "metric.") {
				return s.Metric.Labels[short]
			}
			return s.Resource.Labels[short]
		},
	}
}

// inPlace returns the meter with a filter for the region.
func (m meter) inPlace(filter string) meter { m.place = filter; return m }

var meters = map[string]meter{
	cloud.GCPCompute: instanceMeter,
	// the machine of a workbench has the name of its instance
	cloud.GCPNotebook: instanceMeter,
	cloud.GCPCloudSQL: {
		place: `resource.type = "cloudsql_database" AND resource.labels.region = "%s"`,
		name:  "resource.labels.database_id", groups: []string{"resource.labels.database_id"},
		asked: func(r ref) (string, string) { return r.project + ":" + r.name, r.project + ":" + r.name },
		told:  func(s *googlerest.TimeSeries) string { return s.Resource.Labels["database_id"] },
	},
	cloud.GCPMIG: {
		place: `resource.type = "gce_instance" AND resource.labels.zone = starts_with("%s-")`, name: groupLabel,
		groups: []string{groupLabel},
		asked:  func(r ref) (string, string) { return r.name, r.name },
		told: func(s *googlerest.TimeSeries) string {
			var labels struct {
				Group string `json:"instance_group"`
			}
			if s.Metadata == nil || json.Unmarshal(s.Metadata.SystemLabels, &labels) != nil {
				return ""
			}
			return labels.Group
		},
	},
	cloud.GCPGKENodepool: {
		place: `resource.type = "k8s_node" AND resource.labels.location = starts_with("%s")`,
		name:  "resource.labels.cluster_name",
		groups: []string{
			"resource.labels.location", "resource.labels.cluster_name",
			`metadata.user_labels."` + poolLabel + `"`,
		},
		asked: func(r ref) (string, string) { return r.cluster, r.location + "/" + r.cluster + "/" + r.name },
		told: func(s *googlerest.TimeSeries) string {
			if s.Metadata == nil {
				return ""
			}
			return s.Resource.Labels["location"] + "/" + s.Resource.Labels["cluster_name"] + "/" +
				s.Metadata.UserLabels[poolLabel]
		},
	},
	cloud.GCPCloudRun: {
		place:  `resource.type = "cloud_run_revision" AND resource.labels.location = "%s"`,
		name:   "resource.labels.service_name",
		groups: []string{"resource.labels.service_name"},
		asked:  func(r ref) (string, string) { return r.name, r.name },
		told:   func(s *googlerest.TimeSeries) string { return s.Resource.Labels["service_name"] },
	},
	"gcp-memorystore": {
		place:  `resource.type = "redis_instance" AND resource.labels.region = "%s"`,
		name:   "resource.labels.instance_id",
		groups: []string{"resource.labels.instance_id"},
		asked: func(r ref) (string, string) {
			id := strings.TrimPrefix(r.uid, "//redis.googleapis.com/")
			return id, id
		},
		told: func(s *googlerest.TimeSeries) string { return s.Resource.Labels["instance_id"] },
	},
	cloud.GCPAlloyDB: {
		place: `resource.type = "alloydb.googleapis.com/Instance" AND resource.labels.location = "%s"`,
		name:  "resource.labels.instance_id",
		groups: []string{
			"resource.labels.cluster_id", "resource.labels.instance_id",
		},
		asked: func(r ref) (string, string) { return r.name, r.cluster + "/" + r.name },
		told: func(s *googlerest.TimeSeries) string {
			return s.Resource.Labels["cluster_id"] + "/" + s.Resource.Labels["instance_id"]
		},
	},
	cloud.GCPDataproc: byName("resource.labels.cluster_name").
		inPlace(`resource.type = "cloud_dataproc_cluster" AND resource.labels.region = "%s"`),
	// a bucket in several regions is global here, and its name is unique in the world
	"gcp-gcs": byName("resource.labels.bucket_name").inPlace(`resource.type = "gcs_bucket"`),
	"gcp-pubsub-subscription": byName("resource.labels.subscription_id").
		inPlace(`resource.type = "pubsub_subscription"`),
	"gcp-spanner": byName("resource.labels.instance_id").inPlace(`resource.type = "spanner_instance"`),
	// requests are of tables, which are another type of resource than clusters
	"gcp-bigtable": byName("resource.labels.instance"),
	"gcp-vpn": byName("metric.labels.tunnel_name").
		inPlace(`resource.type = "vpn_gateway" AND resource.labels.region = "%s"`),
	"gcp-filestore": {
		place: `resource.type = "filestore_instance" AND resource.labels.location = starts_with("%s")`,
		name:  "resource.labels.instance_name",
		groups: []string{
			"resource.labels.location", "resource.labels.instance_name",
		},
		asked: func(r ref) (string, string) { return r.name, r.location + "/" + r.name },
		told: func(s *googlerest.TimeSeries) string {
			return s.Resource.Labels["location"] + "/" + s.Resource.Labels["instance_name"]
		},
	},
	"gcp-log-bucket": {
		place: `resource.type = "global"`, name: "metric.labels.log_bucket_id", loose: true,
		groups: []string{"metric.labels.log_bucket_location", "metric.labels.log_bucket_id"},
		asked:  func(r ref) (string, string) { return r.name, r.location + "/" + r.name },
		told: func(s *googlerest.TimeSeries) string {
			return s.Metric.Labels["log_bucket_location"] + "/" + s.Metric.Labels["log_bucket_id"]
		},
	},
	"gcp-interconnect-attachment": byName("resource.labels.attachment").
		inPlace(`resource.type = "interconnect_attachment" AND resource.labels.region = "%s"`),
}

var instanceMeter = meter{
	place: `resource.type = "gce_instance" AND resource.labels.zone = starts_with("%s-")`,
	name:  "metric.labels.instance_name",
	// the bytes of a disk, and those behind a load balancer, have series of their own
	groups: []string{"resource.labels.zone", "metric.labels.instance_name"},
	asked:  func(r ref) (string, string) { return r.name, r.location + "/" + r.name },
	told: func(s *googlerest.TimeSeries) string {
		return s.Resource.Labels["zone"] + "/" + s.Metric.Labels["instance_name"]
	},
}
