package cloudaccounts

import (
	"net/http"

	"lamplighter.dev/shared/api/rest"
)

const (
	organisations = "/cloud-organisations"
	organisation  = organisations + "/{cloudOrganisationID}"
)

func (s *service) organisationOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listCloudOrganisations", Method: http.MethodGet, Path: organisations, Policy: "cloud-accounts:read", Statuses: []int{http.StatusBadRequest},
		Summary: "List connected organizations of clouds", Description: "Oldest first. 20 at most can be connected.",
	}, s.listOrganisations)
	rest.Handle(g, rest.Op{
		ID: "connectCloudOrganisation", Method: http.MethodPost, Path: organisations, Policy: "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Connect a whole organization of a cloud",
		Description: "The credentials are verified before anything is stored. Then every member that include and exclude leave becomes a cloud " +
			"account, with an hour for new ones; jobID names the first synchronization. A member that does not let us in is listed with the " +
			"cloud's words, and the others connect. GET /cloud-accounts/{provider}/onboarding tells what to set up.",
	}, s.connectOrganisation)
	rest.Handle(g, rest.Op{
		ID: "getCloudOrganisation", Method: http.MethodGet, Path: organisation, Policy: "cloud-accounts:read", Statuses: reads,
		Summary: "Get a connected organization of a cloud",
	}, s.getOrganisation)
	rest.Handle(g, rest.Op{
		ID: "listCloudOrganisationMembers", Method: http.MethodGet, Path: organisation + "/members", Policy: "cloud-accounts:read",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the members of an organization, and what became of each",
		Description: "By native id. connected: it is the cloud account accountID; refused: it does not let us in, error is the cloud's word; " +
			"excluded; closed; left: it belongs to the organization no more; removed: its cloud account was deleted here, and stays so.",
	}, s.listMembers)
	rest.Handle(g, rest.Op{
		ID: "deleteCloudOrganisation", Method: http.MethodDelete, Path: organisation, Policy: "cloud-accounts:write", Statuses: writes[1:],
		Summary: "Disconnect an organization of a cloud",
		Description: "Its credentials are gone at once, and no member is connected any more by itself. Members that are cloud accounts stay, each " +
			"as an account of its own with what opens it: DELETE each that is not wanted. keptAccounts says how many there are.",
	}, s.removeOrganisation)
	rest.Handle(g, rest.Op{
		ID: "syncCloudOrganisation", Method: http.MethodPost, Path: organisation + "/sync", Policy: "cloud-accounts:write",
		Status: http.StatusAccepted, Statuses: writes[1:], Summary: "Synchronize the members now",
		Description: "While a synchronization is under way, that one is the answer. Poll statusURL until its jobID is null.",
	}, s.syncOrganisation)
}
