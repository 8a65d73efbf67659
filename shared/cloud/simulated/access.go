package simulated

import (
	"slices"

	"lamplighter.dev/shared/cloud"
)

// unusedAccess is the precondition of changes that end an access: it was not used for accessDays.
const unusedAccess = "unused_access"

// accessDays is for how many days nobody may have used an access that a change ends.
const accessDays = 14

// asOldAccess is the aspect of nodes that says whether programs use an access that a change would end. It is far from
// the aspects in node.go.
const asOldAccess = 1 << 16

// oldAccessRate is the share of nodes whose old access is in use.
const oldAccessRate = 0.2

// endsAccess are the values by which a change ends an access. Its undo opens it again, and is never refused.
var endsAccess = cloud.Values{"imds_tokens": "required"}

// usesOldAccess reports whether the old access of a node was used in the last accessDays. Nobody uses that of planted
// waste, which is there to be changed.
func (s *settings) usesOldAccess(n node) bool {
	return s.planted == nil && s.drawHit(n, asOldAccess, oldAccessRate)
}

// refuseUsedAccess refuses values that end an access which is in use, as the cloud of such a resource does.
func (k *nodeChange) refuseUsedAccess(set cloud.Values) error {
	if !slices.Contains(k.of.Holds, unusedAccess) || !k.c.usesOldAccess(k.node) {
		return nil
	}
	for name, ending := range endsAccess {
		if set[name] == ending {
			return cloud.ErrUnsupported("the access that ends with %s=%s was used in the last %d days: update the "+
				"programs first", name, ending, accessDays)
		}
	}
	return nil
}
