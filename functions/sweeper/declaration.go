package sweeper

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:   "sweeper",
	Share:  2,
	Access: table.Access{Writes: []table.Partition{workqueue.Partition}},
	Starts: []string{platform.EveryMachine},
	Looks:  []string{platform.EveryMachine},
	// which end the records of what is parked
	Calls:    []string{"executor", "discovery", "organisationsync", "billingsync", "exporter"},
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
