package inventory

import (
	"slices"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of the inventory.
const (
	AccountPartition  table.Partition = "ORG#*#CA"
	ClusterPartition  table.Partition = "ORG#*#CLUSTER"
	ResourcePartition table.Partition = "ORG#*#RES#*"
	IndexPartition    table.Partition = "ORG#*#INV"
	// one for each chunk of the index: who reads the index reads these
	ChunkPartition table.Partition = "ORG#*#INV#*"
	ScanPartition  table.Partition = "ORG#*#SCAN#*"
)

// ChunkPartitions returns the partitions of the chunks, of the index and of costs, that items of the index partition name, for who erases all of it.
func ChunkPartitions(org string, items []table.Item) ([]string, error) {
	out, err := index.ChunkPartitions(org, items)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.SK != costHeadSK {
			continue
		}
		h, err := table.Decode[costHead](it)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.Concat(h.Parts, h.Old, h.Pending) {
			out = append(out, costKey(org, id).PK)
		}
	}
	return out, nil
}
