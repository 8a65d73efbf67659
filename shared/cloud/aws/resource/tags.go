package resource

import (
	"context"
	"maps"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
	"lamplighter.dev/shared/cloud/aws/wire/resourcegroupstaggingapi"
)

// perTagCall is the maximum number of resources in one call of the tagging API.
const perTagCall = 100

// AddTags adds the tags, and the names in them, to resources whose own listing does not have them. It makes one call
// per 100 resources.
func AddTags(ctx context.Context, at Place, found []cloud.Resource) error {
	api := resourcegroupstaggingapi.NewFromConfig(at.Cfg)
	byARN := map[string]*cloud.Resource{}
	for i := range found {
		found[i].Tags = map[string]string{}
		byARN[found[i].UID] = &found[i]
	}
	for part := range slices.Chunk(found, perTagCall) {
		arns := make([]string, len(part))
		for i := range part {
			arns[i] = part[i].UID
		}
		out, err := api.GetResources(ctx, &resourcegroupstaggingapi.GetResourcesInput{ResourceARNList: arns})
		if err != nil {
			return err
		}
		for _, m := range out.ResourceTagMappingList {
			r := byARN[sdk.ToString(m.ResourceARN)]
			if r == nil {
				continue
			}
			for _, t := range m.Tags {
				r.Tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
			}
			r.Name = NameOf(r.Tags, r.Name)
		}
	}
	return nil
}

// Ec2Tags converts tags of EC2.
func Ec2Tags(tags []ec2.Tag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		out[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return out
}

// AskEach calls ask for each of n things, Width at a time. It reports no errors: a fact that could not be read is
// missing.
func AskEach(n int, ask func(i int)) { cloud.InParallel(n, Width, ask) }

func sortedKeys(tags map[string]string) []string { return slices.Sorted(maps.Keys(tags)) }
