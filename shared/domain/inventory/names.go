package inventory

import (
	"context"
	"fmt"
)

// Name is our ID and the name of a resource.
type Name struct{ ID, Name string }

// ReadNames returns the names of resources by native ID, without those that are gone from the inventory. It takes one
// round trip, or none for no resources. Visibility is not checked: callers pass resources that the client may see.
func (s *Store) ReadNames(ctx context.Context, org string, uids []string) (map[string]Name, error) {
	out := make(map[string]Name, len(uids))
	if len(uids) == 0 {
		return out, nil
	}
	v, err := s.openIndex(ctx, org)
	if err != nil {
		return nil, fmt.Errorf("read the names of %d resources: %w", len(uids), err)
	}
	v.st.RLock()
	defer v.st.RUnlock()
	for _, uid := range uids {
		if r, there := v.st.RowByUID(uid); there {
			out[uid] = Name{formatID(r.ID()), r.Name()}
		}
	}
	return out, nil
}
