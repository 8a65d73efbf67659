package storage

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ecr"
)

// Repositories are ECR repositories.
var Repositories = resource.Source{
	Name: "repositories", List: listRepositories,
	Needs: []string{"ecr:DescribeRepositories", "ecr:DescribeImages", "ecr:GetLifecyclePolicy", "tag:GetResources"},
}

// maxImagePages is the maximum number of pages of images that are read of a repository, with 1,000 images per page.
// The size of a larger repository is not known.
const maxImagePages = 20

func listRepositories(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := ecr.NewFromConfig(at.Cfg)
	out, err := api.DescribeRepositories(ctx,
		&ecr.DescribeRepositoriesInput{MaxResults: sdk.Int32(100), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, r := range out.Repositories {
		found := cloud.Resource{
			UID: sdk.ToString(r.RepositoryArn), Name: sdk.ToString(r.RepositoryName), Type: "aws-ecr",
			Status:    cloud.Running,
			CreatedAt: r.CreatedAt.Value().UTC(), Facts: cloud.Facts{},
		}
		if c := r.ImageScanningConfiguration; c != nil { // a rule of the registry may scan the repository as well
			found.Facts["scan_on_push"] = c.ScanOnPush
		}
		p.Resources = append(p.Resources, found)
	}
	resource.AskEach(len(p.Resources), func(i int) { addImages(ctx, api, &p.Resources[i]) })
	return p, resource.AddTags(ctx, at, p.Resources)
}

// addImages adds whether images are ever deleted, their total size, and the time of the last pull.
func addImages(ctx context.Context, api *ecr.Client, r *cloud.Resource) {
	_, err := api.GetLifecyclePolicy(ctx, &ecr.GetLifecyclePolicyInput{RepositoryName: &r.Name})
	if none := resource.CodeOf(err) == "LifecyclePolicyNotFoundException"; err == nil || none {
		r.Facts["lifecycle"] = !none
	}
	size, untagged, pulled := 0.0, 0.0, cloud.Epoch
	pages := wire.NewPages(api.DescribeImages,
		&ecr.DescribeImagesInput{RepositoryName: &r.Name, MaxResults: sdk.Int32(1000)})
	for n := 0; pages.HasMorePages(); n++ {
		if n == maxImagePages {
			return
		}
		out, err := pages.NextPage(ctx)
		if err != nil {
			return
		}
		for _, i := range out.ImageDetails {
			gb := float64(sdk.ToInt64(i.ImageSizeInBytes)) / 1e9
			if size += gb; len(i.ImageTags) == 0 {
				untagged += gb
			}
			if at := i.LastRecordedPullTime.Value().UTC(); at.After(pulled) {
				pulled = at
			}
		}
	}
	r.Facts["size_gb"], r.Facts["untagged_gb"], r.Facts["last_pull_at"] = size, untagged, pulled
}
