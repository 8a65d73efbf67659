package kubernetes

import "lamplighter.dev/shared/cloud"

// deployments are stopped with one guarded change, which sets 0 replicas and stores the previous number in an
// annotation.
var deployments = kind{
	Kind:     catalogueKind(cloud.KubernetesDeployment),
	resource: deploymentsOf,
	needs: needs{
		discover: []rule{
			{deploymentsOf, "", "list"},
			{deploymentsOf, "", "get"},
			{scaledOf, "", "list"},
			{podsOf, "", "list"},
		},
		startStop: []rule{
			{deploymentsOf, "", "patch"},
			{hpasOf, "", "list"},
			{pdbsOf, "", "list"},
			{scaledOf, "", "get"},
			{scaledOf, "", "patch"},
		},
		scale: []rule{
			{deploymentsOf, "scale", "patch"},
			{hpasOf, "", "list"},
			{pdbsOf, "", "list"},
			{hpasOf, "", "create"},
			{hpasOf, "", "patch"},
			{hpasOf, "", "delete"},
		},
	},
	list:  listWorkloads(deploymentsOf),
	read:  readWorkload(deploymentsOf),
	act:   actOnEach(actOnWorkload(deploymentsOf)),
	scale: scaleWorkload(deploymentsOf),
}
