package notification_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/ssrfguardtest"
)

// lead makes a channel with an address and bypasses the rules for addresses.
func lead(f *apitest.Fixture, of notification.Type, address string) string {
	f.Helper()
	c := notification.Channel{ID: id.New("chn", f.Clock.Now()), Type: of, Name: id.New("chn", f.Clock.Now())}
	var err error
	c.Sealed, err = f.Sealer.Seal(f.Context(), seal.Place{Org: org, Kind: notification.Secret, ID: c.ID},
		[]byte(address))
	f.Must(err)
	return apitest.Value(notification.NewStore(f.Platform).CreateChannel(f.In(org), org, c))(f).ID
}

// failed returns a message to a receiver about a failed resource.
func failed(f *apitest.Fixture, kind delivery.Kind, to string) delivery.Message {
	e := event.Event{
		ID: "event_1", Key: event.ResourceFailed, ScopeType: event.ScopeResource, ScopeID: "i-0",
		At: f.Clock.Now(), Data: []byte(`{"resourceName":"web-1"}`),
	}
	return delivery.Message{
		ID: delivery.NewID(f.Clock.Now()), Org: org, Target: delivery.Target{Kind: kind, ID: to},
		Events: []event.Event{e}, Total: 1,
	}
}

func send(f *apitest.Fixture, m delivery.Message) (delivery.Answer, error) {
	return notification.NewSenders(f.Platform)[m.Target.Kind].Send(f.Context(), m)
}

func TestSend_WhatAnAnswerMeans(t *testing.T) {
	const later = 90 * time.Second
	for name, tt := range map[string]struct {
		of     notification.Type
		status int
		said   string
		taken  bool
		kind   fault.Kind
		gone   bool
		retry  time.Duration
	}{
		"slack has it": {of: notification.Slack, status: 200, said: "ok", taken: true},
		"a page that is not slack's": {
			of: notification.Slack, status: 200, said: "<html>welcome</html>",
			kind: fault.Invalid,
		},
		"slack has no such webhook": {
			of: notification.Slack, status: 404, said: "no_service",
			kind: fault.Invalid, gone: true,
		},
		"slack has archived it": {
			of: notification.Slack, status: 410, said: "channel_is_archived",
			kind: fault.Invalid, gone: true,
		},
		"slack refuses what it is sent": {
			of: notification.Slack, status: 400, said: "invalid_blocks",
			kind: fault.Invalid,
		},
		"slack has had too many": {
			of: notification.Slack, status: 429, said: "rate_limited",
			kind: fault.Unavailable, retry: later,
		},
		"slack is down": {
			of: notification.Slack, status: 503, said: "", kind: fault.Unavailable,
			retry: later,
		},
		"teams has it": {of: notification.Teams, status: 202, taken: true},
		"teams has no such workflow": {
			of: notification.Teams, status: 404, said: "WorkflowNotFound",
			kind: fault.Invalid, gone: true,
		},
		"teams has had too many": {
			of: notification.Teams, status: 429, kind: fault.Unavailable,
			retry: later,
		},
		"google chat has it":               {of: notification.GoogleChat, status: 200, said: "{}", taken: true},
		"google chat has no such space":    {of: notification.GoogleChat, status: 404, kind: fault.Invalid, gone: true},
		"google chat refuses the key":      {of: notification.GoogleChat, status: 403, kind: fault.Invalid},
		"somebody sends us somewhere else": {of: notification.Teams, status: 302, kind: fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			f := apitest.New(t)
			var asked atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Retry-After", "90")
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.said)
			}))
			defer srv.Close()
			m := failed(f, delivery.Channel, lead(f, tt.of, srv.URL+"/secret"))
			a, err := send(f, m)
			if a.Status != tt.status || (err == nil) != tt.taken || err != nil && !fault.Is(err, tt.kind) ||
				a.Gone != tt.gone || a.RetryAfter != tt.retry {
				t.Errorf("%+v, %v", a, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the address is told: %v", err)
			}
			if _, err = send(f, m); tt.gone && (!fault.Is(err, fault.Invalid) || asked.Load() != 1) {
				t.Errorf("one that is gone was asked %d times: %v", asked.Load(), err)
			}
		})
	}
}

