package smarttag

import (
	"context"
	"sync"

	"lamplighter.dev/shared/domain/inventory"
)

// mostKept is the number of organizations whose smart tags a Tagger caches, at up to some megabytes each.
const mostKept = 32

// Tagger gives the inventory the accepted tags of resources. It caches them while their version is unchanged.
type Tagger struct {
	store Store
	mu    sync.Mutex
	known map[string]knownTags // by organization
}

type knownTags struct {
	version string
	state   *State
}

var _ inventory.Tagger = (*Tagger)(nil)

// NewTagger makes a Tagger.
func NewTagger(s Store) *Tagger { return &Tagger{store: s, known: map[string]knownTags{}} }

// TagsOf returns a function that returns the accepted tags of a resource. It takes a round trip if the version is not
// the cached one.
func (t *Tagger) TagsOf(ctx context.Context, org, version string) (func(*inventory.Resource) map[string]string, error) {
	t.mu.Lock()
	k, had := t.known[org]
	t.mu.Unlock()
	if had && k.version == version {
		return k.state.Tags, nil
	}
	st, err := t.store.Read(ctx, org)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for old := range t.known {
		if len(t.known) < mostKept {
			break
		}
		delete(t.known, old)
	}
	t.known[org] = knownTags{version, st}
	return st.Tags, nil
}
