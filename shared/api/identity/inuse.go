package identity

import (
	"context"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// InUse is fault.InUse for the caller of ctx: it lists a use without its name if the caller does not hold the use's
// policy on the whole organization.
func InUse(ctx context.Context, record string, uses []fault.Use, wayOut string) error {
	c, visible := CallerFrom(ctx), slices.Clone(uses)
	for i := range visible {
		if p := visible[i].Policy; p != "" && !c.Scopes(p).All {
			visible[i].Name = ""
		}
	}
	return fault.InUse(record, visible, wayOut)
}
