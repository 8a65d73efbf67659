package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Digest returns the keyed hash of parts (HMAC-SHA-256, 43 characters of base64url). Each part is hashed with its
// length, so that different lists of parts have different hashes. Without the pepper the hash reveals nothing about the
// parts.
func Digest(pepper []byte, parts ...string) string {
	m := hmac.New(sha256.New, pepper)
	var size [4]byte
	for _, p := range parts {
		binary.BigEndian.PutUint32(size[:], uint32(len(p))) // #nosec G115 -- addresses and codes, never near 4 GiB
		m.Write(size[:])
		m.Write([]byte(p))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}