func TestSend_WhatIsSaidIsBoundedAndClean(t *testing.T) {
	f := apitest.New(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, "bad\x1b[31m\r\n"+strings.Repeat("x", 1<<10))
	}))
	defer srv.Close()
	a, err := send(f, failed(f, delivery.Channel, lead(f, notification.Slack, srv.URL)))
	if len([]rune(a.Message)) != 200 || strings.ContainsAny(a.Message, "\x1b\r\n") || !fault.Is(err, fault.Invalid) {
		t.Errorf("%q, %v", a.Message, err)
	}
}

func TestSend_OneThatDoesNotAnswerFailsWithoutItsAddress(t *testing.T) {
	f := apitest.New(t)
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	a, err := send(f, failed(f, delivery.Channel, lead(f, notification.Slack, srv.URL+"/services/secret")))
	if !fault.Is(err, fault.Unavailable) || a.Status != 0 || strings.Contains(err.Error(), "secret") ||
		strings.Contains(fmt.Sprintf("%+v", err), "services") {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSend_GoogleChatAnswersInTheThread(t *testing.T) {
	f := apitest.New(t)
	var query url.Values
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		query, body = r.URL.Query(), string(b)
	}))
	defer srv.Close()
	if _, err := send(f,
		failed(f, delivery.Channel,
			lead(f, notification.GoogleChat, srv.URL+"/v1/spaces/x/messages?key=k&token=t"))); err != nil {
		t.Fatal(err)
	}
	if query.Get("messageReplyOption") != "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD" || query.Get("key") != "k" ||
		query.Get("token") != "t" || !strings.Contains(body, `"threadKey"`) {
		t.Errorf("%v %s", query, body)
	}
}

func TestSend_ToWhatIsGoneIsForgotten(t *testing.T) {
	f := apitest.New(t)
	f.Join(org, "ada", "viewer")
	s := notification.NewStore(f.Platform)
	deleted := lead(f, notification.Slack, "https://hooks.slack.com/x")
	f.Must(s.DeleteChannel(f.In(org), org, deleted))
	for name, m := range map[string]delivery.Message{
		"a channel that was deleted":     failed(f, delivery.Channel, deleted),
		"a configuration that never was": failed(f, delivery.Legacy, "ntf_01k6v0e4y0c2b7m9q8r5t3w1xz"),
		"a user who never asked":         failed(f, delivery.Email, "usr_ada"),
		"nobody":                         failed(f, delivery.Email, "usr_nobody"),
	} {
		if _, err := send(f, m); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if mails := f.Mails(); len(mails) != 0 {
		t.Errorf("%+v", mails)
	}
}

func TestSend_AMailIsQueuedOnceADelivery(t *testing.T) {
	f := apitest.New(t)
	f.Join(org, "ada", "viewer")
	want(f, "ada")
	m := failed(f, delivery.Email, "usr_ada")
	for range 2 { // as if the first delivery was not recorded
		if a, err := send(f, m); err != nil || a.Message == "" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	mails := f.Mails()
	if len(mails) != 1 || mails[0].To != "ada@example.com" ||
		!strings.HasPrefix(mails[0].Letter.Unsubscribe, f.Settings.BaseURL+"/unsubscribe/") {
		t.Fatalf("%+v", mails)
	}
	if l := mails[0].Letter; l.Subject != "Start or stop failed" || !strings.Contains(l.Text, "web-1") ||
		!strings.Contains(l.HTML, "Engines") {
		t.Errorf("%+v", l)
	}
}

func TestSend_ALegacyConfigurationKeepsBeingTold(t *testing.T) {
	f := apitest.New(t)
	var bodies atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		bodies.Add(1)
		io.WriteString(w, "ok")
	}))
	defer srv.Close()
	s := notification.NewStore(f.Platform)
	l := notification.Legacy{ID: id.New("ntf", f.Clock.Now()), Channel: notification.Slack, OnFailure: true}
	f.Must(s.PointLegacy(f.In(org), org, &l, srv.URL+"/x"))
	l = apitest.Value(s.WriteLegacy(f.In(org), org, notification.Legacy{}, l))(f)
	if a, err := send(f, failed(f, delivery.Legacy, l.ID)); err != nil || a.Status != 200 || bodies.Load() != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	next := l
	next.OnFailure = false
	apitest.Value(s.WriteLegacy(f.In(org), org, l, next))(f)
	if _, err := send(f, failed(f, delivery.Legacy, l.ID)); !fault.Is(err, fault.NotFound) || bodies.Load() != 1 {
		t.Errorf("one that was switched off: %v", err)
	}
}

