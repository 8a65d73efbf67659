package cloud

import "lamplighter.dev/shared/engine/table"

// SimulatedPartition is of the simulated clouds, which exist in the store only: whatever has providers may come to one.
const SimulatedPartition table.Partition = "SIM#*"
