package gcp_test

import (
	"maps"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

const zone = region + "-b"

// tellAll adds one resource of each type, with all facts, to the twin.
func tellAll(tw *gcptwin.Cloud) {
	tw.AddInstance(gcptwin.Instance{Name: "web", Zone: zone, Status: "TERMINATED", Policies: []string{"nightly"}})
	tw.Describe("web", `{"scheduling":{"provisioningModel":"SPOT","automaticRestart":false},
		"guestAccelerators":[{"acceleratorCount":2}],
		"networkInterfaces":[{"accessConfigs":[{"natIP":"192.0.2.1"}]}],"shieldedInstanceConfig":{"enableVtpm":true,
		"enableIntegrityMonitoring":true},
		"serviceAccounts":[{"email":"1-compute@developer.gserviceaccount.com",
		"scopes":["https://www.googleapis.com/auth/cloud-platform"]}],
		"metadata":{"items":[{"key":"serial-port-enable","value":"1"}]},"lastStartTimestamp":"2026-03-01T00:00:00Z",
		"disks":[{"type":"PERSISTENT","boot":true,"licenses":["https://x/global/licenses/windows-server-2022-dc"]}]}`)
	tw.AddGroup(gcptwin.Group{
		Name: "workers", Zone: zone, Size: 3,
		Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"},
	})
	tw.Describe("workers", `{"autoHealingPolicies":[{"healthCheck":"x"}]}`)
	tw.AddDatabase(gcptwin.Database{Name: "orders", Region: region, Replicas: []string{"copy"}})
	tw.Describe("orders", `{"databaseVersion":"POSTGRES_16","settings":{"tier":"db-custom-4-16384",
		"edition":"ENTERPRISE","availabilityType":"REGIONAL",
		"dataDiskSizeGb":"100","storageAutoResize":true,"deletionProtectionEnabled":true,
		"backupConfiguration":{"enabled":true,"backupRetentionSettings":{"retainedBackups":7}},
		"ipConfiguration":{"ipv4Enabled":true,"sslMode":"ENCRYPTED_ONLY",
		"authorizedNetworks":[{"value":"0.0.0.0/0"}]}}}`)
	prod := tw.AddCluster(gcptwin.Cluster{Name: "prod", Location: region})
	tw.AddPool(prod, gcptwin.Pool{
		Name: "batch", Zones: []string{zone},
		Scaling: map[string]any{"enabled": true, "minNodeCount": 1, "maxNodeCount": 5},
	}, 3)
	tw.Describe("batch",
		`{"config":{"spot":true,"serviceAccount":"nodes@acme"},"management":{"autoUpgrade":true,"autoRepair":true}}`)
	tw.AddService(gcptwin.Service{Name: "shop", Region: region, Min: 2, Max: 9})
	tw.Describe("projects/"+gcptwin.Project+"/locations/"+region+"/services/shop", `{"ingress":"INGRESS_TRAFFIC_ALL",
		"template":{"maxInstanceRequestConcurrency":80,
		"containers":[{"resources":{"limits":{"cpu":"500m","memory":"512Mi"}}}],
		"nodeSelector":{"accelerator":"nvidia-l4"}}}`)
	disk := "compute.googleapis.com/projects/acme-prod/zones/" + zone + "/disks/data"
	instance := "compute.googleapis.com/projects/acme-prod/zones/" + zone + "/instances/web"
	user := `"users":["https://www.googleapis.com/compute/v1/projects/acme-prod/zones/` + zone + `/instances/web"]`
	for _, a := range []struct{ kind, at, path, thing string }{
		{
			"compute.googleapis.com/Disk", zone, disk,
			`{"sizeGb":"100","type":"https://x/diskTypes/pd-ssd","lastDetachTimestamp":"2026-02-01T00:00:00Z",
				"resourcePolicies":["x"],` + user + `}`,
		},
		{
			"compute.googleapis.com/Instance", zone, instance,
			`{"status":"TERMINATED","lastStopTimestamp":"2026-02-02T00:00:00Z"}`,
		},
		{
			"compute.googleapis.com/Snapshot", "eu", "compute.googleapis.com/projects/acme-prod/global/snapshots/s",
			`{"sourceDisk":"https://x/projects/acme-prod/zones/` + zone +
				`/disks/data","creationTimestamp":"2026-02-03T00:00:00Z"}`,
		},
		{
			"compute.googleapis.com/Address", region, "compute.googleapis.com/projects/acme-prod/regions/r/addresses/a",
			`{"status":"IN_USE","addressType":"EXTERNAL",` + user + `}`,
		},
		{
			"redis.googleapis.com/Instance", region, "redis.googleapis.com/projects/acme-prod/locations/r/instances/c",
			`{"tier":"STANDARD_HA","memorySizeGb":5,"authEnabled":true}`,
		},
		{
			"artifactregistry.googleapis.com/Repository", region,
			"artifactregistry.googleapis.com/projects/acme-prod/locations/r/repositories/images",
			`{"sizeBytes":"5000000000","cleanupPolicies":{"old":{"action":"DELETE"}},"cleanupPolicyDryRun":true}`,
		},
		{
			"storage.googleapis.com/Bucket", region, "storage.googleapis.com/acme-media",
			`{"storageClass":"STANDARD","locationType":"region","versioning":{"enabled":true},
				"lifecycle":{"rule":[{"action":{"type":"Delete"},"condition":{"numNewerVersions":3}}]},
				"iamConfiguration":{"publicAccessPrevention":"enforced",
				"uniformBucketLevelAccess":{"enabled":true}},
				"softDeletePolicy":{"retentionDurationSeconds":"604800"}}`,
		},
		{
			"container.googleapis.com/Cluster", region,
			"container.googleapis.com/projects/acme-prod/locations/r/clusters/prod",
			`{"releaseChannel":{"channel":"REGULAR"},"workloadIdentityConfig":{"workloadPool":"acme.svc.id.goog"},
				"loggingConfig":{"componentConfig":{"enableComponents":["SYSTEM_COMPONENTS","WORKLOADS"]}},
				"autoscaling":{"autoscalingProfile":"BALANCED"}}`,
		},
		{
			"compute.googleapis.com/InterconnectAttachment", region,
			"compute.googleapis.com/projects/acme-prod/regions/r/interconnectAttachments/a",
			`{"state":"PENDING_PARTNER","bandwidth":"BPS_10G"}`,
		},
		{
			"cloudkms.googleapis.com/CryptoKey", region,
			"cloudkms.googleapis.com/projects/acme-prod/locations/r/keyRings/k/cryptoKeys/key",
			`{"purpose":"ENCRYPT_DECRYPT","rotationPeriod":"7776000s"}`,
		},
		{
			"logging.googleapis.com/LogBucket", region,
			"logging.googleapis.com/projects/acme-prod/locations/r/buckets/_Required",
			`{"retentionDays":400,"locked":true}`,
		},
		{
			"pubsub.googleapis.com/Subscription", region, "pubsub.googleapis.com/projects/acme-prod/subscriptions/s",
			`{"topic":"_deleted-topic_","retainAckedMessages":true}`,
		},
		{
			"file.googleapis.com/Instance", zone, "file.googleapis.com/projects/acme-prod/locations/" + zone +
				"/instances/nfs", `{"fileShares":[{"name":"vol1","capacityGb":"2560"}]}`,
		},
		{
			"compute.googleapis.com/VpnTunnel", region,
			"compute.googleapis.com/projects/acme-prod/regions/r/vpnTunnels/t", `{"status":"NO_INCOMING_PACKETS"}`,
		},
		{
			"spanner.googleapis.com/Instance", region, "spanner.googleapis.com/projects/acme-prod/instances/s",
			`{"config":"projects/acme-prod/instanceConfigs/nam3","processingUnits":1000}`,
		},
	} {
		one := asset(a.kind, a.at, a.path)
		one.Thing = a.thing
		tw.AddAsset(one)
	}
	dataset := asset("bigquery.googleapis.com/Dataset", region, "bigquery.googleapis.com/projects/acme-prod/datasets/d")
	dataset.Public = true
	tw.AddAsset(dataset)
	tellManaged(tw)
}

func tellManaged(tw *gcptwin.Cloud) {
	maps.Copy(tw.AddWorkbench(zone, "n").Body,
		map[string]any{"gceSetup": map[string]any{"metadata": map[string]any{"idle-timeout-seconds": "3600"}}})
	maps.Copy(tw.AddSparkCluster(region, "d", 0, 0).Body, map[string]any{"config": map[string]any{
		"lifecycleConfig":       map[string]any{"idleDeleteTtl": "600s"},
		"autoscalingConfig":     map[string]any{"policyUri": "p"},
		"secondaryWorkerConfig": map[string]any{"numInstances": 3}, "workerConfig": map[string]any{"numInstances": 2},
	}})
	maps.Copy(tw.AddAlloyInstance(region, "c", "i", "READ_POOL").Body, map[string]any{
		"machineConfig": map[string]any{"cpuCount": 8}, "readPoolConfig": map[string]any{"nodeCount": 2},
		"availabilityType": "REGIONAL",
	})
}

func TestFactsAreAllToldThatTheRulesRead(t *testing.T) {
	tw, c := connect(t)
	tellAll(tw)
	found := cloudtest.ListAll(t, c, region, cloudtest.KindsOf("gcp")...)
	cloudtest.CheckFacts(t, "gcp", found)
	told := map[string]any{}
	for _, r := range found {
		for name, v := range r.Facts {
			if r.Name == "batch" || r.Type != cloud.GCPMIG || r.Name == "workers" {
				told[r.Type+"."+name] = v
			}
		}
	}
	day := func(n int) time.Time { return time.Date(2026, 2, n, 0, 0, 0, 0, time.UTC) }
	for name, want := range map[string]any{
		"gcp-compute.spot": true, "gcp-compute.gpu_count": 2.0, "gcp-compute.os_license": "windows-server-2022-dc",
		"gcp-compute.auto_restart": false,
		"gcp-compute.default_sa":   true, "gcp-mig.autohealing": true, "gcp-mig.min_replicas": 2.0,
		"gcp-mig.unstable_since": cloud.Never,
		"gcp-cloudsql.vcpu":      4.0, "gcp-cloudsql.open_network": true, "gcp-cloudsql.retained_backups": 7.0,
		"gcp-gke-nodepool.node_count": 3.0,
		"gcp-gke-nodepool.default_sa": false, "gcp-cloudrun.cpu_limit": 0.5, "gcp-cloudrun.cpu_always": true,
		"gcp-cloudrun.gpu":        true,
		"gcp-disk.instance_state": "TERMINATED", "gcp-disk.instance_stopped_at": day(2),
		"gcp-disk.last_snapshot_at": day(3),
		"gcp-disk.snapshot_policy":  true, "gcp-address.instance_state": "TERMINATED",
		"gcp-notebook.idle_shutdown": true,
		"gcp-dataproc.state":         "RUNNING", "gcp-alloydb.nodes": 2.0, "gcp-memorystore.memory_gb": 5.0,
		"gcp-artifact-registry.size_gb": 5.0, "gcp-artifact-registry.cleanup_policies": 1.0,
		"gcp-artifact-registry.mode": "STANDARD_REPOSITORY", "gcp-gcs.uniform_access": true,
		"gcp-gcs.noncurrent_rule": true, "gcp-gcs.soft_delete_days": 7.0, "gcp-gke.channel": "REGULAR",
		"gcp-gke.regional": true, "gcp-gke.workload_identity": true, "gcp-gke.authorized_networks": false,
		"gcp-interconnect-attachment.bandwidth_mbps": 10000.0, "gcp-kms-key.rotation": true,
		"gcp-log-bucket.is_required": true, "gcp-pubsub-subscription.topic_exists": false,
		"gcp-spanner.config": "nam3", "gcp-gcs.public": false, "gcp-bigquery-dataset.public": true,
		"gcp-filestore.capacity_gb": 2560.0, "gcp-vpn.state": "NO_INCOMING_PACKETS",
	} {
		if told[name] != want {
			t.Errorf("%s is told as %v; want %v", name, told[name], want)
		}
	}
	if got := told["gcp-cloudrun.memory_mb"].(float64); got < 536 || got > 537 {
		t.Errorf("512Mi are %v MB", got)
	}
}