// A hostile address is refused when it is registered. If it is in the store already, a send does not dial it.
func TestHostileAddressesAreReachedNowhere(t *testing.T) {
	f := apitest.New(t)
	f.Settings.PrivateAddresses = false
	var open []string // an operator who allows all hosts
	for _, a := range ssrfguardtest.Hostile {
		if u, err := url.Parse(a); err == nil && u.Hostname() != "" {
			open = append(open, strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
		}
	}
	if len(ssrfguardtest.Hostile) < 72 {
		t.Fatalf("%d addresses, where 72 belong", len(ssrfguardtest.Hostile))
	}
	for _, allowed := range [][]string{nil, open} {
		f.Settings.ChatHosts = allowed
		s := notification.NewStore(f.Platform)
		for _, of := range []notification.Type{notification.Slack, notification.Teams, notification.GoogleChat} {
			for _, address := range ssrfguardtest.Hostile {
				c := notification.Channel{ID: id.New("chn", f.Clock.Now()), Type: of}
				if err := s.Point(f.In(org), org, &c, notification.Address{WebhookURL: address}); !fault.Is(err,
					fault.Invalid) || !strings.HasPrefix(fault.Message(err), "config.webhookURL: ") {
					t.Errorf("%s is taken: %v", address, err)
				}
			}
		}
		for _, address := range ssrfguardtest.Hostile {
			if a, err := send(f, failed(f, delivery.Channel, lead(f, notification.Slack, address))); !fault.Is(err,
				fault.Invalid) || a.Status != 0 {
				t.Errorf("%s is sent to: %+v, %v", address, a, err)
			}
		}
	}
}

// Without Settings.PrivateAddresses, a chat on the loopback is never dialled, even if its host is allowed.
func TestSend_TheLoopbackIsForLaptops(t *testing.T) {
	f := apitest.New(t)
	var reached atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer srv.Close()
	f.Settings.PrivateAddresses, f.Settings.ChatHosts = false, []string{"127.0.0.1", "localhost"}
	for _, address := range []string{
		srv.URL, strings.Replace(srv.URL, "http:", "https:", 1),
		strings.Replace(srv.URL, "127.0.0.1", "localhost", 1),
	} {
		if _, err := send(f, failed(f, delivery.Channel, lead(f, notification.Slack, address))); !fault.Is(err,
			fault.Invalid) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if reached.Load() != 0 {
		t.Errorf("it was reached %d times", reached.Load())
	}
}

func TestRecordHealth_IsOnTheChannelUntilSomethingReachesIt(t *testing.T) {
	f := apitest.New(t)
	s := notification.NewStore(f.Platform)
	to := delivery.Target{Kind: delivery.Channel, ID: channels(f, 1)[0]}
	for _, tt := range []struct {
		h    delivery.Health
		want string
	}{
		{delivery.Health{}, "ok "},
		{delivery.Health{Failing: true, Why: "503", At: f.Clock.Now()}, "failing 503"},
		{delivery.Health{}, "ok "},
		{delivery.Health{Failing: true, Gone: true, Why: "410", At: f.Clock.Now()}, "broken 410"},
		{delivery.Health{}, "ok "},
	} {
		name, err := s.RecordHealth(f.In(org), org, to, tt.h)
		c := apitest.Value(s.ReadChannel(f.In(org), org, to.ID))(f)
		if got := c.Status() + " " + c.BrokenWhy; err != nil || name != "channel 0" || got != tt.want {
			t.Errorf("%+v: %q %q, %v", tt.h, name, got, err)
		}
	}
	if _, err := s.RecordHealth(f.In(org), org, delivery.Target{Kind: delivery.Channel, ID: "chn_gone"},
		delivery.Health{Failing: true}); !fault.Is(err, fault.NotFound) {
		t.Errorf("of one that is gone: %v", err)
	}
}
