// Package cloudorganisations is the part of the operation group Cloud Accounts that connects several accounts at
// once: entire organizations of a cloud, and, by OAuth, the projects that a person may use. It is a function of its
// own beside functions/cloudaccounts so that both stay within the size limit of API functions.
package cloudorganisations

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billing"
	"lamplighter.dev/shared/domain/cloudorganisation"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name: "cloudorganisations",
	Access: rest.Access.With(table.Access{Writes: []table.Partition{
		identity.MetaPartition, inventory.AccountPartition, connection.NativePartition, connection.NamePartition,
		"ORG#*#CONNECT",
		cloudorganisation.Partition, cloudorganisation.MemberPartition, cloudorganisation.DuePartition,
		discovery.JobPartition, discovery.DuePartition, billing.DuePartition, workqueue.Partition,
	}}),
	Starts:  []string{billing.Machine, cloudorganisation.Machine, discovery.Machine},
	Calls:   []string{inventory.Connector},
	Seals:   []string{inventory.AccountSecret},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "cloud organisation", Prefix: "corg", Delete: "deleteCloudOrganisation"}},
}
