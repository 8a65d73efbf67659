package simulated

import (
	"context"

	"lamplighter.dev/shared/cloud"
)

// copySuffix ends the native id of the snapshot that a deletion takes of a node. No listing has these snapshots: they
// are in the history of the node.
const copySuffix = "-copy"

// copyKinds are the kinds of nodes by the kinds of the snapshots that their deletions take.
var copyKinds = map[string]string{
	"aws-ebs-snapshot": "aws-ebs", "azure-snapshot": "azure-disk", "gcp-snapshot": "gcp-disk",
}

// copyChange deletes the snapshot of a node, which may be deleted itself.
type copyChange struct{ nodeChange }

// changingCopy opens the change of the snapshot of a node.
func (c *conn) changingCopy(want cloud.Change, original string, of cloud.KindChange) (cloud.Changing, error) {
	k, r, err := c.findKind(copyKinds[want.Kind], want.Region, "ApplyChange")
	if err != nil {
		return cloud.Changing{}, err
	}
	n, there := c.findNode(k, want.Region, original)
	if !there {
		return cloud.Changing{}, newFailure(cloud.NotFound, r, "NotFound", "there is no "+want.UID)
	}
	r.op, r.capability = of.Call, cloud.RemediateCapability
	return cloud.Changing{Changeable: &copyChange{nodeChange{c, of, n, r}}, Of: of}, nil
}

// Describe reads the snapshot. It carries the mark of the change that took it.
func (k *copyChange) Describe(ctx context.Context, uid, _ string) (cloud.Description, error) {
	d := cloud.Description{Values: cloud.Values{}}
	err := k.c.world.readHistory(ctx, func(h history) {
		set := h.changed(k.node)
		d.Values[cloud.MarkValue] = set[cloud.MarkValue]
		if set[cloud.CopyValue] == "" {
			d.Values[cloud.ExistsValue] = "false"
		}
	})
	if err == nil && !d.Exists() {
		err = newFailure(cloud.NotFound, k.request, "NotFound", uid+" is deleted")
	}
	d.Values[cloud.ExistsValue] = "true"
	return d, err
}

// Set marks the snapshot or deletes it.
func (k *copyChange) Set(ctx context.Context, d cloud.Description, call cloud.ChangeCall) error {
	_, marks := call.Set[cloud.MarkValue]
	switch {
	case marks:
	case call.Set[cloud.ExistsValue] == "false":
		call.Set = cloud.Values{cloud.CopyValue: ""}
	default:
		return newFailure(cloud.Unsupported, k.request, "UnsupportedOperation", "a snapshot is only deleted")
	}
	return k.nodeChange.Set(ctx, d, call)
}
