// Package s3 stores archives in Amazon S3. It is separate from package archive so that only the archiver links the S3
// client.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// Bucket stores objects in a bucket.
type Bucket struct {
	client *s3.Client
	name   string
}

// New returns a store in the named bucket of the account that cfg opens. Tests pass options for a stand-in of S3.
func New(cfg aws.Config, name string, options ...func(*s3.Options)) *Bucket {
	return &Bucket{s3.NewFromConfig(cfg, options...), name}
}

// Put writes a temporary file first, because S3 must know the length of an object before the upload. Memory use does
// not grow with the object.
func (b *Bucket) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := archive.CheckName(name); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "archive-*")
	if err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // a leftover temporary file is harmless
	if err = write(file); err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	if _, err = file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: &name, Body: file, ContentType: aws.String(contentType(name)),
	})
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the archive did not take %s", name)
	}
	return nil
}

func contentType(name string) string {
	if strings.HasSuffix(name, ".parquet") {
		return "application/vnd.apache.parquet"
	}
	return "application/gzip"
}

// Erase deletes the objects of the folder in batches of 1,000.
func (b *Bucket) Erase(ctx context.Context, folder string) error {
	if err := archive.CheckName(folder); err != nil {
		return err
	}
	pages := s3.NewListObjectsV2Paginator(b.client,
		&s3.ListObjectsV2Input{Bucket: &b.name, Prefix: aws.String(folder + "/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = b.deleteObjects(ctx, page.Contents)
		}
		if err != nil {
			return fault.NewWithCause(fault.Unavailable, err, "the archive of %s cannot be erased now", folder)
		}
	}
	return nil
}

func (b *Bucket) deleteObjects(ctx context.Context, objects []types.Object) error {
	if len(objects) == 0 {
		return nil
	}
	ids := make([]types.ObjectIdentifier, len(objects))
	for i, o := range objects {
		ids[i].Key = o.Key
	}
	out, err := b.client.DeleteObjects(ctx,
		&s3.DeleteObjectsInput{Bucket: &b.name, Delete: &types.Delete{Objects: ids, Quiet: aws.Bool(true)}})
	if err == nil && len(out.Errors) > 0 {
		first := out.Errors[0]
		err = fmt.Errorf("%d objects were not deleted, the first is %s: %s", len(out.Errors), aws.ToString(first.Key),
			aws.ToString(first.Message))
	}
	return err
}

var _ archive.Files = (*Bucket)(nil)
