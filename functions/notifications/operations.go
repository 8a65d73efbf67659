// Package notifications is the operation group Notifications: channels, subscriptions to events, and deliveries.
package notifications

import (
	"net/http"

	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/recommendation"
)

const (
	legacies      = "/notifications"
	legacy        = legacies + "/{notificationID}"
	channels      = legacies + "/channels"
	channel       = channels + "/{channelID}"
	subscriptions = legacies + "/subscriptions"
	subscription  = subscriptions + "/{subID}"
	preference    = legacies + "/email-preferences/{eventKey}"
	unsubscribing = "/unsubscribe/{token}"
	reading       = "notifications:read"
	writing       = "notifications:write"
)

type service struct {
	p               *platform.Platform
	store           *notification.Store
	inventory       *inventory.Store
	log             *delivery.Store
	senders         map[delivery.Kind]delivery.Sender
	recommendations *recommendation.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Notifications")
	s := &service{
		p, notification.NewStore(p), inventory.New(p), delivery.NewStore(p.Table, p.Clock), notification.NewSenders(p),
		recommendation.New(p),
	}
	s.channelOperations(g)
	s.subscriptionOperations(g)
	s.ownOperations(g)
	s.legacyOperations(g)
	return g
}

var (
	invalid = []int{http.StatusBadRequest}
	missing = []int{http.StatusNotFound}
	writes  = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
)

func (s *service) channelOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listChannels", Method: http.MethodGet, Path: channels, Policy: reading, Scoped: true,
		Summary: "List notification channels",
		Description: "A bare array, oldest first; at most 1,000 an organization. " + masked +
			"A grant on teams or resources shows the channels that the caller made, those to the caller's own " +
			"mailbox, and, without their addresses, those of the subscriptions that the caller may read.",
	}, s.listChannels)
	rest.Handle(g, rest.Op{
		ID: "createChannel", Method: http.MethodPost, Path: channels, Policy: writing, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a notification channel",
		Description: addresses + masked + "Names are unique without regard to case. At most 1,000 an organization. " +
			"A grant on teams or resources makes at most 20 channels of one's own, whose names are unique among these.",
	}, s.createChannel)
	rest.Handle(g, rest.Op{
		ID: "updateChannel", Method: http.MethodPut, Path: channel, Policy: writing, Scoped: true, Statuses: writes,
		Summary: "Change a notification channel",
		Description: "Changes only the fields present; type never changes, and config is replaced as a whole. " +
			addresses + masked + madeByCaller,
	}, s.updateChannel)
	rest.Handle(g, rest.Op{
		ID: "deleteChannel", Method: http.MethodDelete, Path: channel, Policy: writing, Scoped: true,
		Statuses: writes[1:], Summary: "Delete a notification channel",
		Description: "Deletes the channel and all its subscriptions. If the request is interrupted, the channel is " +
			"still gone for all callers; repeating the request removes the remaining subscriptions. " + madeByCaller,
	}, s.deleteChannel)
	rest.Handle(g, rest.Op{
		ID: "testChannel", Method: http.MethodPost, Path: channel + "/test", Policy: writing, Scoped: true,
		Statuses: writes[1:2], Summary: "Send a test message to a channel",
		Description: "Sends now and answers the receiver's reply, at most 200 characters of it; a mail is queued. " +
			"The message is listed among the deliveries. A broken channel that accepts the message is no longer " +
			"broken. A grant on teams or resources tests the channels that the caller made and those to the " +
			"caller's own mailbox.",
	}, s.testChannel)
	rest.Handle(g, rest.Op{
		ID: "shareRecommendation", Method: http.MethodPost, Path: legacies + "/share/recommendation/{recID}",
		Policy: writing, Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary: "Share a recommendation to channels",
		Description: "Sends now, to each channel once; sent and failed count channels. It is on record among the " +
			"deliveries. At most 50 channels.",
	}, s.share)
	rest.Handle(g, rest.Op{
		ID: "listDeliveries", Method: http.MethodGet, Path: legacies + "/deliveries", Policy: reading, Scoped: true,
		Statuses: invalid, Summary: "List deliveries",
		Description: "The deliveries to channels, legacy configurations, users and integrations, newest first, " +
			"among the newest 10,000 of the requested time; kept for 14 days after their end. A delivery is " +
			"pending, then delivered, or retrying after 30 s, 2 m, 10 m, 1 h and 6 h, and then parked. More than 5 " +
			"events of a key for one receiver within a minute are one message. A grant on teams or resources shows " +
			"the deliveries of at most 10 events that are all within it, and of the messages that a person sent " +
			"only those to the caller's own channels.",
	}, s.listDeliveries)
}

