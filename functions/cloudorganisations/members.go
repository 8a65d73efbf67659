package cloudorganisations

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cloudorganisation"
)

type membersInput struct {
	rest.Page
	OrganisationID string `path:"cloudOrganisationID" maxLength:"64"`
	Status         string `query:"status" enum:"connected,duplicate,refused,excluded,closed,left,removed" doc:"Only members of this status"`
	Search         string `query:"search" maxLength:"128" doc:"Only members whose name, unit or native id contains it"`
}

// CloudOrganisationMember is a member of an organization, and what became of it.
type CloudOrganisationMember struct {
	NativeID  string  `json:"nativeID"`
	Name      string  `json:"name"`
	Unit      string  `json:"unit" doc:"Its way from the root" example:"Root/Prod"`
	Status    string  `json:"status" enum:"connected,duplicate,refused,excluded,closed,left,removed"`
	AccountID *string `json:"accountID" doc:"The cloud account that it is, else null"`
	Error     *string `json:"error" doc:"Why it is not connected, else null"`
}

func (s *service) listMembers(ctx context.Context, in *membersInput) (rest.List[CloudOrganisationMember], error) {
	o, err := s.readOrganisation(ctx, in.OrganisationID)
	if err != nil {
		return rest.List[CloudOrganisationMember]{}, err
	}
	all, err := cloudorganisation.ListMembers(ctx, s.p.Table, identity.CallerFrom(ctx).Org, o.ID)
	search := strings.ToLower(in.Search)
	all = slices.DeleteFunc(all, func(m cloudorganisation.Member) bool {
		return in.Status != "" && in.Status != string(m.Status) || !strings.Contains(strings.ToLower(m.Name+" "+m.Unit+" "+m.NativeID), search)
	})
	return rest.MapItems(rest.PageOf(all, in.Page), func(m cloudorganisation.Member) CloudOrganisationMember {
		return CloudOrganisationMember{m.NativeID, m.Name, m.Unit, string(m.Status), rest.Optional(m.AccountID), rest.Optional(m.Error)}
	}), err
}
