package organisationsync

import (
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/domain/billing"
	"lamplighter.dev/shared/domain/cloudorganisation"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:  "organisationsync",
	Share: 10,
	Access: table.Access{Reads: []table.Partition{identity.MetaPartition, identity.MemberPartition},
		Writes: []table.Partition{
			cloudorganisation.Partition, cloudorganisation.MemberPartition, cloudorganisation.DuePartition,
			inventory.AccountPartition, connection.NativePartition, connection.NamePartition,
			discovery.JobPartition, discovery.DuePartition, billing.DuePartition, workqueue.Partition,
			cloud.SimulatedPartition, throttle.Partition, mail.Partition,
		}},
	Tasks:    []string{cloudorganisation.Machine},
	Starts:   []string{billing.Machine, cloudorganisation.Machine, discovery.Machine},
	Opens:    []string{inventory.AccountSecret},
	Seals:    []string{inventory.AccountSecret, mail.Secret},
	Schedule: "rate(1 hour)",
	Clouds:   true,
	Samples:  []string{"schedule", "sync"},
}
