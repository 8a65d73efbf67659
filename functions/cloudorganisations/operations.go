package cloudorganisations

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
)

// The failures that operations document.
var (
	writes = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	reads  = []int{http.StatusNotFound}
)

const (
	organisations = "/cloud-organisations"
	organisation  = organisations + "/{cloudOrganisationID}"
)

type service struct {
	p      *platform.Platform
	opener connection.Opener
}

// Operations returns the operations about whole organizations, and those by which projects are connected that a person may use.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Cloud Accounts")
	s := &service{p, connection.Opener{P: p}}
	s.oauthOperations(g)
	s.organisationOperations(g)
	return g
}

func (s *service) organisationOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listCloudOrganisations", Method: http.MethodGet, Path: organisations, Policy: "cloud-accounts:read",
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List connected organizations of clouds", Description: "Oldest first. 20 at most can be connected.",
	}, s.listOrganisations)
	rest.Handle(g, rest.Op{
		ID: "connectCloudOrganisation", Method: http.MethodPost, Path: organisations, Policy: "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Connect a whole organization of a cloud",
		Description: "The credentials are verified before anything is stored. Then every member that include and " +
			"exclude leave becomes a cloud " +
			"account, with an hour for new ones; jobID names the first synchronization. A member that does not let " +
			"us in is listed with the " +
			"cloud's words, and the others connect. GET /cloud-accounts/{provider}/onboarding tells what to set up.",
	}, s.connectOrganisation)
	rest.Handle(g, rest.Op{
		ID: "getCloudOrganisation", Method: http.MethodGet, Path: organisation, Policy: "cloud-accounts:read",
		Statuses: reads,
		Summary:  "Get a connected organization of a cloud",
	}, s.getOrganisation)
	rest.Handle(g, rest.Op{
		ID: "updateCloudOrganisation", Method: http.MethodPut, Path: organisation, Policy: "cloud-accounts:write",
		Statuses: writes,
		Summary:  "Change a connected organization of a cloud",
		Description: "Changes the fields that are present. provider and organisationID never change. New credentials " +
			"are verified before anything " +
			"is stored. Members take all of it up when they are synchronized next: within the hour, or at POST " +
			"…/sync. Those that include " +
			"and exclude leave out from then on turn disconnected, with everything that is known of them, and come " +
			"back when they are " +
			"wanted again. permissionLevel, regions and credentials become those of every member that was connected " +
			"through it.",
	}, s.updateOrganisation)
	rest.Handle(g, rest.Op{
		ID: "listCloudOrganisationMembers", Method: http.MethodGet, Path: organisation + "/members",
		Policy:   "cloud-accounts:read",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "List the members of an organization, and what became of each",
		Description: "By native id. connected: it is the cloud account accountID; refused: it does not let us in, " +
			"error is the cloud's word; " +
			"duplicate: it is the cloud account accountID, which was connected otherwise and stays as it is, error " +
			"says how; " +
			"excluded; closed; left: it belongs to the organization no more; removed: its cloud account was deleted " +
			"here, and stays so. " +
			"The account of a member that is closed, excluded or left stays connected while disconnectsFrom is " +
			"not null.",
	}, s.listMembers)
	rest.Handle(g, rest.Op{
		ID: "deleteCloudOrganisation", Method: http.MethodDelete, Path: organisation, Policy: "cloud-accounts:write",
		Statuses: writes[1:],
		Summary:  "Disconnect an organization of a cloud",
		Description: "Its credentials are gone at once, and no member is connected any more by itself. Members that " +
			"are cloud accounts stay, each " +
			"as an account of its own with what opens it: DELETE each that is not wanted. keptAccounts says how many " +
			"there are.",
	}, s.removeOrganisation)
	rest.Handle(g, rest.Op{
		ID: "syncCloudOrganisation", Method: http.MethodPost, Path: organisation + "/sync",
		Policy: "cloud-accounts:write",
		Status: http.StatusAccepted, Statuses: writes, Summary: "Synchronize the members now",
		Description: "While a synchronization is under way, that one is the answer. Poll statusURL until its jobID " +
			"is null. " +
			"Accounts are disconnected only when listings at least a day apart agree, and never more than 10 % of " +
			"the connected ones in a day " +
			"unless a person confirms it: confirmationID of the body does. It is 409 when other members wait by now.",
	}, s.syncOrganisation)
}

func (s *service) oauthOperations(g *rest.Group) {
	bad := []int{http.StatusBadRequest}
	rest.Handle(g, rest.Op{
		ID: "beginGoogleConnection", Method: http.MethodGet, Path: connectPath + "/oauth-url",
		Policy: "cloud-accounts:write", Statuses: bad,
		Summary: "Begin to connect a project of Google Cloud by OAuth",
		Description: "Where to send the browser of a person who may use the project. Google sends it back to " +
			"/connect/gcp/oauth-callback with " +
			"code and state, for POST /connect/gcp/oauth-exchange. 400 where the operator has registered no client, " +
			"and says what to set.",
	}, s.beginOAuth)
	rest.Handle(g, rest.Op{
		ID: "exchangeGoogleCode", Method: http.MethodPost, Path: connectPath + "/oauth-exchange",
		Policy: "cloud-accounts:write", Statuses: bad,
		Summary: "Exchange the code that Google sent the browser back with",
		Description: "Only in the session that asked for the address, once, within 10 minutes. The refresh token is " +
			"stored encrypted for 30 " +
			"minutes, and never returned.",
	}, s.exchangeOAuth)
	rest.Handle(g, rest.Op{
		ID: "finalizeGoogleConnection", Method: http.MethodPost, Path: connectPath + "/oauth-finalize",
		Policy:   "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Connect a project with what was granted",
		Description: "As POST /cloud-accounts with authMethod oauth: the project is opened before anything is " +
			"stored, and discovered at once. " +
			"A project that cannot be opened leaves the connection, so that another can be named. One that began " +
			"with an accountID " +
			"replaces the credentials of that account.",
	}, s.finalizeOAuth)
	rest.Handle(g, rest.Op{
		ID: "returnFromGoogle", Method: http.MethodGet, Path: callbackPath, Public: true,
		Summary: "Where Google sends the browser back to",
		Description: "Says what to do with code and state, which are in the address, for those who have no page of " +
			"their own. It knows nobody and keeps nothing.",
	}, s.returnOAuth)
}
