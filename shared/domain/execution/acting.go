package execution

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Acting is the policy that a user needs on a resource to start, stop or scale it, either directly or by a schedule,
// an event plan or an autoscaler policy.
const Acting = "actions:execute"

// CheckActor returns fault.Denied for a caller who holds Acting nowhere. It does not read the store, and runs before
// other checks.
func CheckActor(ctx context.Context) error {
	if identity.CallerFrom(ctx).Scopes(Acting).None() {
		return fault.New(fault.Denied, "permission denied: %s is needed on what is to be started, stopped or scaled",
			Acting)
	}
	return nil
}

// CheckMayAct checks that the caller may act on each of the resources, named by their native IDs. It returns
// fault.Denied with the first refused resources that the caller may see; its message names actor, the record that would
// act on them, such as "schedule sch_…". It takes no round trip for a caller who may act everywhere, else those of
// inventory.ResourceSets.
func CheckMayAct(ctx context.Context, s *inventory.Store, actor string, uids ...string) error {
	c := identity.CallerFrom(ctx)
	may := c.Scopes(Acting)
	if may.All || len(uids) == 0 {
		return nil
	}
	sets, err := s.ResourceSets(ctx, c.Org, may, c.Scopes("resources:read"))
	if err != nil {
		return err
	}
	var named []string
	denied := 0
	for _, uid := range uids {
		if sets[0].HasUID(uid) {
			continue
		}
		if denied++; sets[1].HasUID(uid) && len(named) < mostNamed {
			named = append(named, fmt.Sprintf("%.256q", uid))
		}
	}
	if denied == 0 {
		return nil
	}
	return fault.New(fault.Denied,
		"permission denied: %s is needed on every resource that %s acts on, and %d of these lie outside your grants%s",
		Acting, actor, denied, namedText(named))
}

// mostNamed is how many resources a refusal names.
const mostNamed = 5

func namedText(named []string) string {
	if len(named) == 0 {
		return ""
	}
	return ": " + strings.Join(named, ", ")
}

// UIDs returns the native IDs of members.
func UIDs(members []inventory.Member) []string {
	out := make([]string, len(members))
	for i := range members {
		out[i] = members[i].UID
	}
	return out
}
