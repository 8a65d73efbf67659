package gcp

import (
	"lamplighter.dev/shared/cloud/definition"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// The addresses of APIs that only changes use.
const (
	redisAPI     = "https://redis.googleapis.com/v1/"
	loggingAPI   = "https://logging.googleapis.com/v2/"
	storageAPI   = "https://storage.googleapis.com/storage/v1/"
	composerAPI  = "https://composer.googleapis.com/v1/"
	functionsAPI = "https://cloudfunctions.googleapis.com/v2/"
	reserveAPI   = "https://bigqueryreservation.googleapis.com/v1/"
)

// changedKinds are the kinds that remediation changes. A new kind is a line here and a line in the catalogue.
var changedKinds = []changedKind{
	{
		kind: disk, service: "compute.googleapis.com", base: googlerest.Compute, group: "compute.disks",
		users: []string{"users"}, mask: "paths",
		keeps: []string{"type", "sizeGb", "provisionedIops", "resourcePolicies"},
		values: []definition.Value{
			amount("provisioned_iops", "provisionedIops"), amount("size_gb", "sizeGb"), word("disk_type", "type"),
		},
	},
	{
		kind: "gcp-snapshot", service: "compute.googleapis.com", base: googlerest.Compute, group: "compute.snapshots",
	},
	{
		kind: "gcp-address", service: "compute.googleapis.com", base: googlerest.Compute, group: "compute.addresses",
		users: []string{"users"}, keeps: []string{"addressType", "networkTier", "ipVersion", "purpose", "subnetwork"},
	},
	{
		kind: "gcp-firewall", service: "compute.googleapis.com", base: googlerest.Compute, group: "compute.firewalls",
		values: []definition.Value{{Name: "enabled", Path: "disabled", Bool: true, Not: true, Or: "true"}},
	},
	{
		kind: "gcp-compute", service: "compute.googleapis.com", base: googlerest.Compute, group: "compute.instances",
		check: needsStoppedInstance, calls: map[string]string{"class": "setMachineType"},
		values: []definition.Value{word("class", "machineType")},
	},
	{
		kind: "gcp-cloudsql", service: "cloudsql.googleapis.com", base: googlerest.SQLAdmin,
		group: "cloudsql.instances", values: []definition.Value{
			word("class", "settings.tier"),
			{Name: "ha", Path: "settings.availabilityType", On: "REGIONAL", Off: "ZONAL", Or: "false"},
			{Name: "edition", Path: "settings.edition", Or: "ENTERPRISE"},
			flag("storage_auto", "settings.storageAutoResize"),
			flag("deletion_protection", "settings.deletionProtectionEnabled"),
			flag("backups", "settings.backupConfiguration.enabled"),
			amount("retained_backups", "settings.backupConfiguration.backupRetentionSettings.retainedBackups"),
		},
	},
	{
		kind: "gcp-gcs", service: "storage.googleapis.com", base: storageAPI, group: "storage.buckets",
		values: []definition.Value{
			{
				Name: "soft_delete_days", Path: "softDeletePolicy.retentionDurationSeconds", Number: true, Unit: 86400,
				Or: "0",
			},
			{
				Name: "public_prevention", Path: "iamConfiguration.publicAccessPrevention", On: "enforced",
				Off: "inherited", Or: "false",
			},
		},
	},
	{
		kind: "gcp-memorystore", service: "redis.googleapis.com", base: redisAPI, group: "redis.instances",
		mask: "updateMask", values: []definition.Value{amount("memory_gb", "memorySizeGb")},
	},
	{
		kind: "gcp-log-bucket", service: "logging.googleapis.com", base: loggingAPI, group: "logging.buckets",
		mask: "updateMask", values: []definition.Value{amount("retention_days", "retentionDays")},
	},
	{
		kind: "gcp-alloydb", service: "alloydb.googleapis.com", base: googlerest.AlloyDB, group: "alloydb.instances",
		mask: "updateMask", values: []definition.Value{
			{Name: "ha", Path: "availabilityType", On: "REGIONAL", Off: "ZONAL", Or: "false"},
		},
	},
	{
		kind: "gcp-bigquery-dataset", service: "bigquery.googleapis.com", base: googlerest.BigQuery,
		group: "bigquery.datasets", values: []definition.Value{
			{Name: "billing_model", Path: "storageBillingModel", Or: "LOGICAL"},
			{Name: "time_travel_hours", Path: "maxTimeTravelHours", Number: true, Or: "168"},
		},
	},
	{
		kind: "gcp-bigquery-reservation", service: "bigqueryreservation.googleapis.com", base: reserveAPI,
		group: "bigquery.reservations", mask: "updateMask",
		values: []definition.Value{amount("baseline_slots", "slotCapacity")},
	},
	{
		kind: "gcp-composer", service: "composer.googleapis.com", base: composerAPI, group: "composer.environments",
		mask: "updateMask", values: []definition.Value{word("environment_size", "config.environmentSize")},
	},
	{
		kind: "gcp-function", service: "cloudfunctions.googleapis.com", base: functionsAPI,
		group: "cloudfunctions.functions", mask: "updateMask", values: []definition.Value{
			{Name: "min_instances", Path: "serviceConfig.minInstanceCount", Number: true, Or: "0"},
		},
	},
}

func word(name, path string) definition.Value { return definition.Value{Name: name, Path: path} }

func amount(name, path string) definition.Value {
	return definition.Value{Name: name, Path: path, Number: true}
}

func flag(name, path string) definition.Value {
	return definition.Value{Name: name, Path: path, Bool: true, Or: "false"}
}
