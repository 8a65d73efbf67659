package cloud

import (
	"cmp"
	"slices"
	"time"
)

// The kinds of AWS that this service acts on, by their types.
const (
	AWSEC2          = "aws-ec2"
	AWSRDS          = "aws-rds"
	AWSAurora       = "aws-aurora"
	AWSASG          = "aws-asg"
	AWSECS          = "aws-ecs"
	AWSEKSNodegroup = "aws-eks-nodegroup"
)

// catalogue describes every kind once, in a place that links no SDK: providers take their descriptions from here, and so
// does GET /resources/types, which must stay small. Deadlines and batches are those of the executors' trials; no kind is
// Priced or Measured until the features that do that exist.
var catalogue = []Kind{
	{
		Type: AWSEC2, Provider: "aws", Name: "EC2 instance", Actionable: true,
		ActBatch: 100, ReadBatch: 1000, Deadline: 10 * time.Minute,
	},
	{
		Type: AWSRDS, Provider: "aws", Name: "RDS instance", Actionable: true,
		ActBatch: 1, ReadBatch: 100, Deadline: 45 * time.Minute,
	},
	{
		Type: AWSAurora, Provider: "aws", Name: "Aurora cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 100, Deadline: 45 * time.Minute,
	},
	{
		Type: AWSASG, Provider: "aws", Name: "Auto Scaling group", Actionable: true, Scalable: true, Remembers: true, Absolute: true,
		ActBatch: 1, ReadBatch: 50, Deadline: 15 * time.Minute,
	},
	{
		Type: AWSECS, Provider: "aws", Name: "ECS service", Actionable: true, Scalable: true, Remembers: true, Absolute: true,
		ActBatch: 1, ReadBatch: 10, Deadline: 15 * time.Minute,
	},
	{
		Type: AWSEKSNodegroup, Provider: "aws", Name: "EKS node group", Actionable: true, Scalable: true, Remembers: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
}

// Catalogue lists every kind of every provider, ordered by provider and type.
func Catalogue() []Kind {
	out := slices.Clone(catalogue)
	slices.SortFunc(out, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Type, b.Type))
	})
	return out
}

// KindsOf lists the kinds of one provider in the order of the catalogue.
func KindsOf(provider string) []Kind {
	var out []Kind
	for _, k := range catalogue {
		if k.Provider == provider {
			out = append(out, k)
		}
	}
	return out
}

// KindOf describes the kind of the type; false when the catalogue has none.
func KindOf(kind string) (Kind, bool) {
	for _, k := range catalogue {
		if k.Type == kind {
			return k, true
		}
	}
	return Kind{}, false
}
