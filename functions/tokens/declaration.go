package tokens

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "tokens",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(table.Access{
		Reads:  []table.Partition{identity.SessionPartition},
		Writes: []table.Partition{identity.UserPartition, identity.PATPartition, identity.PATDuePartition},
	}),
	Kinds: []platform.Kind{{Name: "personal access token", Prefix: "pat", Delete: "revokePersonalAccessToken"}},
}
