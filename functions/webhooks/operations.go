// Package webhooks is the operation group Webhooks: the addresses that receive an organization's events, and the
// incoming webhooks of GitHub and GitLab.
package webhooks

import (
	"net/http"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

const (
	webhooks   = "/webhooks"
	one        = webhooks + "/{webhookID}"
	deliveries = one + "/deliveries"
	reading    = "webhooks:read"
	writing    = "webhooks:write"
)

type service struct {
	p            *platform.Platform
	store        *receiver.WebhookStore
	integrations *receiver.IntegrationStore
	deliveries   *delivery.Store
	inventory    *inventory.Store
	sender       *receiver.WebhookSender
	policy       ssrfguard.Policy
}

func newService(p *platform.Platform) *service {
	policy, store := ssrfguard.Policy{Private: p.Settings.PrivateAddresses}, receiver.NewWebhookStore(p.Table, p.Sealer)
	return &service{
		p: p, store: store, integrations: receiver.NewIntegrationStore(p.Table, p.Sealer),
		deliveries: delivery.NewStore(p.Table, p.Clock),
		inventory:  inventory.New(p),
		sender:     receiver.NewWebhookSender(store, p.Clock, policy, receiver.NewAudience(p)),
		policy:     policy,
	}
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Webhooks")
	s := newService(p)
	s.configuration(g)
	s.delivering(g)
	s.receiving(g)
	return g
}

func (s *service) configuration(g *rest.Group) {
	refusals := []int{http.StatusBadRequest, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "listWebhooks", Method: http.MethodGet, Path: webhooks, Policy: reading,
		Statuses: []int{http.StatusBadRequest}, Summary: "List webhooks",
		Description: "At most 50 an organization. " + masked,
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createWebhook", Method: http.MethodPost, ShownOnce: "secret", Path: webhooks, Policy: writing,
		Statuses: refusals, Summary: "Create a webhook",
		Description: "Answers the secret that it is signed with, this once. " + shape + signing,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "getWebhook", Method: http.MethodGet, Path: one, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary: "Read a webhook", Description: masked,
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateWebhook", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: append(refusals, http.StatusNotFound), Summary: "Change a webhook",
		Description: "Changes only the fields present. enabled true also takes one up again that was gone. " + shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteWebhook", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Delete a webhook",
		Description: "Its pending deliveries are dropped.",
	}, s.remove)
	rest.Handle(g, rest.Op{
		ID: "rotateWebhookSecret", Method: http.MethodPost, ShownOnce: "secret", Path: one + "/rotate-secret",
		Policy: writing, Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary: "Rotate the secret of a webhook",
		Description: "Answers the new secret, this once. For 24 hours the one before signs as well: " +
			"webhook-signature then has both, " +
			"with a space between. Of two rotations within 24 hours the first secret ends with the second.",
	}, s.rotate)
}

func (s *service) delivering(g *rest.Group) {
	missing := []int{http.StatusNotFound}
	rest.Handle(g, rest.Op{
		ID: "testWebhook", Method: http.MethodPost, Path: one + "/test", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Send a test to a webhook",
		Description: "Sends an event of type webhook.test at once, and answers the result: the answer is 200 even " +
			"if the receiver refused the event. It is tried once, and is listed among the deliveries. 409: the " +
			"webhook is disabled.",
	}, s.test)
	rest.Handle(g, rest.Op{
		ID: "listWebhookDeliveries", Method: http.MethodGet, Path: deliveries, Policy: reading,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "List the deliveries of a webhook",
		Description: "The newest first, of the newest 10,000 deliveries of the organization. Kept for 14 days after " +
			"their end.",
	}, s.listDeliveries)
	rest.Handle(g, rest.Op{
		ID: "redeliverWebhook", Method: http.MethodPost, Path: deliveries + "/{deliveryID}/redeliver", Policy: writing,
		Statuses: append(missing, http.StatusConflict),
		Summary:  "Deliver again",
		Description: "Begins the tries of a delivery that has ended again, under the same webhook-id. 409: it has " +
			"not ended yet.",
	}, s.redeliver)
}

const (
	shape = "eventTypes are the keys of GET /notifications/event-types; [] is all. scopeType and scopeID choose the " +
		"events that belong to an account, a group, a resource (by its native id) " +
		"or a team; scopeType org, the default, is all of them, and scopeID then empty. url must be https on port " +
		"443 and must not lead into a private network, unless the operator allows it. " +
		"Names are unique without regard to case. At most 50 webhooks an organization. " + made
	made = "It gets only events that its maker may read at that time (resources:read, budgets:read, reports:read, " +
		"within their scope), and is paused when the maker leaves or may read none: owners are told. " +
		"Who changes url, eventTypes or scope, or sends enabled true, is its maker from then on. "
	masked = "The address may hold a secret: who lacks webhooks:write sees its host and its last four characters, " +
		"and so does the list. "
	signing = "Standard Webhooks (standardwebhooks.com): the headers webhook-id (the same for each try: drop an id " +
		"that you have seen), webhook-timestamp and webhook-signature, which is v1, and the HMAC-SHA256 of " +
		"id.timestamp.body in base64. The body is {type, timestamp, data}. A 2xx within 10 seconds is success; " +
		"redirects are not followed. Tries follow after 30 s, 2 min, 10 min, 1 h and 6 h, later where a 429 or 503 " +
		"says so in Retry-After, up to an hour; 410 disables the webhook. At least once, in no order. "
)

// WebhookInput names the webhook of a request.
type WebhookInput struct {
	WebhookID string `path:"webhookID" maxLength:"64"`
}

// orders are the sort fields of webhooks.
type orders struct{}

var _ rest.Orders[receiver.Webhook] = orders{}

func (orders) Orders() []rest.Order[receiver.Webhook] {
	return []rest.Order[receiver.Webhook]{
		rest.OrderByText("name", func(w receiver.Webhook) string { return w.Name }),
		rest.OrderByTime("createdAt", func(w receiver.Webhook) time.Time { return w.CreatedAt }),
	}
}
