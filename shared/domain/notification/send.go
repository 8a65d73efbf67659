package notification

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// Reading is the access needed to find and reach receivers.
var Reading = table.Access{Reads: []table.Partition{
	ChannelPartition, LegacyPartition, RecipientPartition, PreferencePartition, identity.UserPartition,
}}

// Sending is the access of Senders: Reading, the queue of mails, and the health of channels.
var Sending = Reading.With(receiver.AudienceAccess,
	table.Access{Writes: []table.Partition{mail.Partition, ChannelPartition}})

// Senders sends messages to channels, legacy configurations and users.
type Senders struct {
	store    *Store
	table    table.Store
	clock    clock.Clock
	sealer   seal.Sealer
	audience *receiver.Audience
	chat     *chats
	settings platform.Settings
}

// NewSenders returns the senders of p by kind of receiver.
func NewSenders(p *platform.Platform) map[delivery.Kind]delivery.Sender {
	s := &Senders{
		NewStore(p), p.Table, p.Clock, p.Sealer, receiver.NewAudience(p), newChats(RulesOf(&p.Settings)),
		p.Settings,
	}
	return map[delivery.Kind]delivery.Sender{
		delivery.Channel: sender(s.toChannel), delivery.Legacy: sender(s.toLegacy),
		delivery.Email: sender(s.toUser),
	}
}

// sender is a function that implements delivery.Sender.
type sender func(context.Context, delivery.Message) (delivery.Answer, error)

// Send calls f with access limited to the message's organization.
func (f sender) Send(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	return f(table.WithOrg(ctx, m.Org), m)
}

// toChannel reads the channel's current state and sends to it. It does not send to a broken channel until the channel
// is changed, except for test messages.
func (s *Senders) toChannel(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	k := ChannelKey(m.Org, m.Target.ID)
	notice, items, err := s.notice(ctx, &m, k)
	if err != nil {
		return delivery.Answer{}, err
	}
	if _, there := DecodeChannel(items[k]); !there {
		return delivery.Answer{}, MissingChannel(m.Target.ID)
	}
	c, err := table.Decode[Channel](items[k])
	switch tried := m.Events[0].Key == TestMessage; {
	case err != nil:
		return delivery.Answer{}, err
	case c.Broken() && !tried:
		return delivery.Answer{Gone: true},
			fault.New(fault.Invalid, "the channel is broken since %s: %s", c.BrokenAt.UTC().Format(time.RFC3339),
				c.BrokenWhy)
	case !tried && !c.PausedAt.IsZero() && event.PolicyOf(m.Events[0].Key) == "":
		return delivery.Answer{}, fault.New(fault.Invalid, "the channel is paused: %s", c.PausedWhy)
	}
	if err = s.confine(ctx, &m, notice, &c.Made); err != nil {
		return delivery.Answer{}, err
	}
	if c.Type == Email {
		return s.queueMail(ctx, &m, c.Email, notice)
	}
	return s.toChat(ctx, m.Org, &c, notice)
}

// confine limits a message to the events that the maker of its receiver may read now. It returns fault.Invalid when
// there are none.
func (s *Senders) confine(ctx context.Context, m *delivery.Message, n *Notice, made *receiver.Made) error {
	events, err := s.audience.Readable(ctx, m.Org, made, m.Events)
	if err == nil && len(events) < len(m.Events) {
		m.Events, m.Total, n.Events, n.Total = events, len(events), events, len(events)
	}
	return err
}

// toChat sends to a chat channel and stores when the channel breaks or recovers.
func (s *Senders) toChat(ctx context.Context, org string, c *Channel, n *Notice) (delivery.Answer, error) {
	address, err := s.store.open(ctx, org, c.ID, c.Sealed)
	if err != nil {
		return delivery.Answer{}, err
	}
	a, sent := s.chat.send(ctx, c.Type, address, n)
	if sent != nil && !a.Gone {
		return a, sent // the engine counts failures and reports them
	}
	h := delivery.Health{Failing: sent != nil, Gone: a.Gone, At: s.clock.Now()}
	if sent != nil {
		h.Why = fault.Message(sent)
	}
	if err = s.store.noteHealth(ctx, org, c, h); err != nil {
		return a, errors.Join(sent, err)
	}
	return a, sent
}

