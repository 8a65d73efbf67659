package users

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "users",
	Secrets: []platform.Secret{platform.PepperSecret},
	Access: rest.Access.With(membership.Access,
		table.Access{Writes: []table.Partition{ratelimit.Partition, mail.Partition}}),
	Seals:   []string{mail.Secret},
	Samples: []string{"own-profile"},
	Kinds:   []platform.Kind{{Name: "user", Delete: "removeUser"}, {Name: "invitation", Prefix: "inv"}},
	Names: []platform.Reference{
		{From: "invitation", To: "role", Fields: []string{"role"}, OnDelete: platform.Refused},
		{From: "user", To: "role", Fields: []string{"role"}, OnDelete: platform.Refused},
	},
}
