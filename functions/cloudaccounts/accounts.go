// Package cloudaccounts is the operation group Cloud Accounts: it connects cloud accounts, shows the permissions of
// their credentials and the onboarding steps, and starts discoveries.
package cloudaccounts

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

type service struct {
	p      *platform.Platform
	opener connection.Opener
}

func newService(p *platform.Platform) *service { return &service{p, connection.Opener{P: p}} }

// readAccount reads an account of the organization.
func (s *service) readAccount(ctx context.Context, org, accountID string) (inventory.Account, error) {
	if !id.IsValid("ca", accountID) {
		return inventory.Account{}, connection.ErrUnknown(accountID)
	}
	a, err := table.Read[inventory.Account](ctx, s.p.Table, inventory.AccountKey(org, accountID))
	if fault.Is(err, fault.NotFound) {
		return inventory.Account{}, connection.ErrUnknown(accountID)
	}
	if err != nil {
		return inventory.Account{}, fmt.Errorf("read account %s: %w", accountID, err)
	}
	return a, nil
}
