package discovery

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The bounds of the reads by id that confirm that resources are gone: calls for each kind in a region, and their time together.
// Resources beyond them are terminated when later listings do not return them either.
const (
	maxConfirmCalls = 10
	confirmTime     = 10 * time.Second
)

// existence returns a function that reads resources of a part by id (inventory.EndedScan.Exists), or nil where that is not possible.
func (r *run) existence(p Progress) func(context.Context, []string) map[string]bool {
	k, known := r.w.providers.Kind(r.w.providerOf(r.account, p.Kind), p.Kind)
	if !known || cloud.IsCollective(p.Kind) || k.ReadBatch == 0 {
		return nil
	}
	return func(ctx context.Context, uids []string) map[string]bool {
		ctx, stop := context.WithTimeout(ctx, confirmTime)
		defer stop()
		out := map[string]bool{}
		for some := range slices.Chunk(uids[:min(len(uids), maxConfirmCalls*k.ReadBatch)], k.ReadBatch) {
			states, err := r.conn.Read(ctx, p.Kind, p.Region, some)
			if err != nil {
				return out // nothing is known of the others
			}
			noteExistence(out, some, states)
		}
		return out
	}
}

// noteExistence notes which of the resources that were read exist.
func noteExistence(exists map[string]bool, uids []string, states []cloud.State) {
	for _, uid := range uids {
		exists[uid] = false
	}
	for _, s := range states {
		if _, asked := exists[s.UID]; asked {
			exists[s.UID] = s.Status != cloud.Terminated
		}
	}
}
