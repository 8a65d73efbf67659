package cost

import (
	"context"

	"lamplighter.dev/shared/domain/inventory"
)

// stamper returns the stamps of a bill's resources, their type and their owners, from the present inventory. A
// resource that the inventory no longer knows keeps its previous stamp. A closed month that is older than the setting
// attributionMonths keeps all previous stamps.
type stamper struct {
	directory *inventory.Directory
	of        *pointer // the bill
	before    map[billedAs]stamp
	keeps     bool // all previous stamps
}

// billedAs is the identity of a resource on a bill.
type billedAs struct{ subAccount, resource string }

// newStamper returns a stamper that knows the stamps of the present generation.
func (s *Store) newStamper(ctx context.Context, org string, old *pointer, d *definitions) (*stamper, error) {
	before, err := s.readStamps(ctx, org, old)
	return &stamper{d.Directory, old, before, !d.applyTo(old)}, err
}

func (s *stamper) stamp(billed billedAs) stamp {
	if billed.resource == "" {
		return stamp{}
	}
	before, had := s.before[billed]
	if had && s.keeps {
		return before
	}
	r, known := s.directory.Find(s.of.accountOf(billed.subAccount), billed.resource)
	switch {
	case known:
		return stamp{r.UID, r.Type, r.Region, joinSet(r.Teams), joinSet(r.Groups)}
	case had:
		return before
	}
	return stamp{uid: billed.resource}
}

// readStamps reads the stamps of the resources of a generation.
func (s *Store) readStamps(ctx context.Context, org string, p *pointer) (map[billedAs]stamp, error) {
	out := map[billedAs]stamp{}
	for n := range p.Blocks {
		b, err := s.readBlock(ctx, org, place{pointer: p, n: n}, wordsFamily, resourceFamily, nativeFamily, stampFamily)
		if err != nil {
			return nil, err
		}
		sub, native, uid := b.word(SubAccountDim), b.native(), b.word(ResourceDim)
		teams, groups := b.nth(stampFamily, teamsColumn), b.nth(stampFamily, groupsColumn)
		kind, region := b.nth(stampFamily, kindColumn), b.nth(stampFamily, placeColumn)
		for i := range b.lines {
			out[billedAs{sub.name(i), native.name(i)}] = stamp{
				uid.name(i), kind.name(i), region.name(i), teams.name(i),
				groups.name(i),
			}
		}
		if err = b.check(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changes reports whether new stamps of the period would differ from the present ones.
func (s *stamper) changes() bool {
	for billed, before := range s.before {
		if now := s.stamp(billed); now.teams != before.teams || now.groups != before.groups {
			return true
		}
	}
	return false
}
