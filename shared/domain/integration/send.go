package integration

import (
	"context"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Send hands the message's events to its integration: PagerDuty or Jira. One that was disabled meanwhile is fault.Invalid;
// one that was deleted fault.NotFound. One round trip; for Jira up to two more for each event.
func (s *Services) Send(ctx context.Context, m delivery.Message) (delivery.Answer, error) { //nolint:gocritic // as delivery.Sender
	ctx = table.WithOrg(ctx, m.Org)
	i, err := s.store.Read(ctx, m.Org, m.Target.ID)
	if err != nil {
		return delivery.Answer{}, err
	}
	if !i.Enabled {
		return delivery.Answer{}, fault.New(fault.Invalid, "the integration is disabled")
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

var _ delivery.Sender = (*Services)(nil)
