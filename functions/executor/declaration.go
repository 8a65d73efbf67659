package executor

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "executor",
	Secrets: []platform.Secret{platform.GoogleCloudSecret},
	Share:   150,
	Access: table.Access{Reads: []table.Partition{
		identity.MetaPartition, identity.MemberPartition, override.Partition, inventory.ClusterPartition,
		readiness.Partition,
		scheduling.CalendarPartition, // calendars keep orders of schedules from acting
		recommendation.ChunkPartition,
	}, Writes: []table.Partition{
		inventory.AccountPartition, inventory.ResourcePartition, inventory.IndexPartition, inventory.ChunkPartition,
		execution.ActionPartition, execution.BulkPartition, execution.BulkGroupPartition,
		execution.ChunkPartition, execution.CountPartition, execution.HistoryPartition,
		execution.HistoryOfResourcePartition, event.Partition, execution.SnapshotPartition, workqueue.Partition,
		cloud.SimulatedPartition, throttle.Partition,
		readiness.CapturePartition, scheduling.EventHoldPartition, scheduling.DuePartition,
		readiness.PolicyPartition, // says which plan holds the capacity of a policy
		remediation.Partition, remediation.CapturePartition,
		scheduling.SchedulePartition, scheduling.AttachmentPartition, inventory.AttachedPartition, // attaches schedules
		recommendation.RowPartition, recommendation.ColumnPartition, // applied when carried out
	}},
	Starts:  []string{execution.Machine}, // for event readiness plans and remediation workflows
	Tasks:   []string{execution.Machine, execution.BulkMachine, readiness.Machine, remediation.Machine},
	Calls:   []string{readiness.Function},
	Opens:   []string{inventory.AccountSecret, inventory.ClusterSecret},
	Clouds:  true,
	Samples: []string{"run", "advance", "advance-remediation", "unknown-task"},
}
