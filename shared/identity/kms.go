package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/go-jose/go-jose/v4"
)

// kmsTime is how long a call of KMS may take, with the SDK's retries.
const kmsTime = 5 * time.Second

// KMSKeys is a keyring of asymmetric KMS keys (ECC_NIST_P256, SIGN_VERIFY): the first signs, the others are still
// accepted. Their public halves, which never change, are read once.
type KMSKeys struct {
	client *kms.Client
	keys   []string

	mu     sync.Mutex
	public []jose.JSONWebKey
}

// NewKMSKeys is the keyring of the keys with these ids or ARNs. It makes no call.
func NewKMSKeys(cfg aws.Config, keys ...string) *KMSKeys {
	return &KMSKeys{client: kms.NewFromConfig(cfg), keys: keys}
}

// Accepted are the public halves of all keys.
func (k *KMSKeys) Accepted(ctx context.Context) (jose.JSONWebKeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.public) == len(k.keys) {
		return jose.JSONWebKeySet{Keys: k.public}, nil
	}
	public := make([]jose.JSONWebKey, 0, len(k.keys))
	for _, key := range k.keys {
		p, err := k.read(ctx, key)
		if err != nil {
			return jose.JSONWebKeySet{}, fmt.Errorf("read public half of %s: %w", key, err)
		}
		public = append(public, p)
	}
	k.public = public
	return jose.JSONWebKeySet{Keys: public}, nil
}

func (k *KMSKeys) read(ctx context.Context, key string) (jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTime)
	defer cancel()
	out, err := k.client.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &key})
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	parsed, err := x509.ParsePKIXPublicKey(out.PublicKey)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	ec, ok := parsed.(*ecdsa.PublicKey)
	if !ok || ec.Curve != elliptic.P256() {
		return jose.JSONWebKey{}, fmt.Errorf("it is of type %s, where ECC_NIST_P256 belongs", out.KeySpec)
	}
	return PublicKey(ec, jose.ES256)
}

// Signing is the first key.
func (k *KMSKeys) Signing(ctx context.Context) (SigningKey, error) {
	set, err := k.Accepted(ctx)
	if err != nil {
		return nil, err
	}
	if len(set.Keys) == 0 {
		return nil, errors.New("no signing key is configured")
	}
	return kmsKey{k.client, k.keys[0], set.Keys[0]}, nil
}

// kmsKey signs with one KMS key.
type kmsKey struct {
	client *kms.Client
	id     string
	public jose.JSONWebKey
}

func (k kmsKey) Public() jose.JSONWebKey { return k.public }

// Sign leaves the hashing to KMS: a token is far below the 4 KiB that it takes.
func (k kmsKey) Sign(ctx context.Context, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTime)
	defer cancel()
	out, err := k.client.Sign(ctx, &kms.SignInput{
		KeyId: &k.id, Message: data, MessageType: types.MessageTypeRaw, SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, fmt.Errorf("sign with %s: %w", k.id, err)
	}
	return fixed(out.Signature)
}

// fixed turns a signature as KMS gives it, in DER, into the 64 bytes r‖s that JWS wants.
func fixed(der []byte) ([]byte, error) {
	var s struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &s)
	if err != nil {
		return nil, fmt.Errorf("parse signature: %w", err)
	}
	if len(rest) != 0 || s.R.Sign() <= 0 || s.S.Sign() <= 0 || s.R.BitLen() > 256 || s.S.BitLen() > 256 {
		return nil, errors.New("parse signature: it is not one of P-256")
	}
	out := make([]byte, 64)
	s.R.FillBytes(out[:32])
	s.S.FillBytes(out[32:])
	return out, nil
}

var _ Keyring = (*KMSKeys)(nil)
