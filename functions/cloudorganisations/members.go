package cloudorganisations

import (
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
)

type membersInput struct {
	rest.Page
	OrganisationID string `path:"cloudOrganisationID" maxLength:"64"`
	Status         string `query:"status" enum:"connected,duplicate,refused,excluded,closed,left,removed" doc:"Only this status"`
	Search         string `query:"search" maxLength:"128" doc:"Only members whose name, unit or native id contains it"`
}

// CloudOrganisationMember is a member of an organization and its status.
type CloudOrganisationMember struct {
	NativeID  string  `json:"nativeID"`
	Name      string  `json:"name"`
	Unit      string  `json:"unit" doc:"Its way from the root" example:"Root/Prod"`
	Status    string  `json:"status" enum:"connected,duplicate,refused,excluded,closed,left,removed"`
	AccountID *string `json:"accountID" doc:"The cloud account that it is, else null"`
	Error     *string `json:"error" doc:"Why it is not connected, else null"`
	// DisconnectsFrom and AwaitsConfirmation belong to a member whose account is still connected.
	DisconnectsFrom    *time.Time `json:"disconnectsFrom" doc:"Null unless accountID is still connected and will be disconnected: by the first listing at or after this time that still shows the member closed, excluded or left"`
	AwaitsConfirmation bool       `json:"awaitsConfirmation" doc:"The account stays connected until a person confirms its disconnection, by pendingDisconnections.confirmationID of the organization"`
}

func newMember(m connection.Member) CloudOrganisationMember {
	out := CloudOrganisationMember{
		NativeID: m.NativeID, Name: m.Name, Unit: m.Unit, Status: string(m.Shown()),
		AccountID: rest.Optional(m.AccountID),
		Error:     rest.Optional(m.Error), AwaitsConfirmation: m.Awaits != "",
	}
	if m.IsEnding() {
		from := m.DisconnectsFrom()
		out.DisconnectsFrom = &from
	}
	return out
}

func (s *service) listMembers(ctx context.Context, in *membersInput) (rest.List[CloudOrganisationMember], error) {
	o, err := s.readOrganisation(ctx, in.OrganisationID)
	if err != nil {
		return rest.List[CloudOrganisationMember]{}, err
	}
	all, err := connection.ListMembers(ctx, s.p.Table, identity.CallerOrg(ctx), o.ID)
	search := strings.ToLower(in.Search)
	all = slices.DeleteFunc(all, func(m connection.Member) bool {
		return in.Status != "" && in.Status != string(m.Shown()) ||
			!strings.Contains(strings.ToLower(m.Name+" "+m.Unit+" "+m.NativeID), search)
	})
	return rest.MapItems(rest.PageOf(all, in.Page), newMember), err
}
