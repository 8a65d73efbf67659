package token

import (
	"crypto/sha256"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// verifiedTokens caches the tokens with valid signatures by the hash of the exact token, because checking a signature
// takes most of the time of a request. Expiry and the acceptance of the key are checked each time.
type verifiedTokens struct {
	mu sync.RWMutex
	m  map[[sha256.Size]byte]verifiedToken
}

type verifiedToken struct {
	kid string
	claims
}

const maxSeen = 4096

func (s *verifiedTokens) get(sum [sha256.Size]byte, set jose.JSONWebKeySet) (claims, bool) {
	s.mu.RLock()
	o, ok := s.m[sum]
	s.mu.RUnlock()
	if !ok {
		return claims{}, false
	}
	for i := range set.Keys {
		if set.Keys[i].KeyID == o.kid {
			return o.claims, true
		}
	}
	return claims{}, false
}

// put adds a token. When the cache is full, it drops all entries.
func (s *verifiedTokens) put(sum [sha256.Size]byte, kid string, c claims) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil || len(s.m) >= maxSeen {
		s.m = make(map[[sha256.Size]byte]verifiedToken, 64)
	}
	s.m[sum] = verifiedToken{kid, c}
}
