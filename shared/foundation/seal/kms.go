package seal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"lamplighter.dev/shared/foundation/fault"
)

// kmsTimeout limits a call of KMS, including the SDK's retries.
const kmsTimeout = 5 * time.Second

// KMS wraps data keys with keys of AWS KMS, which never leave it. The place is the encryption context, so that key
// policies and CloudTrail see the organization too.
type KMS struct {
	client *kms.Client
	keys   []string
}

// NewKMS returns a KMS that wraps with the first of the given symmetric keys (IDs or ARNs), and opens data keys wrapped
// by any of them. A key with automatic rotation stays one key. NewKMS makes no call.
func NewKMS(cfg aws.Config, keys ...string) *KMS { return &KMS{kms.NewFromConfig(cfg), keys} }

// NewDataKey returns a new data key.
func (k *KMS) NewDataKey(ctx context.Context, p Place) (key, wrapped []byte, err error) {
	if len(k.keys) == 0 {
		return nil, nil, errors.New("no key for secrets is configured")
	}
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	out, err := k.client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: &k.keys[0], KeySpec: types.DataKeySpecAes256, EncryptionContext: encryptionContext(p),
	})
	if err != nil {
		return nil, nil, fault.NewWithCause(fault.Unavailable, err, "the key service does not answer; try again")
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Unwrap opens a data key for its place. KMS reads from the wrapped key which KMS key wrapped it. That key must be one
// of k.keys, because anyone can wrap data with a key of their own.
func (k *KMS) Unwrap(ctx context.Context, p Place, wrapped []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	out, err := k.client.Decrypt(ctx, &kms.DecryptInput{
		CiphertextBlob: wrapped, EncryptionContext: encryptionContext(p),
	})
	if _, wrong := errors.AsType[*types.InvalidCiphertextException](err); wrong {
		return nil, fmt.Errorf("unwrap data key: %w", err)
	}
	if err != nil {
		return nil, fault.NewWithCause(fault.Unavailable, err, "the key service does not answer; try again")
	}
	if !k.isConfigured(aws.ToString(out.KeyId)) {
		clear(out.Plaintext)
		return nil, fmt.Errorf(
			"unwrap data key: it was wrapped by %s, which is not a key of this installation", aws.ToString(out.KeyId))
	}
	return out.Plaintext, nil
}

// isConfigured reports whether the key with this ARN was configured, by its ARN or by its ID.
func (k *KMS) isConfigured(arn string) bool {
	return slices.ContainsFunc(k.keys, func(key string) bool {
		return key == arn || strings.HasSuffix(arn, ":key/"+key)
	})
}

// encryptionContext returns the place without its empty parts. KMS refuses empty values.
func encryptionContext(p Place) map[string]string {
	out := map[string]string{}
	for name, v := range map[string]string{"org": p.Org, "kind": p.Kind, "id": p.ID} {
		if v != "" {
			out[name] = v
		}
	}
	return out
}

var _ KEK = (*KMS)(nil)
