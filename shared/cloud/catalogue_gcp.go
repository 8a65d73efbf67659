package cloud

import "time"

// The kinds of Google Cloud that this service acts on, by their types.
const (
	GCPCompute     = "gcp-compute"
	GCPMIG         = "gcp-mig"
	GCPCloudSQL    = "gcp-cloudsql"
	GCPGKENodepool = "gcp-gke-nodepool"
	GCPCloudRun    = "gcp-cloudrun"
	GCPWorkstation = "gcp-workstation"
	GCPNotebook    = "gcp-notebook"
	GCPDataproc    = "gcp-dataproc"
	GCPAlloyDB     = "gcp-alloydb"
)

// gcpKinds are the kinds of Google Cloud. It acts on one resource a call; the batch of instances is of those that are
// looked at together before each is acted on.
var gcpKinds = []Kind{
	{
		Type: GCPCompute, Provider: "gcp", Name: "Compute Engine instance", Actionable: true,
		ActBatch: 20, ReadBatch: 50, Deadline: 10 * time.Minute, Usual: 20 * time.Second,
	},
	{
		Type: GCPMIG, Provider: "gcp", Name: "Managed instance group", Actionable: true, Scalable: true,
		Remembers: true, Absolute: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: GCPCloudSQL, Provider: "gcp", Name: "Cloud SQL instance", Actionable: true, Remembers: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 45 * time.Minute,
	},
	{
		Type: GCPGKENodepool, Provider: "gcp", Name: "GKE node pool", Actionable: true, Scalable: true, Remembers: true,
		ActBatch: 1, ReadBatch: 20, Deadline: 30 * time.Minute,
	},
	{
		Type: GCPCloudRun, Provider: "gcp", Name: "Cloud Run service", Actionable: true, Scalable: true,
		Remembers: true, Absolute: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 10 * time.Minute,
	},
	{
		Type: GCPWorkstation, Provider: "gcp", Name: "Cloud Workstation", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: GCPNotebook, Provider: "gcp", Name: "Vertex AI Workbench instance", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: GCPDataproc, Provider: "gcp", Name: "Dataproc cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: GCPAlloyDB, Provider: "gcp", Name: "AlloyDB instance", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 30 * time.Minute,
	},
}

// GCPOthers is the kind of Google Cloud that stands for everything which no other kind lists.
const GCPOthers = "gcp-*"

var gcpOthers = Kind{Type: GCPOthers, Provider: "gcp", Name: "Everything else", Global: true, Discoverable: true}
