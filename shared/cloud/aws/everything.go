package aws

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/resourceexplorer2"
	"lamplighter.dev/shared/cloud/aws/wire/resourcegroupstaggingapi"
)

// everything is the source of all resource types that AWS itself indexes: Resource Explorer where the account has an
// index, else the tagging API, which knows the resources that have or had tags. It finds no facts.
var everything = resource.Source{
	Name:  "everything",
	Needs: []string{"tag:GetResources", "resource-explorer-2:ListResources", "resource-explorer-2:GetView"},
	List:  listEverything,
}

// taggedPage marks the page tokens of the tagging API, so that a listing does not switch between the index and the
// tags.
const taggedPage = "t:"

func listEverything(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	if tail, tagged := strings.CutPrefix(page, taggedPage); tagged || at.Custom {
		return listTagged(ctx, at, tail)
	}
	out, err := listIndexed(ctx, at, page)
	if page == "" && hasNoIndex(err) {
		return listTagged(ctx, at, "")
	}
	return out, err
}

// hasNoIndex reports whether AWS says that the region has no index, or no view to ask by; AWS calls the latter
// unauthorized. Any other denial returns false: a listing by tags would then lose all resources without tags.
func hasNoIndex(err error) bool {
	return resource.CodeOf(err) == "UnauthorizedException" || err != nil &&
		cloud.ClassOf(resource.ClassifyError(err)) == cloud.NotFound
}

func listIndexed(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	out, err := resourceexplorer2.NewFromConfig(at.Cfg).ListResources(ctx, &resourceexplorer2.ListResourcesInput{
		Filters:    &resourceexplorer2.SearchFilter{FilterString: sdk.String("region:" + at.Region)},
		MaxResults: sdk.Int32(1000), NextToken: resource.OptionalString(page),
	})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, r := range out.Resources {
		if sdk.ToString(r.Region) != at.Region || sdk.ToString(r.OwningAccountId) != at.Account {
			continue // an aggregating index also has the resources of other regions
		}
		found, ok := newOther(sdk.ToString(r.Arn), sdk.ToString(r.ResourceType))
		if ok {
			found.Tags = explorerTags(r.Properties)
			found.Name = resource.NameOf(found.Tags, found.Name)
			p.Resources = append(p.Resources, found)
		}
	}
	addStates(ctx, at, p.Resources)
	addDetails(ctx, at, p.Resources)
	return p, nil
}

// explorerTags returns the tags in the properties of a resource, if the view includes them.
func explorerTags(properties []resourceexplorer2.ResourceProperty) map[string]string {
	tags := map[string]string{}
	for _, p := range properties {
		var all []struct{ Key, Value string }
		if sdk.ToString(p.Name) != "tags" || p.Data == nil || json.Unmarshal(p.Data, &all) != nil {
			continue
		}
		for _, t := range all {
			tags[t.Key] = t.Value
		}
	}
	return tags
}

func listTagged(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	out, err := resourcegroupstaggingapi.NewFromConfig(at.Cfg).GetResources(ctx,
		&resourcegroupstaggingapi.GetResourcesInput{
			ResourcesPerPage: sdk.Int32(100), PaginationToken: resource.OptionalString(page),
		})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	var p cloud.ResourcePage
	if next := sdk.ToString(out.PaginationToken); next != "" {
		p.Next = taggedPage + next
	}
	for _, m := range out.ResourceTagMappingList {
		arn := sdk.ToString(m.ResourceARN)
		found, ok := newOther(arn, resource.NativeType(arn))
		if !ok || (resource.RegionOf(arn) == "") != (at.Region == cloud.Global) {
			continue
		}
		found.Tags = map[string]string{}
		for _, t := range m.Tags {
			found.Tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
		}
		found.Name = resource.NameOf(found.Tags, found.Name)
		p.Resources = append(p.Resources, found)
	}
	addStates(ctx, at, p.Resources)
	addDetails(ctx, at, p.Resources)
	return p, nil
}

// newOther makes the resource of an ARN. It returns false if a kind or another source finds the resource. A type
// without a name in the catalogue becomes "aws-other", with AWS's name for the type as a fact.
func newOther(arn, native string) (cloud.Resource, bool) {
	r := cloud.Resource{UID: arn, Name: resource.LastPart(arn), Type: cloud.TypeOf(Name, native), Status: cloud.Running}
	if r.Type == "" {
		r.Type, r.Facts = cloud.OtherType(Name), cloud.Facts{cloud.NativeType: native}
	}
	if arn == "" || slices.Contains(otherClusters, native) {
		return r, false
	}
	for _, k := range registry {
		if d := k.Describe(); d.Type == r.Type && !d.Collected {
			return r, false
		}
	}
	return r, !slices.Contains(described, r.Type)
}

// described are the types that other sources list completely, with facts. The listing of the index leaves them out.
var described = []string{
	"aws-ebs", "aws-ebs-snapshot", "aws-ecr", "aws-eip", "aws-elasticache", "aws-elb", "aws-lambda", "aws-nat",
	"aws-opensearch", "aws-s3", "aws-sqs",
}

// otherClusters are native types of the index that several kinds list: clusters of Aurora, DocumentDB and Neptune.
var otherClusters = []string{"rds:cluster"}
