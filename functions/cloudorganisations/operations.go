package cloudorganisations

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
)

// These are the documented error statuses of the operations.
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

// Operations returns the operations for entire organizations, and those for connecting projects by OAuth.
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
		Summary:  "List connected cloud organizations", Description: "Oldest first. At most 20 can be connected.",
	}, s.listOrganisations)
	rest.Handle(g, rest.Op{
		ID: "connectCloudOrganisation", Method: http.MethodPost, Path: organisations, Policy: "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Connect an entire cloud organization",
		Description: "The credentials are verified before anything is stored. Then every member that include and " +
			"exclude select becomes a cloud account; new members follow within an hour. jobID identifies the first " +
			"synchronization. A member that refuses the connection is listed with the cloud's error text, and the " +
			"others connect. GET /cloud-accounts/{provider}/onboarding returns the steps to set up.",
	}, s.connectOrganisation)
	rest.Handle(g, rest.Op{
		ID: "getCloudOrganisation", Method: http.MethodGet, Path: organisation, Policy: "cloud-accounts:read",
		Statuses: reads,
		Summary:  "Get a connected cloud organization",
	}, s.getOrganisation)
	rest.Handle(g, rest.Op{
		ID: "updateCloudOrganisation", Method: http.MethodPut, Path: organisation, Policy: "cloud-accounts:write",
		Statuses: writes,
		Summary:  "Change a connected cloud organization",
		Description: "Changes the fields that are present. provider and organisationID never change. New " +
			"credentials are verified before anything is stored. Members adopt the changes at their next " +
			"synchronization: within the hour, or at POST …/sync. Members that the new selection excludes become " +
			"disconnected, keep their records, and return when they are selected again. permissionLevel, regions " +
			"and credentials apply to every member that was connected through the organization.",
	}, s.updateOrganisation)
	rest.Handle(g, rest.Op{
		ID: "listCloudOrganisationMembers", Method: http.MethodGet, Path: organisation + "/members",
		Policy:   "cloud-accounts:read",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "List the members of an organization and their status",
		Description: "Sorted by native id. connected: it is the cloud account accountID. refused: it refuses the " +
			"connection, error has the cloud's text. duplicate: it is the cloud account accountID, which was " +
			"connected otherwise and stays as it is; error says how. excluded: the selection excludes it. closed: " +
			"the cloud shows it closed. left: it no longer belongs to the organization. removed: its cloud account " +
			"was deleted in this service, and stays deleted. The account of a closed, excluded or left member " +
			"stays connected while disconnectsFrom is not null.",
	}, s.listMembers)
	rest.Handle(g, rest.Op{
		ID: "deleteCloudOrganisation", Method: http.MethodDelete, Path: organisation, Policy: "cloud-accounts:write",
		Statuses: writes[1:],
		Summary:  "Disconnect a cloud organization",
		Description: "Its credentials are deleted at once, and no further members connect. Members that are cloud " +
			"accounts stay as accounts of their own, with the credentials that open them: DELETE those that you do " +
			"not want. keptAccounts is their number.",
	}, s.removeOrganisation)
	rest.Handle(g, rest.Op{
		ID: "syncCloudOrganisation", Method: http.MethodPost, Path: organisation + "/sync",
		Policy: "cloud-accounts:write",
		Status: http.StatusAccepted, Statuses: writes, Summary: "Synchronize the members now",
		Description: "If a synchronization is under way, the answer is that one. Poll statusURL until its jobID is " +
			"null. Accounts are disconnected only if listings at least a day apart agree, and at most 10 % of the " +
			"connected ones in a day. A person can confirm more with confirmationID; it is 409 if other members " +
			"wait by now.",
	}, s.syncOrganisation)
}

func (s *service) oauthOperations(g *rest.Group) {
	bad := []int{http.StatusBadRequest}
	rest.Handle(g, rest.Op{
		ID: "beginGoogleConnection", Method: http.MethodGet, Path: connectPath + "/oauth-url",
		Policy: "cloud-accounts:write", Statuses: bad,
		Summary: "Begin to connect a project of Google Cloud by OAuth",
		Description: "Returns the address for the browser of a person who may use the project. Google sends the " +
			"browser back to /connect/gcp/oauth-callback with code and state for POST /connect/gcp/oauth-exchange. " +
			"If the operator has registered no client, the answer is 400 and names the settings.",
	}, s.beginOAuth)
	rest.Handle(g, rest.Op{
		ID: "exchangeGoogleCode", Method: http.MethodPost, Path: connectPath + "/oauth-exchange",
		Policy: "cloud-accounts:write", Statuses: bad,
		Summary: "Exchange the code from Google",
		Description: "Works only in the session that requested the address, once, within 10 minutes. The refresh " +
			"token is stored encrypted for 30 minutes, and never returned.",
	}, s.exchangeOAuth)
	rest.Handle(g, rest.Op{
		ID: "finalizeGoogleConnection", Method: http.MethodPost, Path: connectPath + "/oauth-finalize",
		Policy:   "cloud-accounts:write",
		Statuses: []int{http.StatusBadRequest, http.StatusConflict}, Summary: "Connect a project with the grant",
		Description: "Like POST /cloud-accounts with authMethod oauth: the project is verified before anything is " +
			"stored, and discovered at once. If a project cannot be opened, the connection stays, so that another " +
			"one can be named. A connection that began with an accountID replaces the credentials of that account.",
	}, s.finalizeOAuth)
	rest.Handle(g, rest.Op{
		ID: "returnFromGoogle", Method: http.MethodGet, Path: callbackPath, Public: true,
		Summary: "Show the landing page for the browser from Google",
		Description: "Describes the next step with the code and state in the address, for clients without a page " +
			"of their own. It needs no log-in and stores nothing.",
	}, s.returnOAuth)
}
