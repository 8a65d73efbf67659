package cloud

import "lamplighter.dev/shared/engine/table"

// SimulatedPartition holds the state of the simulated clouds, which exist in the store alone. Every function with
// providers may use one.
const SimulatedPartition table.Partition = "SIM#*"
