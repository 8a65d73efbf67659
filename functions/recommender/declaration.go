package recommender

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/domain/sizing"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration declares the table access, the schedule and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "recommender",
	Share:   8,                                        // shares of a large organization run beside each other
	Secrets: []platform.Secret{platform.PepperSecret}, // seals audit entries
	Access: cost.Reading.With(audit.Access).With(table.Access{
		Reads: []table.Partition{
			identity.DirectoryPartition, identity.MetaPartition, inventory.AccountPartition,
			inventory.ResourcePartition, inventory.IndexPartition, inventory.ChunkPartition,
			inventory.AttachedPartition, scheduling.SchedulePartition,
			scheduling.AttachmentPartition,
			opinion.AccountPartition, smarttag.Partition, pricing.Partition, sizing.Partition,
			execution.HistoryOfResourcePartition,
		},
		Writes: []table.Partition{
			identity.RotationPartition, recommendation.RowPartition, recommendation.ColumnPartition,
			recommendation.ChunkPartition, recommendation.RulePartition, recommendation.LedgerPartition,
			measurement.Partition, opinion.Partition, workqueue.Partition,
			remediation.Partition, // requests of rules that run without approval
		},
	}),
	Starts:   []string{recommendation.Machine, remediation.Machine}, // daily passes, and what they request
	Calls:    []string{remediation.Executor},
	Tasks:    []string{recommendation.Machine},
	Schedule: "rate(1 hour)",
	Heavy:    true,
	Samples:  []string{"schedule"},
}
