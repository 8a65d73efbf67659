package aws

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/details"
	"lamplighter.dev/shared/cloud/aws/resource"
)

// addStates adds the live states to resources of the index whose kinds can be acted on and have no listing of their
// own. Few accounts have any of them, so a listing of each kind in every region would mostly find nothing, or not even
// the service. A resource whose state cannot be read stays, with the reason why it cannot be acted on.
func addStates(ctx context.Context, at resource.Place, found []cloud.Resource) {
	for _, o := range registry {
		k := o.Describe()
		if !k.Collected || slices.Contains(described, k.Type) {
			continue
		}
		byUID := map[string]*cloud.Resource{}
		var uids []string
		for i := range found {
			if r := &found[i]; r.Type == k.Type {
				r.Status, r.Unschedulable = cloud.Unknown, "its state was not found"
				byUID[r.UID], uids = r, append(uids, r.UID)
			}
		}
		ops := o.Open(at.Cfg, at.Account)
		for some := range slices.Chunk(uids, k.ReadBatch) {
			states, err := ops.Read(ctx, some)
			for _, u := range some {
				if err != nil {
					byUID[u].Unschedulable = "its state cannot be read: " + resource.ClassifyError(err).Error()
				}
			}
			for _, s := range states {
				byUID[s.UID].Status, byUID[s.UID].Unschedulable = s.Status, s.Unschedulable
			}
		}
	}
}

// addDetails adds the facts of the resources of the index. A type that the page does not have costs no call.
func addDetails(ctx context.Context, at resource.Place, found []cloud.Resource) {
	resource.AskEach(len(details.All), func(i int) {
		d := details.All[i]
		var here []*cloud.Resource
		for n := range found {
			if r := &found[n]; slices.Contains(d.Types, r.Type) {
				if r.Facts == nil {
					r.Facts = cloud.Facts{}
				}
				here = append(here, r)
			}
		}
		if len(here) > 0 {
			d.Add(ctx, at, here)
		}
	})
}
