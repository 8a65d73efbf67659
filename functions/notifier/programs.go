package notifier

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// addPrograms adds webhooks and integrations to the receivers.
func (r *Receivers) addPrograms(p *platform.Platform) {
	policy := ssrfguard.Policy{Private: p.Settings.PrivateAddresses}
	hooks, services := receiver.NewWebhookStore(p.Table, p.Sealer), receiver.NewIntegrationStore(p.Table, p.Sealer)
	audience := receiver.NewAudience(p)
	r.Matchers = append(r.Matchers, receiver.NewWebhookMatcher(hooks, audience),
		receiver.NewIntegrationMatcher(services, audience))
	r.Senders[delivery.Webhook] = receiver.NewWebhookSender(hooks, p.Clock, policy, audience)
	integrations := receiver.NewIntegrationServices(services, p.Clock, p.Workers, policy)
	r.Senders[delivery.Integration] = receiver.NewIntegrationSender(integrations, audience)
	r.Health[delivery.Webhook], r.Health[delivery.Integration] = hooks, services
}
