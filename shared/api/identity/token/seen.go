package token

import (
	"crypto/sha256"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// seen remembers which tokens had a right signature, by the hash of the exact token: checking one takes most of the time
// of a request. Their times, and whether their key is still accepted, are looked at each time.
type seen struct {
	mu sync.RWMutex
	m  map[[sha256.Size]byte]opened
}

type opened struct {
	kid string
	claims
}

const maxSeen = 4096

func (s *seen) get(sum [sha256.Size]byte, set jose.JSONWebKeySet) (claims, bool) {
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

// put forgets everything when it is full: it is bounded, and forgetting costs a signature check, no more.
func (s *seen) put(sum [sha256.Size]byte, kid string, c claims) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil || len(s.m) >= maxSeen {
		s.m = make(map[[sha256.Size]byte]opened, 64)
	}
	s.m[sum] = opened{kid, c}
}