// toLegacy reads the configuration's current state and sends to it.
func (s *Senders) toLegacy(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	k := legacyKey(m.Org, m.Target.ID)
	notice, items, err := s.notice(ctx, &m, k)
	if err != nil {
		return delivery.Answer{}, err
	}
	if items[k].Data == nil {
		return delivery.Answer{}, MissingLegacy(m.Target.ID)
	}
	l, err := table.Decode[Legacy](items[k])
	if err != nil {
		return delivery.Answer{}, err
	}
	if !l.events()[m.Events[0].Key] {
		return delivery.Answer{}, MissingLegacy(m.Target.ID) // it was switched off after the event
	}
	if err = s.confine(ctx, &m, notice, &l.Made); err != nil {
		return delivery.Answer{}, err
	}
	address, err := s.store.open(ctx, m.Org, l.ID, l.Sealed)
	if err != nil {
		return delivery.Answer{}, err
	}
	if l.Channel == Email {
		return s.queueMail(ctx, &m, address, notice)
	}
	return s.chat.send(ctx, l.Channel, address, notice)
}

// toUser mails a user who still has the preference, is a member, and may read the event.
func (s *Senders) toUser(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	user, e := m.Target.ID, &m.Events[0]
	profile, wish := identity.UserKey(user), preferenceKey(m.Org, user, e.Key)
	notice, items, err := s.notice(table.Within(ctx, profile.PK), &m, profile, wish)
	if err != nil {
		return delivery.Answer{}, err
	}
	gone := fault.New(fault.NotFound, "user %s has no mail of %s any more", user, e.Key)
	if items[profile].Data == nil || items[wish].Data == nil {
		return delivery.Answer{}, gone
	}
	u, err := table.Decode[identity.User](items[profile])
	if err != nil {
		return delivery.Answer{}, err
	}
	wanted, err := table.Decode[Preference](items[wish])
	if err != nil || !wanted.Enabled || u.Disabled || !u.Verified {
		return delivery.Answer{}, errors.Join(err, gone)
	}
	see, err := s.audience.WhoMayRead(ctx, m.Org, e, user)
	if err != nil || !see[user] {
		return delivery.Answer{}, errors.Join(err, gone)
	}
	notice.Unsubscribe = s.store.unsubscribeAddress(s.settings.BaseURL, m.Org, user, e.Key)
	notice.Reason = preferenceReason
	return s.queueMail(ctx, &m, u.Email, notice)
}

// notice reads the wanted items and the organization's name, and returns the notice. It takes one round trip.
func (s *Senders) notice(ctx context.Context, m *delivery.Message, wanted ...table.Key) (*Notice,
	map[table.Key]table.Item, error,
) {
	k := identity.OrganisationKey(m.Org)
	items, err := s.table.BatchGet(ctx, append(wanted, k)...)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", m.Target.ID, err)
	}
	n := &Notice{BaseURL: s.settings.BaseURL, Events: m.Events, Total: m.Total, Text: m.Text}
	if items[k].Data != nil {
		o, err := table.Decode[identity.Organisation](items[k])
		if err != nil {
			return nil, nil, err
		}
		n.Organisation = o.Name
	}
	return n, items, nil
}

// queueMail puts a mail into the queue of mails, which sends it and retries. A retried delivery whose mail is already
// in the queue counts as delivered.
func (s *Senders) queueMail(ctx context.Context, m *delivery.Message, to string, n *Notice) (delivery.Answer,
	error,
) {
	c := ComposeMessage(n)
	letter := WriteMail(&c)
	post, err := mail.QueueOnce(ctx, s.sealer, m.Events[0].At, m.ID,
		mail.Mail{Template: mail.Notification, To: to, Org: m.Org, Letter: &mail.Letter{
			Subject: letter.Subject, Text: letter.Text, HTML: letter.HTML, Unsubscribe: n.Unsubscribe,
		}})
	if err != nil {
		return delivery.Answer{}, err
	}
	err = s.table.Transact(table.WithoutAttachment(table.Within(ctx, mail.Prefix)), post)
	if _, waits := errors.AsType[*table.ConditionError](err); err != nil && !waits {
		return delivery.Answer{}, fault.Wrap("queue the mail of "+m.ID, err)
	}
	return delivery.Answer{Message: "the mail is queued"}, nil
}