func (s *service) subscriptionOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listSubscriptions", Method: http.MethodGet, Path: subscriptions, Policy: reading, Scoped: true,
		Statuses: invalid, Summary: "List notification subscriptions",
		Description: "A bare array, oldest first. Without limit it has up to 10,000; page until a short page " +
			"returns. At most 100,000 an organization. " + scoped,
	}, s.listSubscriptions)
	rest.Handle(g, rest.Op{
		ID: "createSubscription", Method: http.MethodPost, Path: subscriptions, Policy: writing, Scoped: true,
		Statuses:    []int{http.StatusBadRequest, http.StatusConflict},
		Summary:     "Create a notification subscription",
		Description: "A second one of a channel, event type and scope is 409. " + scopes + scoped,
	}, s.createSubscription)
	rest.Handle(g, rest.Op{
		ID: "updateSubscription", Method: http.MethodPut, Path: subscription, Policy: writing, Scoped: true,
		Statuses: writes, Summary: "Change a notification subscription",
		Description: "Changes only the fields present. " + scopes + scoped,
	}, s.updateSubscription)
	rest.Handle(g, rest.Op{
		ID: "deleteSubscription", Method: http.MethodDelete, Path: subscription, Policy: writing, Scoped: true,
		Statuses: writes[1:], Summary: "Delete a notification subscription",
		Description: scoped,
	}, s.deleteSubscription)
	rest.Handle(g, rest.Op{
		ID: "upsertSubscriptions", Method: http.MethodPost, Path: subscriptions + "/bulk", Policy: writing,
		Scoped: true, Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary: "Create or update many subscriptions",
		Description: "At most 500. One of the same channelID, eventType and scope is updated, else one is created; " +
			"of several of these in the request the last counts, and they are one. " +
			"created and updated count subscriptions. When any of them is wrong, nothing is done. " + scopes + scoped,
	}, s.upsertSubscriptions)
	rest.Handle(g, rest.Op{
		ID: "listEventTypes", Method: http.MethodGet, Path: legacies + "/event-types", Policy: reading, Scoped: true,
		Catalogue: true,
		Summary:   "List the types of events",
	}, s.listEventTypes)
}

// ownOperations adds the operations on the caller's own e-mail preferences.
func (s *service) ownOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getEmailPreference", Method: http.MethodGet, Path: preference, Policy: reading, Scoped: true,
		Statuses: missing, Summary: "Read an own e-mail preference",
		Description: own,
	}, s.getPreference)
	rest.Handle(g, rest.Op{
		ID: "setEmailPreference", Method: http.MethodPut, Path: preference, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Set an own e-mail preference", Description: own,
	}, s.setPreference)
	rest.Handle(g, rest.Op{
		ID: "getUnsubscribePage", Method: http.MethodGet, Path: unsubscribing, Public: true,
		Produces: htmlpage.ContentType,
		Statuses: []int{http.StatusNotFound, http.StatusTooManyRequests},
		Summary:  "Show the page of the link that ends mails",
		Description: "Has a button that switches the e-mail preference off which the mail came from. It changes " +
			"nothing by itself. " + tries,
	}, s.showUnsubscribe)
	rest.Handle(g, rest.Op{
		ID: "unsubscribe", Method: http.MethodPost, Path: unsubscribing, Public: true, Produces: htmlpage.ContentType,
		Statuses:    []int{http.StatusNotFound, http.StatusTooManyRequests},
		Summary:     "End mails by the link in them",
		Description: "One request, without a log-in, as RFC 8058 has it. " + tries,
	}, s.unsubscribe)
}

func (s *service) legacyOperations(g *rest.Group) {
	const instead = "Deprecated: create a channel and subscriptions instead. Existing configurations still receive " +
		"the events of the whole organization. "
	rest.Handle(g, rest.Op{
		ID: "listLegacyNotifications", Method: http.MethodGet, Path: legacies, Policy: reading, Deprecated: true,
		Summary:     "List notification configurations",
		Description: instead + "A bare array, oldest first; at most 100 an organization. " + masked,
	}, s.listLegacy)
	rest.Handle(g, rest.Op{
		ID: "createLegacyNotification", Method: http.MethodPost, Path: legacies, Policy: writing, Deprecated: true,
		Statuses: invalid, Summary: "Create a notification configuration",
		Description: instead + addresses + "For email, webhookURL is the address of the mailbox.",
	}, s.createLegacy)
	rest.Handle(g, rest.Op{
		ID: "updateLegacyNotification", Method: http.MethodPut, Path: legacy, Policy: writing, Deprecated: true,
		Statuses: writes, Summary: "Change a notification configuration",
		Description: instead + "Changes only the fields present. " + addresses,
	}, s.updateLegacy)
	rest.Handle(g, rest.Op{
		ID: "deleteLegacyNotification", Method: http.MethodDelete, Path: legacy, Policy: writing, Deprecated: true,
		Statuses: writes[1:], Summary: "Delete a notification configuration",
		Description: instead,
	}, s.deleteLegacy)
}

const (
	masked = "The address of a chat is a credential: who lacks notifications:write sees its host and last four " +
		"characters. "
	addresses = "config has webhookURL for slack, teams and gchat, and email for email. Addresses of chats are https " +
		"and of their vendor: hooks.slack.com, hooks.slack-gov.com; " +
		"*.logic.azure.com, *.api.powerplatform.com, *.webhook.office.com; chat.googleapis.com; or of hosts that the " +
		"operator allows. Private addresses are refused, at each delivery too. "
	scopes = "scopeID is empty for org, our id of an account, group or team, the native id of a resource; one that " +
		"does not exist is 400. enabled is true unless it says otherwise. "
	made = "A channel or subscription gets only events that its maker may read at that time (resources:read, " +
		"budgets:read, reports:read, within their scope), and is paused when the maker leaves or may read none: " +
		"owners are told. " +
		"Who sends config of a channel, or another place or enabled true of a subscription, is its maker from then on. "
	scoped = made +
		"A grant on teams or resources shows and makes the subscriptions of just these, to channels that the caller " +
		"made or to the caller's own mailbox: 403 a channel of somebody else, 400 one that the caller cannot see. "
	madeByCaller = "A grant on teams or resources reaches the channels that the caller made: 403 a channel of " +
		"somebody else, 404 one that the caller cannot see. "
	own = "The caller's preference for the built-in mails. A member gets a mail only if the member may see the " +
		"subject of the event. A preference that was never set is off. An unknown key is 404."
	tries = "At most 60 requests in ten minutes from one address."
)
