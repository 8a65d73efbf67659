package recommender

import (
	"cmp"
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/sizing"
)

// regionSizes are the machine types of a provider in a region.
type regionSizes struct {
	types *sizing.Catalogue
	stale bool
}

// sizeLists reads the lists of machine types of an organization when they are first needed: each once in a pass.
type sizeLists struct {
	ctx   context.Context //nolint:containedctx // of the pass that the lists are for
	store *sizing.Store
	org   string
	kept  map[listOf]*regionSizes // nil for a pair without a list
	at    func(*sizing.List) bool // whether a list is too old
	err   error                   // of the first read that failed
}

// listOf names the types of a vendor in a list: the simulated cloud has resources of several.
type listOf struct {
	pricing.ProviderRegion
	vendor string
}

// list returns the machine types of a pair, or nil if they were not read. vendor is the provider whose types they are.
func (l *sizeLists) list(at pricing.ProviderRegion, vendor string) *regionSizes {
	of := listOf{at, vendor}
	if kept, known := l.kept[of]; known {
		return kept
	}
	got, err := l.store.Read(l.ctx, l.org, at)
	if err != nil {
		l.err = cmp.Or(l.err, fmt.Errorf("read the machine types of %s: %w", at, err))
	}
	var out *regionSizes
	if got != nil {
		var all []cloud.MachineSize
		got.Each(func(s cloud.MachineSize) { all = append(all, s) })
		out = &regionSizes{sizing.NewCatalogue(vendor, all), l.at(got)}
	}
	if l.kept == nil {
		l.kept = map[listOf]*regionSizes{}
	}
	l.kept[of] = out
	return out
}
