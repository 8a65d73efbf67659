package organisations

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "organisations",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/organisation", "/organisation/{proxy+}", "/organisations", "/organisations/{proxy+}"},
	Access: rest.Access.With(table.Access{
		Reads: []table.Partition{identity.DashboardPartition},
		Writes: []table.Partition{
			identity.MetaPartition, identity.MemberPartition, identity.UserPartition, membership.AssignPartition,
			workqueue.Partition,
			identity.DirectoryPartition, mail.Partition, ratelimit.Partition,
		},
	}),
	Starts:  []string{erasure.Machine},
	Seals:   []string{mail.Secret},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "organisation", Prefix: "org", Delete: "deleteOrganisation"}},
	Names: []platform.Reference{
		{From: "organisation", To: "dashboard", Fields: []string{"defaultDashboard"}, OnDelete: platform.Refused},
	},
}
