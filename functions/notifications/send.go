package notifications

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/fault"
)

// The limits of a send during a request: its time for each receiver, and the number of concurrent sends.
const (
	patience   = 10 * time.Second
	sideBySide = 10
)

// TestedChannel is the result of a test message.
type TestedChannel struct {
	DeliveryID string `json:"deliveryID" doc:"Under which it is on record"`
	Delivered  bool   `json:"delivered"`
	Status     int    `json:"status" doc:"Of HTTP, as the receiver answered; 0 when there was no answer, and of a mail"`
	Message    string `json:"message" doc:"The receiver's answer, or the reason why there was none"`
}

func (s *service) testChannel(ctx context.Context, in *ChannelInput) (TestedChannel, error) {
	c, err := s.testable(ctx, in.ChannelID)
	if err != nil {
		return TestedChannel{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.ID})
	m := s.message(ctx, c.ID,
		event.Event{Key: notification.TestMessage, ScopeType: event.ScopeOrg, At: s.p.Clock.Now(), Subject: c.ID})
	a, sent := s.send(ctx, m)
	if fault.KindOf(sent) == fault.Internal && sent != nil {
		return TestedChannel{}, sent
	}
	r, err := s.log.LogSent(ctx, m, a, sent)
	out := TestedChannel{DeliveryID: r.ID, Delivered: sent == nil, Status: a.Status, Message: a.Message}
	if sent != nil {
		out.Message = fault.CleanText(fault.Message(sent), 400)
	}
	return out, err
}

// message returns a message that a user sends to a channel.
func (s *service) message(ctx context.Context, channelID string, e event.Event) delivery.Message {
	return delivery.Message{
		ID: delivery.NewID(s.p.Clock.Now()), Org: identity.CallerOrg(ctx),
		Target: delivery.Target{Kind: delivery.Channel, ID: channelID},
		Events: []event.Event{e}, Total: 1,
	}
}

func (s *service) send(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.senders[m.Target.Kind].Send(ctx, m)
}

// SharedMessage is the body of POST /notifications/share/recommendation/{recID}.
type SharedMessage struct {
	ChannelIDs []string `json:"channelIDs" minItems:"1" maxItems:"50"`
	Message    string   `json:"message,omitempty" maxLength:"2000"`
}

type shareInput struct {
	RecID string `path:"recID" maxLength:"64"`
	Body  SharedMessage
}

// SharedRecommendation is the number of channels that a recommendation was sent to.
type SharedRecommendation struct {
	Sent   int `json:"sent"`
	Failed int `json:"failed"`
}

func (s *service) share(ctx context.Context, in *shareInput) (SharedRecommendation, error) {
	c := identity.CallerFrom(ctx)
	rec, err := s.readRecommendation(ctx, in.RecID)
	if err != nil {
		return SharedRecommendation{}, err
	}
	ids := slices.Compact(slices.Sorted(slices.Values(in.Body.ChannelIDs)))
	if err = s.checkChannels(ctx, ids); err != nil {
		return SharedRecommendation{}, err
	}
	rec.SharedBy = c.Email
	data, err := json.Marshal(rec)
	if err != nil {
		return SharedRecommendation{}, fmt.Errorf("encode recommendation %s: %w", rec.ID, err)
	}
	e := event.Event{
		Key: notification.RecommendationShared, ScopeType: event.ScopeOrg, At: s.p.Clock.Now(),
		Subject: rec.ID, Data: data,
	}
	out, err := s.sendAll(ctx, ids, e, in.Body.Message)
	audit.NoteChange(ctx, audit.Change{Target: rec.ID, After: out})
	return out, err
}

func (s *service) checkChannels(ctx context.Context, ids []string) error {
	all, err := s.store.ListChannels(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range all {
		known[all[i].ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			return fault.New(fault.Invalid,
				"channelIDs: %.64q: there is no such channel; send the ids of those that exist", id)
		}
	}
	return nil
}

// sendAll sends to channels concurrently and counts the results.
func (s *service) sendAll(ctx context.Context, ids []string, e event.Event, text string) (SharedRecommendation, error) {
	var g errgroup.Group
	var sent atomic.Int64
	g.SetLimit(sideBySide)
	for _, id := range ids {
		g.Go(func() error {
			m := s.message(ctx, id, e)
			m.Text = text
			a, err := s.send(ctx, m)
			if err == nil {
				sent.Add(1)
			}
			_, failed := s.log.LogSent(ctx, m, a, err)
			return failed
		})
	}
	err := g.Wait()
	n := int(sent.Load())
	return SharedRecommendation{Sent: n, Failed: len(ids) - n}, err
}
