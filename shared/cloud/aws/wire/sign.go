package wire

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/middleware"
	smithyrand "github.com/aws/smithy-go/rand"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lamplighter.dev/shared/foundation/clock"
)

// signer signs each attempt with signature version 4, at the server's time if the clocks differ.
type signer struct{ client *Client }

// ID returns the name of the step.
func (signer) ID() string { return "Signing" }

// HandleFinalize signs the request and notes the clock skew of the response.
func (s signer) HandleFinalize(ctx context.Context, in middleware.FinalizeInput,
	next middleware.FinalizeHandler,
) (out middleware.FinalizeOutput, md middleware.Metadata, err error) {
	if s.client.config.Credentials == nil {
		return next.HandleFinalize(ctx, in)
	}
	if err = s.sign(ctx, in.Request.(*smithyhttp.Request)); err != nil {
		return out, md, err
	}
	out, md, err = next.HandleFinalize(ctx, in)
	if skew, ok := awsmiddleware.GetAttemptSkew(md); ok {
		s.client.skew.Store(skew.Nanoseconds())
	}
	return out, md, err
}

func (s signer) sign(ctx context.Context, req *smithyhttp.Request) error {
	creds, err := s.client.config.Credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("get identity: get credentials: %w", err)
	}
	hash, err := hashPayload(req)
	if err != nil {
		return fmt.Errorf("hash the request: %w", err)
	}
	if s.client.service.HashHeader {
		req.Header.Set("X-Amz-Content-Sha256", hash)
	}
	now := clock.System{}.Now().Add(time.Duration(s.client.skew.Load()))
	region, _ := middleware.GetStackValue(ctx, signingRegion{}).(string)
	err = v4.NewSigner().SignHTTP(ctx, creds, req.Request, hash, s.client.service.Signing, region, now)
	if err != nil {
		return fmt.Errorf("sign request: %w", err)
	}
	return nil
}

// signingRegion is the key of the context value that names the region of the signature.
type signingRegion struct{}

func hashPayload(req *smithyhttp.Request) (string, error) {
	h := sha256.New()
	if stream := req.GetStream(); stream != nil {
		if _, err := io.Copy(h, stream); err != nil {
			return "", err
		}
		if err := req.RewindStream(); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// NewToken returns a random token for an operation that AWS carries out once for each token.
func NewToken() (string, error) {
	return smithyrand.NewUUIDIdempotencyToken(rand.Reader).GetIdempotencyToken()
}
