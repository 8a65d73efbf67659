package membership

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// MaxReleases is how many organizations a user can own at most when the account is deleted: all of them are changed in
// the transaction that ends the account, with two writes each.
const MaxReleases = 40

// ReleaseOwnerships returns the writes that make the user no owner of any organization, for the transaction that ends
// the account. Their conditions fail if a member or its organization has changed since. It returns fault.Conflict,
// which names the organizations, if the user is the last owner of one. The transaction must be allowed to write to all
// organizations of the user (see OrgsOf). Three round trips.
func (s People) ReleaseOwnerships(ctx context.Context, user string) (writes []table.Write, orgs []string, err error) {
	all, err := identity.ListOrganisations(ctx, s.Table, user)
	if err != nil {
		return nil, nil, err
	}
	var last []string
	for i := range all {
		r, err := s.readOwnership(ctx, all[i].ID, user)
		switch {
		case err != nil:
			return nil, nil, err
		case !r.owns:
			continue
		case r.only:
			last = append(last, fmt.Sprintf("%q (%s)", all[i].Name, all[i].ID))
		}
		writes, orgs = append(writes, r.release...), append(orgs, table.OrgPK(all[i].ID))
	}
	if len(last) > 0 {
		return nil, nil, errLastOwnerOf(last)
	}
	if len(orgs) > MaxReleases {
		return nil, nil, fault.New(fault.Conflict, "you own %d organizations together with others; give up the "+
			"ownership of all but %d first", len(orgs), MaxReleases)
	}
	return writes, orgs, nil
}

// maxNamed is how many organizations an error names.
const maxNamed = 5

func errLastOwnerOf(orgs []string) error {
	more := ""
	if n := len(orgs) - maxNamed; n > 0 {
		orgs, more = orgs[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return fault.New(fault.Conflict, "you are the last owner of organization %s%s: make another member an owner, or "+
		"delete the organization, first", strings.Join(orgs, ", "), more)
}

// ownership is a user's part in an organization.
type ownership struct {
	owns, only bool
	release    []table.Write
}

func (s People) readOwnership(ctx context.Context, org, user string) (ownership, error) {
	member, access := identity.MemberKey(org, user), identity.AccessKey(org)
	items, err := s.Table.BatchGet(table.Within(ctx, member.PK, access.PK), member, access)
	if err != nil {
		return ownership{}, fmt.Errorf("read member %s of %s: %w", user, org, err)
	}
	a, err := decodeAccess(items[access])
	if err != nil || a.Ended || items[member].Data == nil {
		return ownership{}, err
	}
	m, err := table.Decode[identity.Member](items[member])
	if err != nil || ownerCount(m) == 0 {
		return ownership{}, err
	}
	t := step{owners: -1}
	return ownership{owns: true, only: a.Owners <= 1, release: []table.Write{
		table.Update(member, []table.Change{table.Set("leaving", true), table.Set("version", m.Version+1)},
			ifUnchanged(m)...),
		t.countWrite(org),
	}}, nil
}

// removeTries limits how often the removal of a member starts again because the member has changed meanwhile.
const removeTries = 5

// RemoveDeleted removes a user whose account has ended from org. The function commit makes the removal in one
// transaction with its record in the audit log. It does nothing if the user is no member, or if the organization has
// ended, because then its own erasure removes the member.
func (s People) RemoveDeleted(ctx context.Context, org, user string,
	commit func(context.Context, ...table.Write) error,
) error {
	var err error
	for range removeTries {
		k := identity.MemberKey(org, user)
		m, missing := table.Read[identity.Member](table.Within(ctx, k.PK), s.Table, k)
		if missing != nil {
			return s.dropMembership(ctx, org, user, missing)
		}
		if err = s.removeMember(ctx, org, m, commit); !errors.Is(err, errChanged) {
			break
		}
	}
	if errors.Is(err, errEnded) {
		return s.dropMembership(ctx, org, user, err)
	}
	return err
}

// dropMembership removes org from the user's list, if err says that the user is no member of it.
func (s People) dropMembership(ctx context.Context, org, user string, err error) error {
	if !fault.Is(err, fault.NotFound) {
		return fmt.Errorf("read member %s of %s: %w", user, org, err)
	}
	k := identity.MembershipKey(user, org)
	_, err = s.Table.Write(table.Within(ctx, k.PK), table.Delete(k))
	return fault.Wrap("remove "+org+" from the list of "+user, err)
}

// DropInvitationsOf deletes the invitations of an address that were made before a time.
func (s People) DropInvitationsOf(ctx context.Context, address string, before time.Time) error {
	k := InvitedKey(s.Settings.Pepper, "", address)
	ctx = table.Within(ctx, k.PK)
	for q := (table.Query{PK: k.PK, Limit: identity.MaxOrganisations}); ; {
		some, next, err := table.ReadPage[pointer](ctx, s.Table, q)
		if err != nil {
			return fmt.Errorf("read the invitations of an address: %w", err)
		}
		for _, p := range some {
			if id.TimeOf(p.ID).After(before) {
				continue
			}
			o := offer{org: p.Org, Invitation: Invitation{ID: p.ID, Email: address}}
			if err = s.dropOffer(ctx, o); err != nil {
				return err
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}
