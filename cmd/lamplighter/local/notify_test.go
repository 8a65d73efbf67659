package local

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"lamplighter.dev/functions/notifier"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
)

// subscriber is the only receiver of all events. It does not answer at first.
type subscriber struct {
	told chan delivery.Message
}

func (subscriber) Match(_ context.Context, _ string, events []event.Event) ([][]delivery.Target, error) {
	return slices.Repeat([][]delivery.Target{{{Kind: delivery.Webhook, ID: "wh_1"}}}, len(events)), nil
}

func (s subscriber) Send(_ context.Context, m delivery.Message) (delivery.Answer, error) {
	s.told <- m
	return delivery.Answer{Status: 204}, nil
}

// The loops alone notify a subscriber of a requested stop.
func TestTheLoopsTellOfWhatHappens(t *testing.T) {
	s := subscriber{make(chan delivery.Message, 100)}
	r := notifier.Receivers{
		Matchers: []delivery.Matcher{s},
		Senders:  map[delivery.Kind]delivery.Sender{delivery.Webhook: s},
	}
	service, err := Open(Options{
		Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1",
		Receivers: &r,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	ctx, stop := context.WithCancel(t.Context())
	srv := httptest.NewServer(service)
	defer srv.Close()
	demo, err := service.Demo(ctx, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { service.Run(ctx); close(done) }()
	defer func() { stop(); <-done }()
	client := NewClient(srv.URL)
	if _, err = client.enter(ctx, demo.Password); err != nil {
		t.Fatal(err)
	}
	err = client.Do(ctx, http.MethodPost, "/actions", map[string]any{
		"type": "stop", "resourceUID": demo.UID, "resourceType": demo.Type, "provider": demo.Provider,
		"cloudAccountID": demo.CloudAccountID, "region": demo.Region,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for m := range s.told { // the demo has anomalies, too
		if e := m.Events[0]; e.Key == event.ResourceStopped && e.ScopeID == demo.UID {
			break
		}
	}
}
