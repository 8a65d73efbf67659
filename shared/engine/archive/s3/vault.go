package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// maxVaultObject limits the size of an object that is read, in bytes.
const maxVaultObject = 256 << 20

// Vault stores objects in a bucket with Object Lock. The lock keeps each version of an object for the retention of the
// bucket, whoever asks for its deletion.
type Vault struct {
	client *s3.Client
	name   string
}

// NewVault returns a vault in the named bucket of the account that cfg opens. Tests pass options for a stand-in of S3.
func NewVault(cfg aws.Config, name string, options ...func(*s3.Options)) *Vault {
	return &Vault{s3.NewFromConfig(cfg, options...), name}
}

// Add puts an object on the condition that there is none with the name.
func (v *Vault) Add(ctx context.Context, name string, content []byte) error {
	if err := archive.CheckName(name); err != nil {
		return err
	}
	_, err := v.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &v.name, Key: &name, Body: bytes.NewReader(content), IfNoneMatch: aws.String("*"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, // Object Lock wants a checksum
	})
	if statusOf(err) == http.StatusPreconditionFailed {
		return fault.New(fault.Conflict, "there is an object %s already", name)
	}
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the bucket did not take %s", name)
	}
	return nil
}

// statusOf returns the HTTP status of an error of S3, or 0.
func statusOf(err error) int {
	if res, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return res.HTTPStatusCode()
	}
	return 0
}

// Read gets an object.
func (v *Vault) Read(ctx context.Context, name string) ([]byte, error) {
	if err := archive.CheckName(name); err != nil {
		return nil, err
	}
	out, err := v.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &v.name, Key: &name})
	if statusOf(err) == http.StatusNotFound {
		return nil, fault.New(fault.NotFound, "there is no object %s in the bucket", name)
	}
	if err != nil {
		return nil, fault.NewWithCause(fault.Unavailable, err, "the object %s cannot be read now", name)
	}
	defer out.Body.Close() //nolint:errcheck // it is read to its end
	b, err := io.ReadAll(io.LimitReader(out.Body, maxVaultObject))
	if err != nil {
		return nil, fault.NewWithCause(fault.Unavailable, err, "the object %s cannot be read now", name)
	}
	return b, nil
}

// Names lists a folder, 1,000 objects a request.
func (v *Vault) Names(ctx context.Context, folder string) ([]string, error) {
	if err := archive.CheckName(folder); err != nil {
		return nil, err
	}
	var names []string
	pages := s3.NewListObjectsV2Paginator(v.client,
		&s3.ListObjectsV2Input{Bucket: &v.name, Prefix: aws.String(folder + "/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.NewWithCause(fault.Unavailable, err, "the objects of %s cannot be listed now", folder)
		}
		for _, o := range page.Contents {
			names = append(names, aws.ToString(o.Key))
		}
	}
	slices.Sort(names)
	return names, nil
}

var _ archive.Vault = (*Vault)(nil)
