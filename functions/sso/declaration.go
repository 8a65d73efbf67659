package sso

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/maildomain"
	"lamplighter.dev/shared/people/membership"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "sso",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/organisation/saml"},
	Access: rest.Access.With(membership.Access, table.Access{Writes: []table.Partition{
		identity.SSOPartition, maildomain.ClaimPartition, requestPrefix + "*", seenPrefix + "*",
		identity.AddressPartition, accounts.IdentityPartition, identity.SessionPartition, ratelimit.Partition,
		mail.Partition,
	}}),
	Seals:   []string{mail.Secret},
	Samples: []string{"initiate"},
	Kinds:   []platform.Kind{{Name: "single sign-on", Delete: "deleteSAMLSettings"}},
	Names: []platform.Reference{
		{From: "single sign-on", To: "role", Fields: []string{"defaultRole"}, OnDelete: platform.Refused},
	},
}
