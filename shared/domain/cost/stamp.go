package cost

import (
	"context"

	"lamplighter.dev/shared/domain/inventory"
)

// stamper tells for the resources of a bill what they are and whose, as the inventory says now. What it no longer knows keeps what was
// said of it before; a closed month keeps all that was said.
type stamper struct {
	directory *inventory.Directory
	account   string
	before    map[string]stamp // by what the bill calls the resource
	closed    bool
}

// newStamper reads what was said in the generation that is in.
func (s *Store) newStamper(ctx context.Context, org, accountID string, old *pointer, d *inventory.Directory) (*stamper, error) { //nolint:revive // of what, by what
	before, err := s.readStamps(ctx, org, old)
	return &stamper{d, accountID, before, old.Final}, err
}

func (s *stamper) stamp(billed string) stamp {
	if billed == "" {
		return stamp{}
	}
	before, had := s.before[billed]
	if had && s.closed {
		return before
	}
	r, known := s.directory.Find(s.account, billed)
	switch {
	case known:
		return stamp{r.UID, r.Type, r.Region, joinSet(r.Teams), joinSet(r.Groups)}
	case had:
		return before
	}
	return stamp{uid: billed}
}

// readStamps reads what a generation says of its resources.
func (s *Store) readStamps(ctx context.Context, org string, p *pointer) (map[string]stamp, error) {
	out := map[string]stamp{}
	for n := range p.Blocks {
		b, err := s.readBlock(ctx, org, place{pointer: p, n: n}, resourceFamily, nativeFamily, stampFamily)
		if err != nil {
			return nil, err
		}
		native, uid := b.native(), b.word(ResourceDim)
		teams, groups := b.nth(stampFamily, teamsColumn), b.nth(stampFamily, groupsColumn)
		kind, region := b.nth(stampFamily, kindColumn), b.nth(stampFamily, placeColumn)
		for i := range b.lines {
			out[native.name(i)] = stamp{uid.name(i), kind.name(i), region.name(i), teams.name(i), groups.name(i)}
		}
		if err = b.check(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changes reports whether a period would be stamped otherwise than it is.
func (s *stamper) changes() bool {
	for billed, before := range s.before {
		if now := s.stamp(billed); now.teams != before.teams || now.groups != before.groups {
			return true
		}
	}
	return false
}
