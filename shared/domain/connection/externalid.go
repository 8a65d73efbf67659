package connection

import (
	"context"
	"crypto/rand"
	"fmt"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// trust is the external ID that a customer's role requires when it is assumed. We choose it: if customers chose it, one
// could use another customer's.
type trust struct {
	ExternalID string `json:"externalID"`
}

// ExternalID returns the organization's external ID. The first call creates it; it never changes.
func (o Opener) ExternalID(ctx context.Context, org string) (string, error) {
	k := table.Key{PK: table.OrgPK(org) + "META", SK: "EXTERNALID"}
	t, err := table.Read[trust](ctx, o.P.Table, k)
	if !fault.Is(err, fault.NotFound) {
		return t.ExternalID, fault.Wrap("read external id of "+org, err)
	}
	t = trust{"lamplighter-" + rand.Text()}
	it, err := table.NewItem(k, t)
	if err != nil {
		return "", err
	}
	switch _, err = o.P.Table.Write(ctx, table.Put(it, table.Absent())); {
	case err == nil:
		return t.ExternalID, nil
	case !fault.Is(err, fault.Conflict):
		return "", fmt.Errorf("make external id of %s: %w", org, err)
	}
	t, err = table.Read[trust](ctx, o.P.Table, k) // another caller was faster
	return t.ExternalID, fault.Wrap("read external id of "+org, err)
}
