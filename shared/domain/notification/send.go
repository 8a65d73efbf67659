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

// Reading is what finding and reaching receivers reads.
var Reading = table.Access{Reads: []table.Partition{
	ChannelPartition, LegacyPartition, RecipientPartition, PreferencePartition, identity.UserPartition,
}}

// Sending is what Senders touch besides what they read: waiting mails, and channels that turn out to be broken.
var Sending = Reading.With(receiver.AudienceAccess,
	table.Access{Writes: []table.Partition{mail.Partition, ChannelPartition}})

// Senders hand messages to channels, legacy configurations and users.
type Senders struct {
	store    *Store
	table    table.Store
	clock    clock.Clock
	sealer   seal.Sealer
	audience *receiver.Audience
	chat     *chats
	settings platform.Settings
}

// NewSenders returns the senders of p, by the kinds of receivers.
func NewSenders(p *platform.Platform) map[delivery.Kind]delivery.Sender {
	s := &Senders{NewStore(p), p.Table, p.Clock, p.Sealer, receiver.NewAudience(p), newChats(RulesOf(&p.Settings)),
		p.Settings}
	return map[delivery.Kind]delivery.Sender{delivery.Channel: sender(s.toChannel), delivery.Legacy: sender(s.toLegacy),
		delivery.Email: sender(s.toUser)}
}

// sender is a function that sends.
type sender func(context.Context, delivery.Message) (delivery.Answer, error)

// Send calls it, for the organization of the message alone.
func (f sender) Send(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	return f(table.WithOrg(ctx, m.Org), m)
}

// toChannel reads the channel as it is now and sends there. One that has said that it will never take anything again is not asked until it
// is changed, or tried by a test.
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

// confine leaves to a message the events that the maker of its receiver may read now; fault.Invalid when there is none.
func (s *Senders) confine(ctx context.Context, m *delivery.Message, n *Notice, made *receiver.Made) error {
	events, err := s.audience.Readable(ctx, m.Org, made, m.Events)
	if err == nil && len(events) < len(m.Events) {
		m.Events, m.Total, n.Events, n.Total = events, len(events), events, len(events)
	}
	return err
}

// toChat sends to a channel of a chat, and notes on it when it is gone, or is back.
func (s *Senders) toChat(ctx context.Context, org string, c *Channel, n *Notice) (delivery.Answer, error) {
	address, err := s.store.open(ctx, org, c.ID, c.Sealed)
	if err != nil {
		return delivery.Answer{}, err
	}
	a, sent := s.chat.send(ctx, c.Type, address, n)
	if sent != nil && !a.Gone {
		return a, sent // the engine counts failures, and tells when they are too many
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

// toLegacy reads the configuration as it is now and sends there.
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
		return delivery.Answer{}, MissingLegacy(m.Target.ID) // it was switched off meanwhile
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

// toUser mails a user who still wants it, is a member, and may see what it is about.
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
	return s.queueMail(ctx, &m, u.Email, notice)
}

// notice reads, with what else is wanted, how the organization is called, and makes what is to be said. One round trip.
func (s *Senders) notice(ctx context.Context, m *delivery.Message, wanted ...table.Key) (*Notice,
	map[table.Key]table.Item, error) {
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

// queueMail hands a mail to the queue of mails, which sends it at once and again until it is taken. A delivery that is tried again while its
// mail waits there is delivered.
func (s *Senders) queueMail(ctx context.Context, m *delivery.Message, to string, n *Notice) (delivery.Answer,
	error) {
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
