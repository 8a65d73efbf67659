package azure

import (
	"context"
	"net/http"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/definition"
)

// disk is the kind that is deleted after a snapshot.
const disk = "azure-disk"

const (
	snapshotsType    = "Microsoft.Compute/snapshots"
	snapshotsVersion = "2024-03-02"
)

// snapshotID returns the id of the snapshot of a token's change, in the resource group of the disk.
func snapshotID(uid, token string) string {
	group, _, _ := strings.Cut(uid, "/providers/")
	return group + "/providers/" + snapshotsType + "/lamplighter-" + token
}

// copyState returns the state of the snapshot of a token's change.
func (k *armChange) copyState(ctx context.Context, uid, token string) (string, error) {
	if k.kind != disk || token == "" {
		return "", nil
	}
	var s struct {
		Properties struct{ ProvisioningState string }
	}
	err := k.client.callARM(ctx,
		call{method: http.MethodGet, path: snapshotID(uid, token), version: snapshotsVersion}, &s)
	switch {
	case err != nil && cloud.ClassOf(err) == cloud.NotFound:
		return "", nil
	case err != nil:
		return "", err
	}
	switch strings.ToLower(s.Properties.ProvisioningState) {
	case "succeeded":
		return cloud.CopyComplete, nil
	case "failed", "canceled":
		return cloud.CopyFailed, nil
	}
	return cloud.CopyPending, nil
}

// copy takes a snapshot of a disk under the name of the change: asked for twice, it is one snapshot.
func (k *armChange) copy(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	if d.Values[cloud.CopyValue] != "" {
		return nil
	}
	doc, err := definition.Decode(d.Native)
	if err != nil {
		return err
	}
	tags := doc.Tags("tags")
	tags[cloud.MarkTag] = c.Token
	body := map[string]any{
		"location": doc.At("location"), "tags": tags, "sku": map[string]any{"name": "Standard_ZRS"},
		"properties": map[string]any{
			"creationData": map[string]any{"createOption": "Copy", "sourceResourceId": c.UID},
			"incremental":  true,
		},
	}
	return k.client.callARM(ctx, call{
		method: http.MethodPut, path: snapshotID(c.UID, c.Token), version: snapshotsVersion, body: body,
	}, nil)
}

// fromSnapshot makes the definition of a disk one that is created from the snapshot of the change.
func (k *armChange) fromSnapshot(ctx context.Context, c cloud.ChangeCall, doc definition.Document) error {
	state, err := k.copyState(ctx, c.UID, c.Token)
	switch {
	case err != nil:
		return err
	case state != cloud.CopyComplete:
		return cloud.ErrUnsupported("there is no complete snapshot of %s from before its deletion", c.UID)
	}
	doc.Put("properties.creationData", map[string]any{
		"createOption": "Copy", "sourceResourceId": snapshotID(c.UID, c.Token),
	})
	return nil
}

// needsIdleDisk refuses to change the type of a disk whose machine runs.
func needsIdleDisk(ctx context.Context, k *armChange, d definition.Document, set cloud.Values) error {
	owner := d.Text("managedBy")
	if _, sets := set["sku"]; !sets || owner == "" {
		return nil
	}
	return k.needsDeallocated(ctx, owner)
}

// needsDeallocated refuses a change while a machine is not deallocated.
func (k *armChange) needsDeallocated(ctx context.Context, vm string) error {
	_, r, err := k.client.getResource(ctx, uidOf(vm), machines.version, machines.query)
	if err != nil {
		return err
	}
	m, err := decodeProperties[machine](r)
	if err != nil {
		return err
	}
	if state := m.powerState(); !strings.EqualFold(state, "deallocated") {
		return cloud.ErrUnsupported("machine %s is %s: it must be deallocated for this change", vm, state)
	}
	return nil
}

// needsStoppedMachine refuses to resize a machine that runs, belongs to a set, or has no disk of its own.
func needsStoppedMachine(ctx context.Context, k *armChange, d definition.Document, _ cloud.Values) error {
	switch {
	case d.At("properties.virtualMachineScaleSet") != nil:
		return cloud.ErrUnsupported("it belongs to a scale set: change the set")
	case d.At("properties.storageProfile.osDisk.diffDiskSettings") != nil:
		return cloud.ErrUnsupported("its disk is a local one: a change of its size would lose its data")
	}
	return k.needsDeallocated(ctx, d.Text("id"))
}
