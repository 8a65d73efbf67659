package executor

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

var noTime time.Time

// isWithheld reports whether err means that the credentials lack a permission or are not accepted at all.
func isWithheld(err error) bool {
	class := cloud.ClassOf(err)
	return class == cloud.Denied || class == cloud.Refused
}

// degradeAccount marks the account as degraded and stores the cloud's error text on it. A failed write is only
// logged, so that the action is still recorded.
func (r *run) degradeAccount(ctx context.Context, cause error) {
	_, err := r.e.p.Table.Write(ctx, table.Update(inventory.AccountKey(r.in.Org, r.account.ID), []table.Change{
		table.Set("status", "degraded"), table.Set("error", cause.Error()), table.Set("updatedAt", r.now),
	}, table.Exists()))
	if err != nil {
		r.e.p.Log.WarnContext(ctx, "account not marked degraded", "account", r.account.ID, "error", err)
	}
}
