package storage

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// Buckets are the S3 buckets of the region. Their sizes are metrics.
var Buckets = resource.Source{
	Name: "buckets", List: listBuckets,
	Needs: []string{
		"s3:ListAllMyBuckets", "s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "s3:GetBucketPolicyStatus",
		"s3:GetBucketPolicy",
		"s3:GetBucketPublicAccessBlock", "s3:GetAccountPublicAccessBlock", "s3:GetBucketLogging",
		"s3:ListBucketMultipartUploads",
		"s3:ListMultipartUploadParts", "tag:GetResources",
	},
}

func listBuckets(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	// By path: a custom endpoint has no host name for each bucket, and a certificate does not cover a bucket name with
	// a dot.
	api := s3.NewFromConfig(at.Cfg, func(o *s3.Options) { o.UsePathStyle = true })
	out, err := api.ListBuckets(ctx,
		&s3.ListBucketsInput{
			BucketRegion: &at.Region, MaxBuckets: sdk.Int32(100),
			ContinuationToken: resource.OptionalString(page),
		})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.ContinuationToken)}
	for _, b := range out.Buckets {
		if r := sdk.ToString(b.BucketRegion); r != "" && r != at.Region {
			continue
		}
		name := sdk.ToString(b.Name)
		p.Resources = append(p.Resources, cloud.Resource{
			UID: "arn:" + resource.PartitionOf(at.Region) + ":s3:::" + name, Name: name, Type: "aws-s3",
			Status:    cloud.Running,
			CreatedAt: sdk.ToTime(b.CreationDate).UTC(), Facts: cloud.Facts{},
		})
	}
	blocked, err := accountBlock(ctx, at)
	resource.AskEach(len(p.Resources), func(i int) {
		b := bucket{api, &p.Resources[i], at.Now}
		b.addVersioning(ctx)
		b.addLifecycle(ctx)
		b.addPolicy(ctx)
		b.addBlock(ctx, blocked, err)
		b.addLogging(ctx)
		b.addUploads(ctx)
	})
	return p, resource.AddTags(ctx, at, p.Resources)
}
