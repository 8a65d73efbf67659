package seal

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"lamplighter.dev/shared/fault"
)

// kmsTime is how long a call of KMS may take, with the SDK's retries.
const kmsTime = 5 * time.Second

// KMS wraps data keys with a key that never leaves AWS's key service. The place is the encryption context, so that key
// policies and CloudTrail see the organization as well.
type KMS struct {
	client *kms.Client
	key    string
}

// NewKMS wraps with the symmetric key of the id or ARN key. It makes no call.
func NewKMS(cfg aws.Config, key string) *KMS { return &KMS{kms.NewFromConfig(cfg), key} }

// New makes a data key.
func (k *KMS) New(ctx context.Context, p Place) (key, wrapped []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTime)
	defer cancel()
	out, err := k.client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: &k.key, KeySpec: types.DataKeySpecAes256, EncryptionContext: encryptionContext(p),
	})
	if err != nil {
		return nil, nil, fault.Cause(fault.Unavailable, err, "the key service does not answer; try again")
	}
	return out.Plaintext, out.CiphertextBlob, nil
}

// Unwrap opens a data key for the place that it was made for.
func (k *KMS) Unwrap(ctx context.Context, p Place, wrapped []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTime)
	defer cancel()
	out, err := k.client.Decrypt(ctx, &kms.DecryptInput{
		KeyId: &k.key, CiphertextBlob: wrapped, EncryptionContext: encryptionContext(p),
	})
	if err != nil {
		return nil, fmt.Errorf("unwrap data key: %w", err)
	}
	return out.Plaintext, nil
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
