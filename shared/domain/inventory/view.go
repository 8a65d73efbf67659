package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/inventory/index"
)

// The sort keys of the inventory in the partition of the index. The heads of groups and teams are read with the index,
// in one Query.
const (
	setPrefix    = "G#" // G#<grp>: the head of a group; G#<team>: the owner record of a team
	groupPrefix  = setPrefix + "grp_"
	ownerPrefix  = setPrefix + "team_"
	memberPrefix = "M#" // M#<grp>, M#<team>: the members of a static group, the resources of a team
	namePrefix   = "N#" // N#<name>: keeps the names of groups unique
)

// view is the inventory for one request: the index, and the groups and teams of its resources.
type view struct {
	org    string
	read   index.View
	st     *index.State // of read
	sets   *sets
	groups []Group // ordered by id
	owners []owner // ordered by id
	takers Takers  // of readTakers
	scoped []scoped
}

// openIndex updates the index in memory. It takes one round trip, and one more if the index was compacted.
func (s *Store) openIndex(ctx context.Context, org string) (*view, error) {
	read, err := s.index.Open(ctx, org)
	if err != nil {
		return nil, err
	}
	v := &view{org: org, read: read, st: read.State}
	v.st.Lock()
	defer v.st.Unlock()
	v.sets = setsOf(v.st)
	if v.groups, v.owners, err = v.sets.decodeHeads(read.Heads); err != nil {
		return nil, fmt.Errorf("read groups and teams of %s: %w", org, err)
	}
	return v, nil
}
