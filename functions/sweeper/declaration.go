package sweeper

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:   "sweeper",
	Share:  2,
	Access: table.Access{Writes: []table.Partition{workqueue.Partition}},
	Starts: []string{platform.EveryMachine},
	Looks:  []string{platform.EveryMachine},
	// they end the records of parked work
	Calls:    []string{"executor", "discovery", "organisationsync", "billingsync", "exporter", "recommender"},
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
