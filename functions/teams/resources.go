package teams

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/teams"
)

// TeamResource is a resource of a team.
type TeamResource struct {
	ID       string       `json:"id" example:"res_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	UID      string       `json:"uid" doc:"Native provider identifier"`
	Name     string       `json:"name"`
	Type     string       `json:"type" example:"aws-ec2"`
	Provider string       `json:"provider" example:"aws"`
	Region   string       `json:"region"`
	Status   cloud.Status `json:"status" enum:"running,stopped,starting,stopping,pending,terminated,unknown"`
}

// listResources lists all resources of the team: a grant on the team includes them.
func (s *service) listResources(ctx context.Context, in *pageInput) (rest.List[TeamResource], error) {
	t, err := s.visibleTeam(ctx, in.TeamID)
	if err != nil {
		return rest.List[TeamResource]{}, err
	}
	f := inventory.Filter{TeamID: t.ID, Sight: inventory.SeeEverything()}
	sum, err := s.inventory.SummarizeResources(ctx, identity.CallerOrg(ctx), f)
	if err != nil {
		return rest.List[TeamResource]{}, err
	}
	got, err := s.inventory.FindResources(ctx, identity.CallerOrg(ctx),
		inventory.List{Filter: f, Skip: in.Skip(), Limit: in.Limit})
	out := rest.List[inventory.Listed]{Items: got, Total: sum.Total, Page: in.Page.Page, Limit: in.Limit}
	return rest.MapItems(out, showResource), err
}

func showResource(r inventory.Listed) TeamResource {
	return TeamResource{r.ID, r.UID, r.Name, r.Type, r.Provider, r.Region, r.Status}
}

// NewTeamResources is the body of POST /teams/{teamID}/resources: one resource, or many.
type NewTeamResources struct {
	ResourceID  string   `json:"resourceID,omitempty" maxLength:"64" doc:"Our id of a resource (res_…); or else resourceIDs"`
	ResourceIDs []string `json:"resourceIDs,omitempty" maxItems:"10000" doc:"Our ids of resources"`
}

// allIDs returns all resource IDs of the body.
func (b NewTeamResources) allIDs() []string {
	if b.ResourceID == "" {
		return b.ResourceIDs
	}
	return append([]string{b.ResourceID}, b.ResourceIDs...)
}

type addResourcesInput struct {
	TeamInput
	Body NewTeamResources
}

func (s *service) addResources(ctx context.Context, in *addResourcesInput) (TeamListed, error) {
	ids := in.Body.allIDs()
	if len(ids) == 0 {
		return TeamListed{},
			fault.New(fault.Invalid, "resourceID: name a resource by its id, or several with resourceIDs")
	}
	return s.changeTeam(ctx, in.TeamID, func(t teams.Team) (*draft, error) {
		unknown, accounts, err := s.inventory.Locate(ctx, identity.CallerOrg(ctx), ids)
		if err != nil {
			return nil, err
		}
		if len(unknown) > 0 {
			return nil, fault.New(fault.NotFound, "no resource has the id %s", quoteIDs(unknown))
		}
		owned, err := s.inventory.ListOwned(ctx, identity.CallerOrg(ctx), t.ID)
		if err != nil {
			return nil, err
		}
		more := missingFrom(owned, ids)
		switch n := len(owned) + len(more); {
		case len(more) == 0:
			return nil, nil
		case n > inventory.MaxOwned:
			return nil, fault.New(
				fault.Conflict, "the team would own %d resources; %d are the most", n, inventory.MaxOwned)
		}
		if err = s.mayGive(ctx, t.ID); err != nil {
			return nil, err
		}
		audit.NoteChange(ctx, audit.Change{Target: t.ID, After: NewTeamResources{ResourceIDs: more}})
		held, err := inventory.HoldAccounts(identity.CallerOrg(ctx), accounts)
		return &draft{Team: t, owned: append(owned, more...), held: held}, err
	})
}

// missingFrom returns the ids that are not in had, each once.
func missingFrom(had, ids []string) []string {
	known := make(map[string]bool, len(had))
	for _, id := range had {
		known[id] = true
	}
	var out []string
	for _, id := range ids {
		if !known[id] {
			known[id], out = true, append(out, id)
		}
	}
	return out
}

type resourceInput struct {
	TeamInput
	ResourceID string `path:"resourceID" maxLength:"64" doc:"Our id of the resource"`
}

func (s *service) removeResource(ctx context.Context, in *resourceInput) (rest.Deleted, error) {
	_, err := s.changeTeam(ctx, in.TeamID, func(t teams.Team) (*draft, error) {
		owned, err := s.inventory.ListOwned(ctx, identity.CallerOrg(ctx), t.ID)
		if err != nil {
			return nil, err
		}
		i := slices.Index(owned, in.ResourceID)
		if i < 0 {
			return nil, fault.New(fault.NotFound, "resource %.64q does not belong to the team", in.ResourceID)
		}
		audit.NoteChange(ctx, audit.Change{Target: t.ID, Before: NewTeamResources{ResourceID: in.ResourceID}})
		return &draft{Team: t, owned: slices.Delete(owned, i, i+1)}, nil
	})
	return rest.Deleted{ID: in.ResourceID}, err
}

// mayGive reports whether the caller may give resources to a team. The roles on the team then apply to more
// resources, so it takes the permission to grant these roles.
func (s *service) mayGive(ctx context.Context, teamID string) error {
	roles := map[string]bool{}
	if err := s.eachAssignment(ctx, teamID, func(a membership.Assignment) {
		roles[a.Role] = true
	}); err != nil || len(roles) == 0 {
		return err
	}
	access, err := table.Read[identity.Access](ctx, s.p.Table, identity.AccessKey(identity.CallerOrg(ctx)))
	if err != nil {
		return fmt.Errorf("read the roles of %s: %w", identity.CallerOrg(ctx), err)
	}
	for role := range roles {
		held, _ := membership.PoliciesOfRole(access, role)
		if err := membership.MayGrant(identity.CallerFrom(ctx), held, grant.OrgScope); err != nil {
			return fault.NewWithCause(fault.Denied, err,
				"permission denied: a role on team %s holds more than you do, so you cannot give it resources", teamID)
		}
	}
	return nil
}
