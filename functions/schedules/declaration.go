package schedules

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "schedules",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes: []string{
		"/resource-groups/{groupID}/schedules", "/schedules", "/schedules/{scheduleID}",
		"/schedules/{scheduleID}/{proxy+}",
	},
	Access: rest.Access.With(override.Access, table.Access{
		Reads: []table.Partition{
			override.Partition, inventory.ChunkPartition, scheduling.EventHoldPartition,
			readiness.Partition,
			readiness.PolicyPartition, evaluation.FiringPartition,
		},
		Writes: []table.Partition{
			scheduling.SchedulePartition, scheduling.ScheduleNamePartition, scheduling.AttachmentPartition,
			scheduling.DuePartition,
			scheduling.CalendarPartition, // counts how often it was put into a schedule
			inventory.AttachedPartition, inventory.IndexPartition,
			inventory.AccountPartition, // counts how often its resources are named
		},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "schedule", Prefix: "sch", Delete: "deleteSchedule"}},
	Names: []platform.Reference{
		{From: "schedule", To: "calendar", Fields: []string{"calendarIDs"}, OnDelete: platform.Refused},
		{From: "schedule", To: "resource group", Fields: []string{"groupID"}, OnDelete: platform.Refused},
		{From: "schedule", To: "resource", Fields: []string{"resourceID", "resourceUID"}, OnDelete: platform.Detached},
		{From: "schedule", To: "cloud account", OnDelete: platform.Refused, OnDetach: platform.Detached},
	},
}
