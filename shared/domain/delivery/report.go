package delivery

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// words are the display names of kinds of receivers.
var words = map[Kind]string{
	Channel: "notification channel", Legacy: "notification configuration", Email: "mail address", Webhook: "webhook",
	Integration: "integration",
}

// report reports a failing receiver: in its record, in the service's log, and by mail to the owners of the
// organization, once until it recovers.
func (e *Engine) report(ctx context.Context, k receiverKey, h Health) error {
	e.Log.ErrorContext(ctx, "a receiver takes nothing, and what was for it is parked", "org", k.org, "kind",
		string(k.Kind), "receiver", k.ID,
		"gone", h.Gone, "why", h.Why)
	name := k.ID
	if r := e.Health[k.Kind]; r != nil {
		called, err := r.RecordHealth(within(ctx, k.org), k.org, k.Target, h)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return fault.Wrap("note that "+k.ID+" fails", err)
		}
		name = called
	}
	if k.Kind == Email {
		return nil // a failing mail is the operator's concern, see the log of mails
	}
	return e.mailOwners(ctx, k, name)
}

// mailOwners queues the mails and marks the owners as informed in one transaction. A second, concurrent call changes
// nothing.
func (e *Engine) mailOwners(ctx context.Context, k receiverKey, name string) error {
	owners, err := identity.OwnerAddresses(within(ctx, k.org), e.Table, k.org)
	if err != nil {
		return err
	}
	now := e.Clock.Now()
	ws := []table.Write{table.Update(receiverRow(k), []table.Change{
		table.Set("told", true), table.SetOnce("since", now), table.SetOnce("probeAt", now),
		table.Expire(now.Add(Keep)),
	}, table.NotEqual("told", true))}
	for _, to := range owners {
		w, err := mail.QueueMail(ctx, e.Sealer, now, mail.Mail{
			Template: mail.ReceiverFailing, To: to, Org: k.org,
			Data: map[string]string{"kind": words[k.Kind], "name": name, "id": k.ID},
		})
		if err != nil {
			return fmt.Errorf("tell owners of %s: %w", k.ID, err)
		}
		ws = append(ws, w)
	}
	err = e.store.table.Transact(table.Within(within(ctx, k.org), mail.Prefix), ws...)
	if _, told := errors.AsType[*table.ConditionError](err); told {
		return nil
	}
	return fault.Wrap("tell owners of "+k.ID, err)
}
