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

// kmsTime is how long a call of KMS may take, with the SDK's retries.
const kmsTime = 5 * time.Second

// KMS wraps data keys with a key that never leaves AWS's key service. The place is the encryption context, so that key
// policies and CloudTrail see the organization as well.
type KMS struct {
	client *kms.Client
	keys   []string
}

// NewKMS wraps with the first of the symmetric keys with these ids or ARNs, and opens what any of them wrapped. A key
// that KMS rotates by itself stays one key. It makes no call.
func NewKMS(cfg aws.Config, keys ...string) *KMS { return &KMS{kms.NewFromConfig(cfg), keys} }

// NewDataKey makes a data key.
func (k *KMS) NewDataKey(ctx context.Context, p Place) (key, wrapped []byte, err error) {
	if len(k.keys) == 0 {
		return nil, nil, errors.New("no key for secrets is configured")
	}
	ctx, cancel := context.WithTimeout(ctx, kmsTime)
	defer cancel()
	out, err := k.client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: &k.keys[0], KeySpec: types.DataKeySpecAes256, EncryptionContext: encryptionContext(p),
	})
	if err != nil {
		return nil, nil, fault.NewWithCause(fault.Unavailable, err, "the key service does not answer; try again")
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Unwrap opens a data key for the place that it was made for. KMS finds in the wrapped key which of its keys wrapped it;
// it has to be one of ours, for anybody can wrap something with a key of their own.
func (k *KMS) Unwrap(ctx context.Context, p Place, wrapped []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTime)
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
	if !k.ours(aws.ToString(out.KeyId)) {
		clear(out.Plaintext)
		return nil, fmt.Errorf(
			"unwrap data key: it was wrapped by %s, which is not a key of this installation", aws.ToString(out.KeyId))
	}
	return out.Plaintext, nil
}

// ours reports whether the key that KMS names by its ARN is one that was given by ARN or id.
func (k *KMS) ours(arn string) bool {
	return slices.ContainsFunc(k.keys, func(key string) bool {
		return key == arn || strings.HasSuffix(arn, ":key/"+key)
	})
}

// encryptionContext leaves out what is empty: KMS refuses empty values.
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
