package accounts

import "lamplighter.dev/shared/engine/table"

// IdentityPartition holds the links from persons at identity providers to accounts.
const IdentityPartition table.Partition = LinkPrefix + "*"
