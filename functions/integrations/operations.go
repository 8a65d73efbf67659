// Package integrations is the operation group Integrations: connections of an organization to external services.
package integrations

import (
	"net/http"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

const (
	integrations = "/integrations"
	one          = integrations + "/{integrationID}"
	reading      = "integrations:read"
	writing      = "integrations:write"
)

type service struct {
	p         *platform.Platform
	store     *receiver.IntegrationStore
	services  *receiver.IntegrationServices
	inventory *inventory.Store
	rules     receiver.IntegrationRules
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Integrations")
	policy, store := ssrfguard.Policy{Private: p.Settings.PrivateAddresses},
		receiver.NewIntegrationStore(p.Table, p.Sealer)
	s := &service{
		p: p, store: store, services: receiver.NewIntegrationServices(store, p.Clock, p.Workers, policy),
		inventory: inventory.New(p),
		rules:     receiver.IntegrationRules{Addresses: policy, Endpoints: p.Settings.CustomEndpoints},
	}
	refusals := []int{http.StatusBadRequest, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "listIntegrations", Method: http.MethodGet, Path: integrations, Policy: reading,
		Statuses: []int{http.StatusBadRequest}, Summary: "List integrations",
		Description: "At most 50 an organization. ",
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "listIntegrationKinds", Method: http.MethodGet, Path: integrations + "/catalogue", Policy: reading,
		Summary:     "List the kinds of integrations",
		Description: "Each kind with the fields of its config.",
	}, s.catalogue)
	rest.Handle(g, rest.Op{
		ID: "createIntegration", Method: http.MethodPost, ShownOnce: "webhookSecret", Path: integrations,
		Policy: writing, Statuses: refusals, Summary: "Connect a service", Description: shape,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "getIntegration", Method: http.MethodGet, Path: one, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary:     "Read an integration",
		Description: "With the last ten webhooks that came from it.",
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateIntegration", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: append(refusals, http.StatusNotFound), Summary: "Change an integration",
		Description: "Changes only the fields present; in config too, where an empty value is the default. A secret " +
			"that is not sent stays as it is, but where its address changes it has to be sent again. " + shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteIntegration", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Disconnect a service",
		Description: "Its secrets are deleted, its pending deliveries are dropped, and its webhooks are refused.",
	}, s.remove)
	rest.Handle(g, rest.Op{
		ID: "testIntegration", Method: http.MethodPost, Path: one + "/test", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Test an integration",
		Description: "Asks the service whether it accepts the credential. The answer is 200 even if it does not. " +
			"GitHub, GitLab and Jira are asked for the owner of the credential, and registries for a token. " +
			"PagerDuty is asked to resolve an alert that never existed, so the test wakes no one. For ECR, the " +
			"connection to the cloud account is checked. The result of the test becomes the status of the " +
			"integration.",
	}, s.test)
	return g
}

const shape = "config takes the fields that GET /integrations/catalogue lists for the kind. Secrets are sealed and " +
	"never answered: secrets says which there are. " +
	"Addresses must be https on port 443 and must not lead into a private network, unless the operator allows it. " +
	"GitHub and GitLab answer webhookURL, the address for their webhooks, and webhookSecret, this once; " +
	"PUT with rotateWebhookSecret true makes another one. Jira and PagerDuty take events, by eventTypes ([] is all) " +
	"and scope as webhooks do. Names are unique without regard to case. " +
	"At most 50 integrations an organization. It gets only events that its maker may read at that time " +
	"(resources:read, budgets:read, reports:read, within their scope), and is paused when the maker leaves or may " +
	"read none: owners are told. " +
	"Who changes config, eventTypes or scope, or sends enabled true, is its maker from then on. "

// IntegrationInput names the integration of a request.
type IntegrationInput struct {
	IntegrationID string `path:"integrationID" maxLength:"64"`
}

// orders are the sort fields of integrations.
type orders struct{}

var _ rest.Orders[receiver.Integration] = orders{}

func (orders) Orders() []rest.Order[receiver.Integration] {
	return []rest.Order[receiver.Integration]{
		rest.OrderByText("name", func(i receiver.Integration) string { return i.Name }),
		rest.OrderByText("kind", func(i receiver.Integration) string { return i.Kind }),
		rest.OrderByTime("createdAt", func(i receiver.Integration) time.Time { return i.CreatedAt }),
	}
}
