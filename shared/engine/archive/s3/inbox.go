package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Address presigns a PUT of exactly size bytes. It expires with the credentials of this process at the latest.
func (b *Bucket) Address(ctx context.Context, name string, size int64, until time.Time) (string, error) {
	if err := archive.CheckName(name); err != nil {
		return "", err
	}
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &name, ContentLength: aws.Int64(size)}
	left := until.Sub(clock.System{}.Now())
	signed, err := s3.NewPresignClient(b.client).PresignPutObject(ctx, in, s3.WithPresignExpires(left))
	if err != nil {
		return "", fmt.Errorf("sign the address of %s: %w", name, err)
	}
	return signed.URL, nil
}

// Size returns the size of the object.
func (b *Bucket) Size(ctx context.Context, name string) (int64, error) {
	if err := archive.CheckName(name); err != nil {
		return 0, err
	}
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &name})
	if _, missing := errors.AsType[*types.NotFound](err); missing {
		return 0, fault.New(fault.NotFound, "nothing was uploaded as %s", name)
	}
	if err != nil {
		return 0, fault.NewWithCause(
			fault.Unavailable, err, "S3 does not answer whether %s was uploaded; try again", name)
	}
	return aws.ToInt64(out.ContentLength), nil
}

// ReadAt reads a range of the object.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, off int64) error {
	if err := archive.CheckName(name); err != nil {
		return err
	}
	span := fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &name, Range: &span})
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "%s cannot be read now", name)
	}
	defer out.Body.Close() //nolint:errcheck // it was only read
	if _, err = io.ReadFull(out.Body, p); err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "%s broke off while it was read", name)
	}
	return nil
}

// Remove deletes the object.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := archive.CheckName(name); err != nil {
		return err
	}
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &name}); err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "%s cannot be removed now", name)
	}
	return nil
}

var _ archive.Inbox = (*Bucket)(nil)
