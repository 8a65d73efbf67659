package discovery

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// These constants bound the reads by ID that confirm that resources are gone: calls for each kind in a region, and
// their total time. Resources beyond the bounds are terminated when later listings do not return them either.
const (
	maxConfirmCalls = 10
	confirmTime     = 10 * time.Second
)

// existenceReader returns a function that reads resources of a part by ID (inventory.EndedScan.Exists), or nil if
// that is not possible.
func (r *run) existenceReader(p Progress) func(context.Context, []string) map[string]bool {
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

// noteExistence records which of the read resources exist.
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
