package accounts

import "lamplighter.dev/shared/engine/table"

// IdentityPartition is of the identities at identity providers that accounts belong to.
const IdentityPartition table.Partition = LinkPrefix + "*"
