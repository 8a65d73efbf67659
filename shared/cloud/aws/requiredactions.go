package aws

import (
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// baseNeeds are the permissions that belong to no single kind. AWS checks the last two when a listing includes tags;
// no call has their names.
var baseNeeds = []string{"ec2:DescribeRegions", "rds:ListTagsForResource", "ecs:ListTagsForResource"}

// RequiredActions are the IAM actions that this package calls, by permission level: each level includes the ones
// before.
type RequiredActions struct {
	Discover  []string // to read resources, clusters included
	StartStop []string // to discover, start and stop
	Scale     []string // to discover, start, stop and change capacities
	Remediate []string // all of these, and what the changes of the catalogue need

	Organisation []string // additionally, to list the accounts of an organization
	Billing      []string // additionally, to read bills; those of S3 for the bucket of the export
}

// ListRequiredActions returns the actions of every registered kind, sorted and each once. The policies for customers
// are tested against them.
func ListRequiredActions() RequiredActions {
	discover := slices.Concat(baseNeeds, clusterNeeds, othersNeeds(), []string{metricsNeed, sizesNeed, opinionsNeed})
	var startStop, scale []string
	for _, o := range registry {
		n := o.Open(sdk.Config{}, "").Needs()
		discover, startStop, scale = append(discover, n.Discover...), append(startStop, n.StartStop...),
			append(scale, n.Scale...)
	}
	return RequiredActions{
		sortUnique(discover), sortUnique(discover, startStop),
		sortUnique(discover, startStop, scale),
		sortUnique(discover, startStop, scale, cloud.ChangeNeeds("aws")),
		sortUnique(organisationNeeds), sortUnique(billingNeeds),
	}
}

func sortUnique(actions ...[]string) []string {
	all := slices.Concat(actions...)
	slices.Sort(all)
	return slices.Compact(all)
}
