package storage

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/s3control"
)

// bucket is a bucket whose facts are read: S3 has no call that returns them for several buckets.
type bucket struct {
	api *s3.Client
	r   *cloud.Resource
	now time.Time
}

func (b bucket) addVersioning(ctx context.Context) {
	v, err := b.api.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &b.r.Name})
	if err != nil {
		resource.NoteMissing(b.r.Facts, err, "s3:GetBucketVersioning", "versioning")
		return
	}
	b.r.Facts["versioning"] = string(v.Status)
}

func (b bucket) addLifecycle(ctx context.Context) {
	out, err := b.api.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &b.r.Name})
	if err != nil && resource.CodeOf(err) != "NoSuchLifecycleConfiguration" {
		resource.NoteMissing(b.r.Facts, err, "s3:GetLifecycleConfiguration", "abort_multipart", "lifecycle_rules",
			"noncurrent_expiry")
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
	b.r.Facts["lifecycle_rules"], b.r.Facts["abort_multipart"], b.r.Facts["noncurrent_expiry"] = float64(enabled),
		abort, noncurrent
}

// addPolicy adds whether the policy makes the bucket public, as S3 itself decides, and whether it requires TLS.
func (b bucket) addPolicy(ctx context.Context) {
	status, err := b.api.GetBucketPolicyStatus(ctx, &s3.GetBucketPolicyStatusInput{Bucket: &b.r.Name})
	if resource.CodeOf(err) == "NoSuchBucketPolicy" {
		b.r.Facts["policy_public"], b.r.Facts["tls_only"] = false, false
		return
	}
	if err != nil {
		resource.NoteMissing(b.r.Facts, err, "s3:GetBucketPolicyStatus", "policy_public")
	} else {
		b.r.Facts["policy_public"] = status.PolicyStatus != nil && sdk.ToBool(status.PolicyStatus.IsPublic)
	}
	policy, err := b.api.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: &b.r.Name})
	if err != nil && resource.CodeOf(err) != "NoSuchBucketPolicy" {
		resource.NoteMissing(b.r.Facts, err, "s3:GetBucketPolicy", "tls_only")
		return
	}
	b.r.Facts["tls_only"] = err == nil && deniesPlain(sdk.ToString(policy.Policy))
}

// deniesPlain reports whether a policy denies everybody all requests without TLS.
func deniesPlain(policy string) bool {
	var p struct {
		Statement []struct {
			Effect    string
			Principal any
			Condition map[string]map[string]any
		}
	}
	if json.Unmarshal([]byte(policy), &p) != nil {
		return false
	}
	for _, s := range p.Statement {
		if s.Effect != "Deny" || !resource.IsEverybody(s.Principal) {
			continue
		}
		for key, v := range s.Condition["Bool"] {
			if strings.EqualFold(key, "aws:SecureTransport") &&
				(v == "false" || v == false || resource.IsEverybodyIn(v, "false")) {
				return true
			}
		}
	}
	return false
}

// accountBlock reports whether the account keeps all of its buckets from being public. Accounts with a custom endpoint
// have no such switch.
func accountBlock(ctx context.Context, at resource.Place) (bool, error) {
	if at.Custom {
		return false, nil
	}
	out, err := s3control.NewFromConfig(at.Cfg).GetPublicAccessBlock(ctx,
		&s3control.GetPublicAccessBlockInput{AccountId: &at.Account})
	if err != nil {
		if resource.CodeOf(err) == noBlock {
			return false, nil
		}
		return false, err
	}
	c := out.PublicAccessBlockConfiguration
	return c != nil && isBlocked(*c), nil
}

const noBlock = "NoSuchPublicAccessBlockConfiguration"

func isBlocked(c s3control.PublicAccessBlockConfiguration) bool {
	return sdk.ToBool(c.BlockPublicAcls) && sdk.ToBool(c.BlockPublicPolicy) && sdk.ToBool(c.IgnorePublicAcls) &&
		sdk.ToBool(c.RestrictPublicBuckets)
}

// addBlock adds whether the bucket, or its account, blocks public access. It adds false only if both could be read.
func (b bucket) addBlock(ctx context.Context, account bool, accountErr error) {
	if account {
		b.r.Facts["public_blocked"] = true
		return
	}
	out, err := b.api.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: &b.r.Name})
	if err != nil && resource.CodeOf(err) != noBlock {
		resource.NoteMissing(b.r.Facts, err, "s3:GetBucketPublicAccessBlock", "public_blocked")
		return
	}
	own := false
	if err == nil && out.PublicAccessBlockConfiguration != nil {
		c := *out.PublicAccessBlockConfiguration
		own = isBlocked(s3control.PublicAccessBlockConfiguration{
			BlockPublicAcls: c.BlockPublicAcls, BlockPublicPolicy: c.BlockPublicPolicy,
			IgnorePublicAcls:      c.IgnorePublicAcls,
			RestrictPublicBuckets: c.RestrictPublicBuckets,
		})
	}
	if !own && accountErr != nil {
		resource.NoteMissing(b.r.Facts, accountErr, "s3:GetAccountPublicAccessBlock", "public_blocked")
		return
	}
	b.r.Facts["public_blocked"] = own
}

func (b bucket) addLogging(ctx context.Context) {
	out, err := b.api.GetBucketLogging(ctx, &s3.GetBucketLoggingInput{Bucket: &b.r.Name})
	if err != nil {
		resource.NoteMissing(b.r.Facts, err, "s3:GetBucketLogging", "logging")
		return
	}
	b.r.Facts["logging"] = out.LoggingEnabled != nil
}

// An upload older than abandonedAfter counts as abandoned. The parts of at most maxUploads abandoned uploads of a
// bucket are added up.
const (
	abandonedAfter = 7 * 24 * time.Hour
	maxUploads     = 50
)

// addUploads adds the size of the parts of abandoned uploads. With more than maxUploads of them the fact is missing.
func (b bucket) addUploads(ctx context.Context) {
	const need = "s3:ListBucketMultipartUploads"
	out, err := b.api.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{Bucket: &b.r.Name})
	if err != nil {
		resource.NoteMissing(b.r.Facts, err, need, "multipart_gb")
		return
	}
	old := slices.DeleteFunc(out.Uploads, func(u types.MultipartUpload) bool {
		return b.now.Sub(sdk.ToTime(u.Initiated)) < abandonedAfter
	})
	if sdk.ToBool(out.IsTruncated) || len(old) > maxUploads {
		b.r.Facts.Miss("the bucket has more uploads that were never completed than are added up", "multipart_gb")
		return
	}
	sum := int64(0)
	for _, u := range old {
		n, err := b.partsOf(ctx, u)
		if err != nil {
			resource.NoteMissing(b.r.Facts, err, "s3:ListMultipartUploadParts", "multipart_gb")
			return
		}
		sum += n
	}
	b.r.Facts["multipart_gb"] = float64(sum) / 1e9
}

func (b bucket) partsOf(ctx context.Context, u types.MultipartUpload) (int64, error) {
	sum := int64(0)
	pages := s3.NewListPartsPaginator(b.api, &s3.ListPartsInput{Bucket: &b.r.Name, Key: u.Key, UploadId: u.UploadId})
	for pages.HasMorePages() {
		got, err := pages.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		for _, p := range got.Parts {
			sum += sdk.ToInt64(p.Size)
		}
	}
	return sum, nil
}
