package token

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/clock"
)

// kmsTimeout limits a call of KMS, including the SDK's retries.
const kmsTimeout = 5 * time.Second

// KMSKeys is a keyring of asymmetric KMS keys (ECC_NIST_P256, SIGN_VERIFY). All are accepted; the one that started last
// signs. Their public parts never change, and are read once.
type KMSKeys struct {
	client *kms.Client
	clock  clock.Clock
	ids    []string
	from   []time.Time

	mu sync.Mutex
	keySchedule
}

// NewKMSKeys returns the keyring of the keys with these IDs or ARNs. A key may have a time when it starts to sign:
// <ARN>@2026-03-10T09:00:00Z. Of several keys with the same time, the first signs. NewKMSKeys makes no call.
func NewKMSKeys(cfg aws.Config, c clock.Clock, keys ...string) (*KMSKeys, error) {
	k := &KMSKeys{client: kms.NewFromConfig(cfg), clock: c}
	for _, key := range keys {
		id, at, timed := strings.Cut(key, "@")
		var from time.Time
		var err error
		if timed {
			from, err = time.Parse(time.RFC3339, at)
		}
		if err != nil || id == "" {
			return nil, fmt.Errorf("signing key %q: write the ARN of a key, or <ARN>@2026-03-10T09:00:00Z", key)
		}
		k.ids, k.from = append(k.ids, id), append(k.from, from)
	}
	return k, nil
}

// Accepted returns the public parts of all keys, including those that do not sign yet.
func (k *KMSKeys) Accepted(ctx context.Context) (jose.JSONWebKeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return jose.JSONWebKeySet{}, err
	}
	return k.acceptedKeys(k.clock.Now()), nil
}

// load reads the public parts, if they were not read before.
func (k *KMSKeys) load(ctx context.Context) error {
	if len(k.keys) == len(k.ids) {
		return nil
	}
	keys := make([]timedKey, 0, len(k.ids))
	for i, id := range k.ids {
		p, err := k.readPublicKey(ctx, id)
		if err != nil {
			return fmt.Errorf("read public half of %s: %w", id, err)
		}
		keys = append(keys, timedKey{public: p, from: k.from[i]})
	}
	k.keySchedule = keySchedule{keys: keys}
	return nil
}

func (k *KMSKeys) readPublicKey(ctx context.Context, key string) (jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
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
		return jose.JSONWebKey{}, fmt.Errorf("it has the type %s; it must be ECC_NIST_P256", out.KeySpec)
	}
	return PublicKey(ec, jose.ES256)
}

// Signing returns the key that signs now.
func (k *KMSKeys) Signing(ctx context.Context) (SigningKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	i, err := k.signing(k.clock.Now())
	if err != nil {
		return nil, fmt.Errorf("choose a key of %s: %w", strings.Join(k.ids, ", "), err)
	}
	return kmsKey{k.client, k.ids[i], k.keys[i].public}, nil
}

// kmsKey signs with one KMS key.
type kmsKey struct {
	client *kms.Client
	id     string
	public jose.JSONWebKey
}

func (k kmsKey) Public() jose.JSONWebKey { return k.public }

// Sign lets KMS hash the data. Tokens are far below its limit of 4 KiB.
func (k kmsKey) Sign(ctx context.Context, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, kmsTimeout)
	defer cancel()
	out, err := k.client.Sign(ctx, &kms.SignInput{
		KeyId: &k.id, Message: data, MessageType: types.MessageTypeRaw,
		SigningAlgorithm: types.SigningAlgorithmSpecEcdsaSha256,
	})
	if err != nil {
		return nil, fmt.Errorf("sign with %s: %w", k.id, err)
	}
	return fixedSignature(out.Signature)
}

// fixedSignature converts a DER signature of KMS to the 64 bytes r‖s of JWS.
func fixedSignature(der []byte) ([]byte, error) {
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
