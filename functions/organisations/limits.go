package organisations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// creationsPerUser limits how many organizations a user creates within an hour.
var creationsPerUser = ratelimit.Rule{Name: "organisations", Max: 10, Per: time.Hour}

// maxCreated is how many organizations that a user has created can exist at the same time.
const maxCreated = 50

const madePrefix = "MADE#"

// madeKey returns the key of an organization in the list of those that a user has created. It stays there until the
// organization is deleted, even if its creator leaves it.
func madeKey(user, org string) table.Key {
	return table.Key{PK: identity.UserPrefix + user, SK: madePrefix + org}
}

// checkRoom returns how many organizations the user belongs to. It refuses one more organization to a user who has the
// maximum, or who has created maxCreated. Three round trips.
func (s service) checkRoom(ctx context.Context, user string) (int, error) {
	have, err := identity.ListOrganisations(ctx, s.Table, user)
	if err != nil {
		return 0, err
	}
	if len(have) >= identity.MaxOrganisations {
		return 0, fault.New(fault.Denied, "you belong to %d organizations, the most that a user can: leave one first",
			len(have))
	}
	created, err := s.countCreated(ctx, user, have)
	if err == nil && created >= maxCreated {
		err = fault.New(fault.Denied, "you have created %d organizations, the most that a user can: delete one that "+
			"is not needed any more", created)
	}
	return len(have), err
}

// countCreated returns how many existing organizations the user has created. Those of earlier versions are not listed
// and count if the user belongs to them.
func (s service) countCreated(ctx context.Context, user string, have []identity.OrganisationRecord) (int, error) {
	k := madeKey(user, "")
	page, err := s.Table.Query(ctx, table.Query{PK: k.PK, Prefix: k.SK, Limit: maxCreated})
	if err != nil {
		return 0, fmt.Errorf("list the organizations that %s has created: %w", user, err)
	}
	created := map[string]bool{}
	for _, it := range page.Items {
		created[strings.TrimPrefix(it.SK, madePrefix)] = true
	}
	for i := range have {
		if have[i].CreatedBy == user {
			created[have[i].ID] = true
		}
	}
	return len(created), nil
}

// errNotFounded returns the error for clients if a condition of the founding transaction failed. Its first write counts
// the creation, its second writes to the user.
func errNotFounded(failed *table.ConditionError, name string) error {
	if _, full := failed.Old(0); full {
		return fault.New(fault.Denied, "you have created %d organizations within an hour, the most that a user can: "+
			"wait an hour and try again", creationsPerUser.Max)
	}
	if _, ended := failed.Old(1); ended {
		return fault.New(fault.Unauthenticated, "the account does not exist any more")
	}
	return fault.New(fault.Conflict, "name: you have an organization %q already", name)
}
