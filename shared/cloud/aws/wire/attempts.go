package wire

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

type attemptsKey struct{}

// WithAttempts returns a context that limits each call to n attempts.
func WithAttempts(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, attemptsKey{}, n)
}

type oneWriteKey struct{}

// WithOneWrite returns a context for a call that changes something. The call is made again only if AWS has throttled
// it, because AWS never carries out such a call. After any other failure, it may have taken effect.
func WithOneWrite(ctx context.Context) context.Context {
	return context.WithValue(ctx, oneWriteKey{}, true)
}

func (c *Client) retryer(ctx context.Context) aws.Retryer {
	r := c.config.Retryer()
	if ctx.Value(oneWriteKey{}) != nil {
		return OnlyThrottled(r)
	}
	if n, ok := ctx.Value(attemptsKey{}).(int); ok {
		return retry.AddWithMaxAttempts(r, n)
	}
	return r
}

// OnlyThrottled returns a retryer that makes only throttled calls again.
func OnlyThrottled(r aws.Retryer) aws.Retryer { return onlyThrottled{r} }

type onlyThrottled struct{ aws.Retryer }

// IsErrorRetryable reports whether AWS has throttled the call, and the retryer would make it again.
func (r onlyThrottled) IsErrorRetryable(err error) bool {
	api, is := errors.AsType[smithy.APIError](err)
	if !is {
		return false
	}
	_, throttled := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
	return throttled && r.Retryer.IsErrorRetryable(err)
}
