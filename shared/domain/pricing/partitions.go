package pricing

import "lamplighter.dev/shared/engine/table"

// Prefix begins the partitions of the public prices. They belong to no organization.
const Prefix = "PRICE#"

// Partition holds the prices of a provider in a region.
const Partition table.Partition = Prefix + "*"

// headSK is the sort key of the head of a list of prices. Its parts are before it: "0#000", "1#000".
const headSK = "HEAD"
