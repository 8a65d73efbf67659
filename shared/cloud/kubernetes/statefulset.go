package kubernetes

import "lamplighter.dev/shared/cloud"

// statefulSets are stopped and started as deployments are. A StatefulSet that would lose its volume claims with its
// pods is refused.
var statefulSets = kind{
	Kind:     catalogueKind(cloud.KubernetesStatefulSet),
	resource: statefulOf,
	needs: needs{
		discover: []rule{
			{statefulOf, "", "list"},
			{statefulOf, "", "get"},
			{scaledOf, "", "list"},
			{podsOf, "", "list"},
		},
		startStop: []rule{
			{statefulOf, "", "patch"},
			{hpasOf, "", "list"},
			{pdbsOf, "", "list"},
			{scaledOf, "", "get"},
			{scaledOf, "", "patch"},
		},
		scale: []rule{{statefulOf, "scale", "patch"}, {hpasOf, "", "list"}, {pdbsOf, "", "list"}},
	},
	list:  listWorkloads(statefulOf),
	read:  readWorkload(statefulOf),
	act:   actOnEach(actOnWorkload(statefulOf)),
	scale: scaleWorkload(statefulOf),
}
