package simulated

import (
	"context"
	"slices"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// List reads the next page of the kind's resources in the region: up to pageSize places, without the resources that
// are gone. It lags by the setting eventualConsistency.
func (c *conn) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	k, r, err := c.findKind(kind, region, "List")
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	if r.capability = discover; k == everyCollected {
		return c.listOthers(ctx, r, page)
	}
	r.op = kinds[k].describe
	from, err := strconv.Atoi("0" + page)
	if err != nil {
		return cloud.ResourcePage{},
			newFailure(cloud.Invalid, r, "InvalidNextToken", "page token "+page+" is not one of ours")
	}
	var out cloud.ResourcePage
	err = c.simulateCall(ctx, r, func(ctx context.Context) error {
		return c.world.readHistory(ctx, func(h history) { out = c.listPage(h, k, region, from) })
	})
	return out, err
}

func (c *conn) listPage(h history, kind int, region string, from int) cloud.ResourcePage {
	total, at := c.nodeCount(kind, region), slices.Index(regionNames, region)
	to := min(from+c.page, total)
	now := c.clk.Now().Add(-c.faults.lag)
	out := cloud.ResourcePage{Resources: make([]cloud.Resource, 0, max(to-from, 0))}
	for i := from; i < to; i++ {
		n := node{kind: uint8(kind), region: uint8(at), number: uint32(i)}
		if c.drawHit(n, asVanish, c.faults.vanish) {
			continue
		}
		if r := c.describeNode(n, h, now); r.Status != cloud.Terminated {
			out.Resources = append(out.Resources, r)
		}
	}
	if to < total {
		out.Next = strconv.Itoa(to)
	}
	return out
}

// Read returns the live states, one call for each 1,000 ids.
func (c *conn) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	k, r, err := c.findKind(kind, region, "Read")
	if err != nil {
		return nil, err
	}
	r.op, r.capability = kinds[k].describe, discover
	out := make([]cloud.State, 0, len(uids))
	for part := range slices.Chunk(uids, readBatch) {
		err = c.simulateCall(ctx, r, func(ctx context.Context) error {
			return c.world.readHistory(ctx, func(h history) { out = append(out, c.readStates(h, k, region, part)...) })
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *conn) readStates(h history, kind int, region string, uids []string) []cloud.State {
	out := make([]cloud.State, 0, len(uids))
	now := c.clk.Now()
	for _, uid := range uids {
		n, ok := c.findNode(kind, region, uid)
		if !ok {
			continue
		}
		st := c.stateAt(n, h, now)
		out = append(out, cloud.State{
			UID: uid, Status: st.status, Native: st.native, Reason: st.reason, Unschedulable: c.whyUnschedulable(n),
			Snapshot: c.snapshotOf(n, st),
		})
	}
	return out
}

// findKind finds the kind and reports whether the region is the account's.
func (c *conn) findKind(kind, region, method string) (int, request, error) {
	r := request{method: method, op: "simulated:" + method, kind: kind, region: region}
	k, ok := kindOf(kind)
	if kind == cloud.CollectiveOf(Name).Type && method == "List" {
		k, ok = everyCollected, true
	}
	if !ok {
		return 0, r, newFailure(cloud.Invalid, r, "UnknownKind", "there is no kind "+kind)
	}
	if !slices.Contains(c.regions, region) {
		return 0, r, newFailure(cloud.Invalid, r, "InvalidRegion", "the account has no region "+region)
	}
	return k, r, nil
}
