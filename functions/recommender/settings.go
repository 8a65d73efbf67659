package recommender

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// settingsOf returns the settings of an organization that conditions read as "org". An organization without required
// tags has an empty list of them.
func settingsOf(p identity.Preferences) map[string]any {
	return map[string]any{
		"required_tags": p.RequiredTags, "allowed_regions": p.AllowedRegions, "min_log_days": float64(p.MinLogDays),
	}
}

// readSettings reads the settings that conditions read, or nil if there is no record of the organization.
func readSettings(ctx context.Context, t table.Store, org string) (map[string]any, error) {
	o, err := table.Read[identity.OrganisationRecord](ctx, t, identity.OrganisationKey(org))
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // they are unknown
	}
	if err != nil {
		return nil, fault.Wrap("read the settings of "+org, err)
	}
	return settingsOf(o.Preferences()), nil
}
