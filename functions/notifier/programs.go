package notifier

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/integration"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/domain/webhook"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// addPrograms adds webhooks and integrations to the receivers.
func (r *Receivers) addPrograms(p *platform.Platform) {
	policy := ssrfguard.Policy{Private: p.Settings.PrivateAddresses}
	hooks, services := webhook.NewStore(p.Table, p.Sealer), integration.NewStore(p.Table, p.Sealer)
	audience := receiver.NewAudience(p)
	r.Matchers = append(r.Matchers, webhook.NewMatcher(hooks, audience), integration.NewMatcher(services, audience))
	r.Senders[delivery.Webhook] = webhook.NewSender(hooks, p.Clock, policy, audience)
	r.Senders[delivery.Integration] = integration.NewSender(integration.NewServices(services, p.Clock, p.Workers,
		policy), audience)
	r.Health[delivery.Webhook], r.Health[delivery.Integration] = hooks, services
}
