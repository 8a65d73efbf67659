package calendars

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "calendars",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(table.Access{
		Reads:  []table.Partition{scheduling.SchedulePartition},
		Writes: []table.Partition{scheduling.CalendarPartition, scheduling.CalendarNamePartition},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "calendar", Prefix: "cal", Delete: "deleteCalendar"}},
}
