package organisationsync

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
)

// tellOwners returns the writes that mail the owners about disconnections that wait for a confirmation, at most once
// in connection.EndingWait, and records that in o. They belong in the transaction that finishes the
// synchronization.
func (r *round) tellOwners(ctx context.Context, o *connection.Organisation) ([]table.Write, error) {
	now := r.p.Clock.Now()
	if o.ConfirmationID == "" {
		o.OwnersToldAt = time.Time{}
		return nil, nil
	}
	if now.Sub(o.OwnersToldAt) < connection.EndingWait {
		return nil, nil
	}
	owners, err := identity.OwnerAddresses(ctx, r.p.Table, r.in.Org)
	if err != nil {
		return nil, err
	}
	o.OwnersToldAt = now
	out := make([]table.Write, len(owners))
	for i, to := range owners {
		out[i], err = mail.QueueOnce(ctx, r.p.Sealer, o.Sync.StartedAt, o.ConfirmationID+" "+to, mail.Mail{
			Template: mail.DisconnectionsWaiting, To: to, Org: r.in.Org, Data: map[string]string{
				"name": o.Name, "id": o.ID, "waiting": strconv.Itoa(o.Pending.Awaiting),
				"connected": strconv.Itoa(r.countConnected()),
			},
		})
		if err != nil {
			return nil, fmt.Errorf("tell owners of %s: %w", o.ID, err)
		}
	}
	return out, nil
}
