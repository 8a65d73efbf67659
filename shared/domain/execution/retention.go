package execution

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Retention is for how many months an organization keeps its actions, bulk actions and state history, beyond the month
// of their creation. 0 is the default.
type Retention int

// Until returns when a record made at a time expires: together with all records of the same month (UTC). So whole
// months expire at once, together with the totals, which are counted by expiry.
func (r Retention) Until(made time.Time) time.Time {
	months := cmp.Or(int(r), identity.DefaultRetentionMonths)
	made = made.UTC()
	return time.Date(made.Year(), made.Month()+1+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
}

// ReadRetention reads the organization's setting. It takes one round trip.
func ReadRetention(ctx context.Context, s table.Store, org string) (Retention, error) {
	it, err := s.Get(ctx, identity.OrganisationKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return 0, fmt.Errorf("read the settings of %s: %w", org, err)
	}
	return retentionOf(it)
}

// retentionOf returns the retention in the record of an organization. The record may be gone.
func retentionOf(it table.Item) (Retention, error) {
	if it.Data == nil {
		return 0, nil
	}
	o, err := table.Decode[identity.OrganisationRecord](it)
	return Retention(o.Preferences().RetentionMonths), err
}
