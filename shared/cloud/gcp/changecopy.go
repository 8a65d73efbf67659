package gcp

import (
	"context"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/definition"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// disk is the kind that is deleted after a snapshot.
const disk = "gcp-disk"

// snapshotName returns the name of the snapshot of a token's change. Names have no underscores.
func snapshotName(token string) string { return "lamplighter-" + strings.ReplaceAll(token, "_", "-") }

// copyState returns the state of the snapshot of a token's change.
func (k *restChange) copyState(ctx context.Context, token string) (string, error) {
	if k.kind != disk || token == "" {
		return "", nil
	}
	type snapshot struct{ Status string }
	s, err := call[snapshot](ctx, k.place.session, googlerest.NewGet("compute.snapshots.get",
		googlerest.Compute+"projects/{project}/global/snapshots/{snapshot}", k.place.project, snapshotName(token)))
	switch {
	case err != nil && cloud.ClassOf(err) == cloud.NotFound:
		return "", nil
	case err != nil:
		return "", err
	}
	switch s.Status {
	case "READY":
		return cloud.CopyComplete, nil
	case "FAILED":
		return cloud.CopyFailed, nil
	}
	return cloud.CopyPending, nil
}

// copyRequest takes a snapshot of a disk under the name of the change: asked for twice, it is one snapshot.
func (k *restChange) copyRequest(d cloud.Description, c cloud.ChangeCall) (*googlerest.Request, error) {
	if d.Values[cloud.CopyValue] != "" {
		return nil, nil //nolint:nilnil // there is one
	}
	doc, err := definition.Decode(d.Native)
	if err != nil {
		return nil, err
	}
	labels := doc.Tags("labels")
	labels[cloud.MarkTag] = c.Token
	return googlerest.NewPost("compute.disks.createSnapshot", k.address("/createSnapshot")).Body(map[string]any{
		"name": snapshotName(c.Token), "labels": labels, "description": "before the deletion by " + c.Token,
	}), nil
}

// needsStoppedInstance refuses to change the type of an instance that runs, belongs to a group, or has hardware that
// no other type has.
func needsStoppedInstance(d definition.Document) error {
	items, _ := d.At("metadata.items").([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		if m["key"] == "created-by" {
			return cloud.ErrUnsupported("it belongs to a managed instance group: change the group")
		}
	}
	disks, _ := d.At("disks").([]any)
	for _, one := range disks {
		if m, _ := one.(map[string]any); m["type"] == "SCRATCH" {
			return cloud.ErrUnsupported("it has a local SSD, whose data a change of its type would lose")
		}
	}
	switch {
	case len(d.Users([]string{"guestAccelerators"})) > 0:
		return cloud.ErrUnsupported("it has accelerators: their number depends on its type")
	case d.Text("status") != "TERMINATED":
		return cloud.ErrUnsupported("it is %s: it must be stopped for this change", d.Text("status"))
	}
	return nil
}
