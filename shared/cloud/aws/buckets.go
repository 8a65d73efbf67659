package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/cloud"
)

// buckets are the S3 buckets of the region. Their sizes are metrics.
var buckets = source{
	name: "buckets", list: listBuckets,
	needs: []string{"s3:ListAllMyBuckets", "s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "tag:GetResources"},
}

func listBuckets(ctx context.Context, at place, page string) (cloud.ResourcePage, error) {
	// By path: an account's own endpoint has no name for each bucket, and a name with a dot in it none that a certificate is good for.
	api := s3.NewFromConfig(at.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	out, err := api.ListBuckets(ctx, &s3.ListBucketsInput{BucketRegion: &at.region, MaxBuckets: sdk.Int32(100), ContinuationToken: optionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.ContinuationToken)}
	for _, b := range out.Buckets {
		if r := sdk.ToString(b.BucketRegion); r != "" && r != at.region {
			continue
		}
		name := sdk.ToString(b.Name)
		p.Resources = append(p.Resources, cloud.Resource{
			UID: "arn:" + partitionOf(at.region) + ":s3:::" + name, Name: name, Type: "aws-s3", Status: cloud.Running,
			CreatedAt: sdk.ToTime(b.CreationDate).UTC(), Facts: cloud.Facts{},
		})
	}
	each(len(p.Resources), func(i int) { addBucketFacts(ctx, api, &p.Resources[i]) })
	return p, addTags(ctx, at, p.Resources)
}

func addBucketFacts(ctx context.Context, api *s3.Client, r *cloud.Resource) {
	if v, err := api.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &r.Name}); err == nil {
		r.Facts["versioning"] = string(v.Status)
	}
	out, err := api.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &r.Name})
	if err != nil && codeOf(err) != "NoSuchLifecycleConfiguration" {
		return
	}
	var rules []types.LifecycleRule
	if err == nil {
		rules = out.Rules
	}
	enabled, abort, noncurrent := 0, false, false
	for _, rule := range rules {
		if rule.Status == types.ExpirationStatusEnabled {
			enabled++
			abort = abort || rule.AbortIncompleteMultipartUpload != nil
			noncurrent = noncurrent || rule.NoncurrentVersionExpiration != nil
		}
	}
	r.Facts["lifecycle_rules"], r.Facts["abort_multipart"], r.Facts["noncurrent_expiry"] = float64(enabled), abort, noncurrent
}
