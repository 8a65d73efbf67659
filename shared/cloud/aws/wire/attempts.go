package wire

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

type attemptsKey struct{}

// WithAttempts returns a context that limits each call to n attempts.
func WithAttempts(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, attemptsKey{}, n)
}

func (c *Client) retryer(ctx context.Context) aws.Retryer {
	if n, ok := ctx.Value(attemptsKey{}).(int); ok {
		return retry.AddWithMaxAttempts(c.config.Retryer(), n)
	}
	return c.config.Retryer()
}
