package estimation

import "lamplighter.dev/shared/engine/table"

// PricePrefix begins the partitions of the public prices, which belong to no organization.
const PricePrefix = "PRICE#"

// PricePartition has the prices of a provider in a region.
const PricePartition table.Partition = PricePrefix + "*"

// headSK is the sort key of the head of a list of prices. Its parts are before it: "0#000", "1#000".
const headSK = "HEAD"
