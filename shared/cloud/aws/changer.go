package aws

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/databases"
	"lamplighter.dev/shared/cloud/aws/network"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/settings"
	"lamplighter.dev/shared/cloud/aws/storage"
)

var _ cloud.Changer = (*conn)(nil)

// changers are the kinds whose changes are code: those of shared/cloud/aws/settings are tables. A new kind is a file, a
// line here, and a line in the catalogue.
var changers = []resource.Changer{
	storage.VolumeChanges, storage.SnapshotChanges, network.AddressChanges, databases.DatabaseChanges,
}

// changing opens the kind of a change, for one resource of this account and region.
func (c *conn) changing(ctx context.Context, want cloud.Change) (cloud.Changing, error) {
	of, known := cloud.ChangeOf(want.Kind, want.Verb)
	if !known {
		return cloud.Changing{}, cloud.ErrUnsupported("no %s of %s is made", want.Verb, want.Kind)
	}
	if c.elsewhere(want.UID, want.Region) {
		return cloud.Changing{}, cloud.ErrNotFound("%s is not in region %s of this account", want.UID, want.Region)
	}
	at, err := c.placeOf(ctx, want.Region)
	if err != nil {
		return cloud.Changing{}, err
	}
	if k, inTable := settings.Open(at, of, want.UID); inTable {
		return cloud.Changing{Changeable: k, Of: of}, nil
	}
	i := slices.IndexFunc(changers, func(k resource.Changer) bool { return k.Type == want.Kind })
	if i < 0 {
		return cloud.Changing{}, cloud.ErrUnsupported("no %s of %.300q is made", want.Verb, want.UID)
	}
	return cloud.Changing{Changeable: changers[i].Open(at), Of: of}, nil
}
