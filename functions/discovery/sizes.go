package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
)

// sizesAtOnce is how many regions' lists of sizes are read at the same time.
const sizesAtOnce = 4

// renewSizes reads the machine types of the regions in which the account has machines, if no discovery has read them
// lately. A list that cannot be read stays as it was: it is read again the next day, and limits that are too old count
// as unknown.
func (w *worker) renewSizes(ctx context.Context, org string, a inventory.Account, conn cloud.Conn) error {
	from, can := conn.(cloud.Sizer)
	if !can {
		return nil
	}
	regions, err := w.machineRegions(ctx, org, a)
	if err != nil || len(regions) == 0 {
		return err
	}
	due, err := w.sizes.Due(ctx, org, regions)
	if err != nil {
		return err
	}
	errs := make([]error, len(due))
	cloud.InParallel(len(due), sizesAtOnce, func(i int) {
		all, err := from.Sizes(ctx, due[i].Region)
		if err == nil {
			err = w.sizes.Write(ctx, org, due[i], all)
		}
		errs[i] = err
	})
	for i, err := range errs {
		if err != nil && cloud.ClassOf(err) != cloud.Unsupported {
			w.p.Log.WarnContext(ctx, "machine types are read by a later discovery", "org", org, "account", a.ID, "of",
				due[i].String(), "error", err.Error())
		}
	}
	return nil
}

// machineRegions returns the regions in which the account has resources whose size is a machine type.
func (w *worker) machineRegions(ctx context.Context, org string, a inventory.Account) ([]pricing.ProviderRegion,
	error,
) {
	found := map[pricing.ProviderRegion]bool{}
	err := w.inventory.EachIndexed(ctx, org, func(r inventory.IndexedResource) {
		if r.CloudAccountID == a.ID && r.Provider == a.Provider && r.Region != cloud.Global && cloud.IsSized(r.Type) {
			found[pricing.ProviderRegion{Provider: r.Provider, Region: r.Region}] = true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the regions of the machines of %s: %w", a.ID, err)
	}
	return slices.SortedFunc(maps.Keys(found), pricing.ProviderRegion.Compare), nil
}
