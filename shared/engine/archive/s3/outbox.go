package s3

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/clock"
)

// Link presigns a GET that sets the file name of the download. It expires with the credentials of this process at the
// latest.
func (b *Bucket) Link(ctx context.Context, name, fileName string, until time.Time) (string, error) {
	if err := archive.CheckName(name); err != nil {
		return "", err
	}
	in := &s3.GetObjectInput{
		Bucket: &b.name, Key: &name, ResponseContentDisposition: aws.String(archive.Attachment(fileName)),
		ResponseContentType: aws.String("application/octet-stream"),
	}
	signed, err := s3.NewPresignClient(b.client).PresignGetObject(ctx, in,
		s3.WithPresignExpires(until.Sub(clock.System{}.Now())))
	if err != nil {
		return "", fmt.Errorf("sign a link to %s: %w", name, err)
	}
	return signed.URL, nil
}

var _ archive.Outbox = (*Bucket)(nil)
