package organisationsync

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "organisationsync",
	Secrets: []platform.Secret{platform.GoogleCloudSecret},
	Share:   10,
	Access: table.Access{
		Reads: []table.Partition{identity.MetaPartition, identity.MemberPartition},
		Writes: []table.Partition{
			connection.OrganisationPartition, connection.MemberPartition, connection.OrganisationDuePartition,
			inventory.AccountPartition, connection.NativePartition, connection.NamePartition,
			discovery.JobPartition, discovery.DuePartition, billimport.DuePartition, workqueue.Partition,
			cloud.SimulatedPartition, throttle.Partition, mail.Partition,
		},
	},
	Tasks:    []string{connection.OrganisationSyncMachine},
	Starts:   []string{billimport.Machine, connection.OrganisationSyncMachine, discovery.Machine},
	Opens:    []string{inventory.AccountSecret},
	Seals:    []string{inventory.AccountSecret, mail.Secret},
	Schedule: "rate(1 hour)",
	Clouds:   true,
	Samples:  []string{"schedule", "sync"},
}
