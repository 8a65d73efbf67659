package storage

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ecr"
)

// Repositories are ECR repositories.
var Repositories = resource.Source{
	Name: "repositories", List: listRepositories,
	Needs: []string{
		"ecr:DescribeRepositories", "ecr:DescribeImages", "ecr:GetLifecyclePolicy",
		"ecr:GetRegistryScanningConfiguration", "tag:GetResources",
	},
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
	addRegistryScans(ctx, api, p.Resources)
	resource.AskEach(len(p.Resources), func(i int) { addImages(ctx, api, &p.Resources[i]) })
	return p, resource.AddTags(ctx, at, p.Resources)
}

// addRegistryScans adds whether a rule of the region's registry scans the repositories, whatever they say themselves.
func addRegistryScans(ctx context.Context, api *ecr.Client, found []cloud.Resource) {
	if len(found) == 0 {
		return
	}
	out, err := api.GetRegistryScanningConfiguration(ctx, &ecr.GetRegistryScanningConfigurationInput{})
	for _, r := range found {
		switch {
		case err != nil:
			resource.NoteMissing(r.Facts, err, "ecr:GetRegistryScanningConfiguration", "registry_scan")
		case out.ScanningConfiguration != nil:
			r.Facts["registry_scan"] = slices.ContainsFunc(out.ScanningConfiguration.Rules,
				func(rule ecr.RegistryScanningRule) bool { return scans(rule, r.Name) })
		}
	}
}

// scans reports whether a rule of a registry scans a repository without being asked each time.
func scans(rule ecr.RegistryScanningRule, repository string) bool {
	return rule.ScanFrequency != ecr.ScanFrequencyManual &&
		slices.ContainsFunc(rule.RepositoryFilters, func(f ecr.ScanningRepositoryFilter) bool {
			return matchesFilter(sdk.ToString(f.Filter), repository)
		})
}

// matchesFilter reports whether a filter of ECR selects a repository: "*" stands for any characters, and a filter
// without it selects every name that contains it.
func matchesFilter(filter, name string) bool {
	parts := strings.Split(filter, "*")
	if len(parts) == 1 {
		return filter != "" && strings.Contains(name, filter)
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		ok, rest = ok && found, after
	}
	return ok && strings.HasSuffix(rest, parts[len(parts)-1])
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
