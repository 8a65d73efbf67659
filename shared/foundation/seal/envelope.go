package seal

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
)

// KEK makes and opens data keys: a key service in the cloud, a key file on a laptop. A wrapped key is bound to its
// place.
type KEK interface {
	// NewDataKey returns a new data key of 32 bytes, and its wrapped form of at most 65,535 bytes.
	NewDataKey(ctx context.Context, p Place) (key, wrapped []byte, err error)
	// Unwrap returns the data key. It fails for any other place.
	Unwrap(ctx context.Context, p Place, wrapped []byte) ([]byte, error)
}

// Envelope seals each value with a new data key. The format is: version, length of the wrapped key, wrapped key, then
// nonce, ciphertext and tag of AES-256-GCM. The place is additional authenticated data.
type Envelope struct{ kek KEK }

// NewEnvelope returns an Envelope that wraps its data keys with kek.
func NewEnvelope(kek KEK) *Envelope { return &Envelope{kek} }

const (
	version    = 1
	headerSize = 3 // version and length
)

// Seal encrypts plain for the place.
func (e *Envelope) Seal(ctx context.Context, p Place, plain []byte) ([]byte, error) {
	key, wrapped, err := e.kek.NewDataKey(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("seal %s %s: %w", p.Kind, p.ID, err)
	}
	defer clear(key)
	aead, err := newGCM(key)
	if err != nil {
		return nil, fmt.Errorf("seal %s %s: %w", p.Kind, p.ID, err)
	}
	if len(wrapped) > 1<<16-1 {
		return nil, fmt.Errorf("seal %s %s: wrapped key of %d bytes", p.Kind, p.ID, len(wrapped))
	}
	out := binary.BigEndian.AppendUint16([]byte{version}, uint16(len(wrapped))) // #nosec G115 -- checked above
	return aead.Seal(append(out, wrapped...), nil, plain, encodePlace(p)), nil
}

// Open decrypts a value that was sealed for the same place.
func (e *Envelope) Open(ctx context.Context, p Place, sealed []byte) ([]byte, error) {
	wrapped, body, err := splitSealed(sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", p.Kind, p.ID, err)
	}
	key, err := e.kek.Unwrap(ctx, p, wrapped)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", p.Kind, p.ID, err)
	}
	defer clear(key)
	aead, err := newGCM(key)
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", p.Kind, p.ID, err)
	}
	plain, err := aead.Open(nil, nil, body, encodePlace(p))
	if err != nil {
		return nil, fmt.Errorf("open %s %s: damaged, or sealed for another place: %w", p.Kind, p.ID, err)
	}
	return plain, nil
}

func splitSealed(sealed []byte) (wrapped, body []byte, err error) {
	if len(sealed) < headerSize || sealed[0] != version {
		return nil, nil, errors.New("not a sealed value")
	}
	end := headerSize + int(binary.BigEndian.Uint16(sealed[1:]))
	if len(sealed) < end {
		return nil, nil, errors.New("a sealed value cut short")
	}
	return sealed[headerSize:end], sealed[end:], nil
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// encodePlace returns the place as bytes. The length before each part makes the encoding unique.
func encodePlace(p Place) []byte {
	var b []byte
	for _, s := range []string{"lamplighter-seal-1", p.Org, p.Kind, p.ID} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s))) // #nosec G115 -- ids, never near 4 GiB
		b = append(b, s...)
	}
	return b
}

var _ Sealer = (*Envelope)(nil)
