package inventory

import (
	"context"

	"github.com/oklog/ulid/v2"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// Lookup finds resources by the binary form of their ids, for lists of records about resources. Its resources are those
// of the moment of each Read.
type Lookup struct{ v *view }

// OpenLookup opens the index, with the resources of the teams in scopes. It takes one round trip, and one more if the
// resources of these teams have changed.
func (s *Store) OpenLookup(ctx context.Context, org string, scopes ...grant.Scopes) (*Lookup, error) {
	v, err := s.openIndexWith(ctx, org, func(id string) bool {
		for _, one := range scopes {
			if needed(one, id) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	return &Lookup{v}, nil
}

// Find returns the resource with an id, and false if the inventory has none.
type Find func(id ulid.ULID) (ResourceRow, bool)

// Read calls f, which may use find and the rows until it returns. It holds the read lock of the index, so f must not
// call the Store.
func (l *Lookup) Read(f func(find Find)) {
	unlock := l.v.st.RLockByID()
	defer unlock()
	f(func(id ulid.ULID) (ResourceRow, bool) {
		r, ok := l.v.st.RowByID(id)
		return ResourceRow{r}, ok
	})
}

// InScopes returns a function that reports whether the resource with an id is in scopes. For scopes of everything it
// returns nil. The scopes must be among those of OpenLookup.
func (l *Lookup) InScopes(scopes grant.Scopes) func(id ulid.ULID) bool {
	if scopes.All {
		return nil
	}
	l.v.st.RLock()
	ids := l.v.ids(scopes)
	l.v.st.RUnlock()
	return func(id ulid.ULID) bool {
		_, ok := ids[id]
		return ok
	}
}

// ResourceRow is a resource of a Lookup.
type ResourceRow struct{ r index.Row }

// UID returns the native id.
func (r ResourceRow) UID() string { return r.r.UID() }

// Name returns the name.
func (r ResourceRow) Name() string { return r.r.Name() }

// Mentions reports whether the name or the native id contains word, ignoring case. The word must be in lower case.
func (r ResourceRow) Mentions(word string) bool { return r.r.Mentions(word) }

// Terminated reports whether the resource has ended in its cloud.
func (r ResourceRow) Terminated() bool {
	return cloud.Status(r.r.Word(index.StatusRef)) == cloud.Terminated
}
