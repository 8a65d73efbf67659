// Package cloudorganisations is the part of the operation group Cloud Accounts that connects several accounts at
// once: entire organizations of a cloud, and, by OAuth, the projects that a person may use. It is a function of its
// own beside functions/cloudaccounts so that both stay within the size limit of API functions.
package cloudorganisations

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "cloudorganisations",
	Secrets: []platform.Secret{platform.PepperSecret, platform.GoogleCloudSecret},
	Access: rest.Access.With(table.Access{Writes: []table.Partition{
		identity.MetaPartition, inventory.AccountPartition, connection.NativePartition, connection.NamePartition,
		"ORG#*#CONNECT",
		connection.OrganisationPartition, connection.MemberPartition, connection.OrganisationDuePartition,
		discovery.JobPartition, discovery.DuePartition, billimport.DuePartition, workqueue.Partition,
	}}),
	Starts:  []string{billimport.Machine, connection.OrganisationSyncMachine, discovery.Machine},
	Calls:   []string{inventory.Connector},
	Seals:   []string{inventory.AccountSecret},
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "cloud organisation", Prefix: "corg", Delete: "deleteCloudOrganisation"}},
}
