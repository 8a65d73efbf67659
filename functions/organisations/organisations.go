// Package organisations creates, lists, changes and ends the organizations of the service. The creator of an
// organization is its first owner.
package organisations

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
)

// Operations returns the group "Organizations".
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Organizations")
	s := service{p}
	rest.Handle(g, rest.Op{
		ID: "createOrganisation", Method: http.MethodPost, Path: "/organisations", Summary: "Create an organization",
		Description: "The caller becomes its owner. To work in it, refresh the session with its id as tenantID. A " +
			"second organization with the same name by the same user is 409. 403: the user has created 10 " +
			"organizations within an hour, or has created 50 that still exist, or belongs to 200.",
		SignedIn: true, Statuses: []int{http.StatusBadRequest, http.StatusForbidden, http.StatusConflict},
	}, s.createOrganisation)
	rest.Handle(g, rest.Op{
		ID: "listOrganisations", Method: http.MethodGet, Path: "/organisations",
		Summary:     "List the organizations that the caller belongs to",
		Description: "All of them, oldest first.",
		SignedIn:    true, Statuses: []int{http.StatusForbidden},
	}, s.listOrganisations)
	s.currentOperations(g)
	return g
}

type service struct{ *platform.Platform }

// NewOrganisation is the body of POST /organisations.
type NewOrganisation struct {
	Name string `json:"name" minLength:"1" maxLength:"100" doc:"The name of the organization" example:"Ada's engines"`
}

type createInput struct{ Body NewOrganisation }

func (s service) createOrganisation(ctx context.Context, in *createInput) (identity.Organisation, error) {
	name, err := displayname.CleanName("name", in.Body.Name, 100)
	if err != nil {
		return identity.Organisation{}, err
	}
	return s.foundOrganisation(ctx, identity.CallerFrom(ctx), name)
}

func (s service) listOrganisations(ctx context.Context, _ *struct{}) ([]identity.Organisation, error) {
	c := identity.CallerFrom(ctx)
	rows, err := identity.ListOrganisations(ctx, s.Table, c.User)
	out := make([]identity.Organisation, 0, len(rows))
	for i := range rows {
		if !c.SSO || rows[i].ID == c.Org {
			out = append(out, rows[i].Organisation)
		}
	}
	return out, err
}

// foundOrganisation creates an organization with the caller as its owner: its record, both rows of the membership,
// and the claim to its name among the user's organizations, in one transaction.
func (s service) foundOrganisation(ctx context.Context, c identity.Caller, name string) (identity.Organisation, error) {
	if c.SSO {
		return identity.Organisation{},
			fault.New(fault.Denied,
				"a session of single sign-on works in its organization only: log in with your own account to make "+
					"another one")
	}
	now := s.Clock.Now()
	o := identity.Organisation{ID: id.New("org", now), Name: name, CreatedBy: c.User, CreatedAt: now, UpdatedAt: now}
	ctx = table.Within(ctx, identity.UserPrefix+c.User, table.OrgPK(o.ID), identity.DirectoryPrefix, ratelimit.Prefix)
	writes, err := foundingWrites(ctx, o, c.Email)
	if err != nil {
		return o, err
	}
	err = membership.LimitedOrganisations(c.User).Add(ctx, s.Table, func(take table.Write) error {
		have, err := s.checkRoom(ctx, c.User)
		if err != nil {
			return err
		}
		limits := []table.Write{
			ratelimit.CountWrite(now, creationsPerUser, c.User), membership.CountOrganisations(c.User, have+1),
		}
		return s.Table.Transact(ctx, slices.Concat(limits, writes, []table.Write{take})...)
	})
	if failed, taken := errors.AsType[*table.ConditionError](err); taken && !table.IsTurnLost(err) {
		return o, errNotFounded(failed, name)
	}
	if err != nil {
		return o, fmt.Errorf("create organization %s: %w", o.ID, err)
	}
	audit.NoteActor(ctx, o.ID, "", "") // the first row of its own record
	return o, nil
}

// foundingWrites returns the writes that create o with its founder as the only member and owner.
func foundingWrites(ctx context.Context, o identity.Organisation, email string) ([]table.Write, error) {
	out, err := membership.NewOrgWrites(ctx, o.ID, identity.User{ID: o.CreatedBy, Email: email}, o.CreatedAt)
	if err != nil {
		return nil, err
	}
	for _, r := range []struct {
		key table.Key
		v   any
	}{
		{nameKey(o.CreatedBy, o.Name), identity.Membership{Org: o.ID, Joined: o.CreatedAt}},
		{madeKey(o.CreatedBy, o.ID), identity.Membership{Org: o.ID, Joined: o.CreatedAt}},
		{identity.OrganisationKey(o.ID), o},
	} {
		it, err := table.NewItem(r.key, r.v)
		if err != nil {
			return nil, err
		}
		out = append(out, table.Put(it, table.Absent()))
	}
	listed, err := identity.AddToDirectory(o.ID)
	return append(out, listed), err
}

// nameKey returns the key of a user's claim to the name of an organization. Upper and lower case are the same name.
func nameKey(user, name string) table.Key {
	return table.Key{PK: identity.UserPrefix + user, SK: "ORGNAME#" + identity.Digest(nil, table.FoldName(name))}
}
