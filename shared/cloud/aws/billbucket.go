package aws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

const (
	// maxManifest is the maximum size of a manifest in bytes. A manifest has some hundred columns, and at most some
	// thousand files.
	maxManifest = 16 << 20
	// maxListed is the maximum number of objects of a folder that are looked at.
	maxListed = 50_000
)

// billBucket is a bucket that bills are delivered into.
type billBucket struct {
	api  *s3.Client
	name string
}

// object is one object of a listing.
type object struct {
	key, etag string
	size      int64
	modified  time.Time
}

// openBucket opens a bucket in its region. If region is "", it asks S3.
func (c *conn) openBucket(ctx context.Context, name, region string) (billBucket, error) {
	var err error
	if region == "" {
		if region, err = c.bucketRegion(ctx, name); err != nil {
			return billBucket{}, err
		}
	}
	return billBucket{c.storage(region), name}, nil
}

func (c *conn) storage(region string) *s3.Client {
	// for the same reason as in listBuckets
	return s3.NewFromConfig(c.regionConfig(region), func(o *s3.Options) { o.UsePathStyle = true })
}

// bucketRegion asks S3 for a bucket's region. S3 returns it also with a refusal.
func (c *conn) bucketRegion(ctx context.Context, name string) (string, error) {
	home := c.provider.homeRegion(c.account)
	c.mu.Lock()
	known := c.regions[name]
	c.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var region string
	out, err := c.storage(home).HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &name})
	if err == nil {
		region = sdk.ToString(out.BucketRegion)
	} else if e, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && e.Response != nil {
		if region = e.Response.Header.Get("X-Amz-Bucket-Region"); region == "" {
			return "", unreadable(err, "s3:ListBucket", name)
		}
	} else {
		return "", resource.ClassifyError(err)
	}
	if region == "" {
		region = home
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.regions[name] = region
	return region, nil
}

// unreadable adds the permission and the bucket to an error, because an S3 answer without a body has only a status.
func unreadable(err error, permission, what string) error {
	out := resource.ClassifyError(err)
	e, ok := errors.AsType[*cloud.Error](out)
	if !ok {
		return out
	}
	clean := *e
	clean.Op, clean.Message = permission, what+": "+e.Message
	return &clean
}

// list lists the objects of a folder whose keys come after the key after.
func (b billBucket) list(ctx context.Context, prefix, after string) ([]object, error) {
	var out []object
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, StartAfter: resource.OptionalString(after)}
	for pages := s3.NewListObjectsV2Paginator(b.api, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, unreadable(err, "s3:ListBucket", "s3://"+b.name+"/"+prefix)
		}
		for _, o := range page.Contents {
			out = append(out,
				object{
					sdk.ToString(o.Key), sdk.ToString(o.ETag), sdk.ToInt64(o.Size),
					sdk.ToTime(o.LastModified).UTC(),
				})
		}
		if len(out) > maxListed {
			return nil, cloud.ErrUnsupported("s3://%s/%s has more than %d objects: have old deliveries expire by a "+
				"lifecycle rule", b.name, prefix, maxListed)
		}
	}
	return out, nil
}

// folders lists the immediate subfolders of a folder.
func (b billBucket) folders(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, Delimiter: sdk.String("/")}
	for pages := s3.NewListObjectsV2Paginator(b.api, in); pages.HasMorePages() && len(out) < maxListed; {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, unreadable(err, "s3:ListBucket", "s3://"+b.name+"/"+prefix)
		}
		for _, p := range page.CommonPrefixes {
			out = append(out, sdk.ToString(p.Prefix))
		}
	}
	return out, nil
}

// read reads a small object whole.
func (b billBucket) read(ctx context.Context, key string) ([]byte, error) {
	out, err := b.api.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, unreadable(err, "s3:GetObject", "s3://"+b.name+"/"+key)
	}
	defer out.Body.Close()
	text, err := ssrfguard.ReadLimited(out.Body, maxManifest)
	if err != nil {
		return nil, &cloud.Error{
			Class: cloud.Transient, Op: "s3:GetObject", Code: "NoAnswer",
			Message: "s3://" + b.name + "/" + key + ": " + err.Error(), Err: err,
		}
	}
	return text, nil
}

// fetch fills p with the bytes of the object from offset off, if the object still has the listed version.
func (b billBucket) fetch(ctx context.Context, p []byte, off int64, of cloud.BillFile) error {
	key := keyOf(of.Name)
	in := &s3.GetObjectInput{
		Bucket: &b.name, Key: &key,
		Range:   sdk.String(fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)),
		IfMatch: resource.OptionalString(of.Version),
	}
	out, err := b.api.GetObject(ctx, in)
	switch {
	case err != nil && resource.StatusOf(err) == 412:
		return replaced(of.Name)
	case err != nil:
		return unreadable(err, "s3:GetObject", of.Name)
	}
	defer out.Body.Close()
	if _, err = io.ReadFull(out.Body, p); err != nil {
		return &cloud.Error{
			Class: cloud.Transient, Op: "s3:GetObject", Code: "NoAnswer",
			Message: of.Name + " broke off: " + err.Error(), Err: err,
		}
	}
	return nil
}

func replaced(name string) error {
	return &cloud.Error{
		Class: cloud.Moving, Op: "s3:GetObject", Code: "Replaced",
		Message: name + " was replaced while it was read: it is read anew from the next delivery",
	}
}

// keyOf returns the key in an address.
func keyOf(address string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(address, "s3://"), "/")
	return rest
}

// bucketOf returns the bucket in an address; "" if it has none.
func bucketOf(address string) string {
	rest, ok := strings.CutPrefix(address, "s3://")
	if !ok {
		return ""
	}
	bucket, _, _ := strings.Cut(rest, "/")
	return bucket
}
