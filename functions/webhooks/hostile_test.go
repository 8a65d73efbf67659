package webhooks

import (
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/ssrfguard"
	"lamplighter.dev/shared/testkit/ssrfguardtest"
)

// TestWebhooks_HostileAddressesAreNotReached is check 60 for webhooks: a hostile address is refused in a request, and
// also if it is in the store.
func TestWebhooks_HostileAddressesAreNotReached(t *testing.T) {
	f := newFixture(t)
	f.Settings.PrivateAddresses = false
	f.Mount(Operations)
	sender := receiver.NewWebhookSender(f.store, f.Platform.Clock, ssrfguard.Policy{}, receiver.NewAudience(f.Platform))
	org := ada.Org
	for _, address := range append([]string{f.URL}, ssrfguardtest.Hostile...) {
		f.Call(ada, "POST /webhooks", map[string]any{"name": "x", "url": address}).Want(http.StatusBadRequest, "url")
		w := receiver.Webhook{Row: receiver.Row{
			ID: id.New(receiver.WebhookPrefix, f.Clock.Now()), Name: "x",
			Enabled: true,
		}}
		f.Must(f.store.Seal(f.In(org), org, &w, &receiver.WebhookSecrets{URL: address, Key: receiver.NewWebhookKey()}))
		f.Must(f.store.Create(f.In(org), org, &w))
		m := delivery.Message{
			ID: delivery.NewID(f.Clock.Now()), Org: org, Target: delivery.Target{Kind: delivery.Webhook, ID: w.ID},
			Events: []event.Event{{Key: "budget.warning", At: f.Clock.Now()}}, Total: 1,
		}
		a, err := sender.Send(f.In(org), m)
		if !fault.Is(err, fault.Invalid) || a.Status != 0 || strings.Contains(fault.Message(err), address) {
			t.Errorf("%q: %+v, %v", address, a, err)
		}
		f.Must(f.store.Delete(f.In(org), org, &w))
	}
	if len(f.came) != 0 {
		t.Errorf("%d requests came", len(f.came))
	}
}
