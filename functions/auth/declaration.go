package auth

import (
	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/passkeys"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "auth",
	Secrets: []platform.Secret{platform.PepperSecret, platform.GoogleSecret, platform.GitHubSecret},
	Routes: []string{
		"/auth", "/auth/account", "/auth/logout", "/auth/password/change", "/auth/sessions", "/auth/sessions/{proxy+}",
		"/auth/{provider}", "/auth/{provider}/{proxy+}",
	},
	Access: rest.Access.With(membership.Access, table.Access{Writes: []table.Partition{
		identity.AddressPartition, accounts.IdentityPartition, identity.SessionPartition,
		codePrefix + "*", ticketPrefix + "*", oauthLoginPrefix + "*", secondfactor.ChallengePartition,
		ratelimit.Partition, mail.Partition, workqueue.Partition, attempts.Partition,
	}}),
	Starts:  []string{erasure.Machine},
	Seals:   []string{mail.Secret, secondfactor.Secret},
	Opens:   []string{secondfactor.Secret},
	Calls:   []string{passkeys.Worker},
	Samples: []string{"log-in"},
}
