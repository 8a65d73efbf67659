package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// Digest returns the keyed hash of parts (HMAC-SHA-256, 43 letters of base64url), each part with its length before it so that
// no two lists of parts are hashed alike. Without the pepper, nothing can be looked up or guessed from it.
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
