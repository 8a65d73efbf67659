package cloud

import "slices"

// gcpChanges returns the changes of Google Cloud.
func gcpChanges() []KindChange {
	return slices.Concat([]KindChange{
		{
			Type: "gcp-disk", Verb: Delete, Copies: true, Call: "compute.disks.delete",
			Undo:   "compute.disks.insert makes a disk of the same name of the snapshot",
			Limits: []string{"a restored disk has the same name, and another numeric ID: attach it again"},
			Needs: []string{
				"compute.disks.get", "compute.disks.setLabels", "compute.disks.createSnapshot", "compute.disks.delete",
				"compute.disks.create", "compute.snapshots.create", "compute.snapshots.get",
				"compute.snapshots.setLabels",
				"compute.snapshots.useReadOnly",
			},
		},
		{
			Type: "gcp-snapshot", Verb: Delete, Call: "compute.snapshots.delete", Undo: noUndo,
			Limits: []string{lostForGood},
			Needs:  []string{"compute.snapshots.get", "compute.snapshots.setLabels", "compute.snapshots.delete"},
		},
		{
			Type: "gcp-address", Verb: Release, Call: "compute.addresses.delete",
			Undo:   "compute.addresses.insert reserves an address under the same name",
			Limits: []string{"the address itself does not come back: the new one is another"},
			Needs:  []string{"compute.addresses.get", "compute.addresses.delete", "compute.addresses.create"},
		},
		{
			Type: "gcp-compute", Verb: Resize, Sets: []string{"class"}, Call: "compute.instances.setMachineType",
			Undo:   "compute.instances.setMachineType sets the type before",
			Limits: []string{"Google may lack capacity for the type before"},
			Needs:  []string{"compute.instances.get", "compute.instances.setMachineType"},
		},
	}, gcpSettings())
}

// gcpSettings returns the changes that a PATCH makes.
func gcpSettings() []KindChange {
	const (
		sql      = "cloudsql.instances"
		buckets  = "storage.buckets"
		datasets = "bigquery.datasets"
	)
	iops := gcpSet("gcp-disk", ChangeStorage, "compute.disks", "provisioned_iops")
	iops.Needs = append(iops.Needs, "compute.snapshots.get")
	billing := gcpSet("gcp-bigquery-dataset", Resize, datasets, "billing_model")
	billing.Limits = []string{"the billing model can be changed again after 14 days"}
	return []KindChange{
		iops, billing,
		gcpSet("gcp-bigquery-dataset", SetLifecycle, datasets, "time_travel_hours"),
		gcpSet("gcp-firewall", Guard, "compute.firewalls", "enabled"),
		gcpSet("gcp-cloudsql", Resize, sql, "class", "ha", "edition"),
		gcpSet("gcp-cloudsql", ChangeStorage, sql, "storage_auto"),
		gcpSet("gcp-cloudsql", SetLifecycle, sql, "retained_backups"),
		gcpSet("gcp-cloudsql", Guard, sql, "ha", "backups", "deletion_protection"),
		gcpSet("gcp-gcs", SetLifecycle, buckets, "soft_delete_days"),
		gcpSet("gcp-gcs", Guard, buckets, "public_prevention"),
		gcpSet("gcp-memorystore", Resize, "redis.instances", "memory_gb"),
		gcpSet("gcp-log-bucket", SetLifecycle, "logging.buckets", "retention_days"),
		gcpSet("gcp-alloydb", Resize, "alloydb.instances", "ha"),
		gcpSet("gcp-bigquery-reservation", Resize, "bigquery.reservations", "baseline_slots"),
		gcpSet("gcp-composer", Resize, "composer.environments", "environment_size"),
		gcpSet("gcp-function", Resize, "cloudfunctions.functions", "min_instances"),
	}
}

// gcpSet describes a PATCH of some values. group is the first part of its permissions.
func gcpSet(kind string, verb ChangeVerb, group string, values ...string) KindChange {
	return KindChange{
		Type: kind, Verb: verb, Sets: values, Call: group + ".patch", Undo: group + ".patch sets the values before",
		Needs: []string{group + ".get", group + ".update"},
	}
}
