package receiver

import (
	"context"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// IntegrationSender sends events to integrations whose makers may read them.
type IntegrationSender struct {
	*IntegrationServices
	audience *Audience
}

// NewIntegrationSender returns a Sender that sends with s. a decides which events the makers may read.
func NewIntegrationSender(s *IntegrationServices, a *Audience) *IntegrationSender {
	return &IntegrationSender{s, a}
}

// Send sends the message's events to its integration: PagerDuty or Jira. It returns fault.Invalid when the
// integration is disabled or its maker may not read the events now, and fault.NotFound when it was deleted. It takes
// two round trips, and for Jira up to two more per event.
func (s *IntegrationSender) Send(ctx context.Context,
	m delivery.Message, //nolint:gocritic // as delivery.Sender
) (delivery.Answer, error) {
	ctx = table.WithOrg(ctx, m.Org)
	i, err := s.store.Read(ctx, m.Org, m.Target.ID)
	if err != nil {
		return delivery.Answer{}, err
	}
	if !i.Enabled {
		return delivery.Answer{}, fault.New(fault.Invalid, "the integration is disabled")
	}
	if m.Events, err = s.audience.Readable(ctx, m.Org, &i.Made, m.Events); err != nil {
		return delivery.Answer{}, err
	}
	c, err := s.store.Open(ctx, m.Org, &i)
	if err != nil {
		return delivery.Answer{}, err
	}
	switch i.Kind {
	case PagerDuty:
		return s.sendPagerDuty(ctx, &m, c)
	case Jira:
		return s.sendJira(ctx, &m, c)
	}
	return delivery.Answer{}, fault.New(fault.Invalid, "an integration of kind %s takes no events", i.Kind)
}

var _ delivery.Sender = (*IntegrationSender)(nil)
