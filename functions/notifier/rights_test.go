package notifier

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/functions/notifications"
	"lamplighter.dev/functions/roles"
	"lamplighter.dev/functions/users"
	"lamplighter.dev/functions/webhooks"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// rights is an organization with the owner olga, a server for webhooks, and the notifier under its own declaration.
type rights struct {
	*apitest.Fixture
	notifier *Notifier
	url      string
	cursor   string
	mu       sync.Mutex
	got      []string // the received bodies
	status   int      // of the answers
}

func newRights(t *testing.T) *rights {
	t.Helper()
	f := &rights{Fixture: apitest.New(t), status: http.StatusOK}
	f.Settings.PrivateAddresses = true
	f.Mount(webhooks.Operations, notifications.Operations, users.Operations, roles.Operations)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		b := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(b)
		f.got = append(f.got, string(b))
		w.WriteHeader(f.status)
	}))
	t.Cleanup(srv.Close)
	f.url = srv.URL
	p := f.Clone()
	p.Own(Declaration)
	f.notifier = New(p, Everybody(p))
	f.Join(org, "olga", "owner")
	return f
}

// member adds a member with grants and returns it as a caller.
func (f *rights) member(name string, grants ...string) identity.Caller {
	f.Helper()
	f.Must(f.People.JoinOrganisation(f.Context(), org, f.User(name), apitest.Grants(grants...)))
	return apitest.Caller(org, name, grants...)
}

// role creates a role with policies, and a member with only this role.
func (f *rights) role(name string, policies ...string) identity.Caller {
	f.Helper()
	r := apitest.Data[struct{ ID string }](f.Call(f.Authorized(org, "olga"), "POST /roles",
		map[string]any{"name": name, "policies": policies}))
	m := f.Join(org, name)
	a := f.Call(f.Authorized(org, "olga"), "POST /assignments",
		map[string]any{"email": m.Email, "roleID": r.ID, "scope": "org"})
	a.Want(200)
	return f.Authorized(org, name)
}

// tell delivers an event and returns the number of requests and mails that it caused.
func (f *rights) tell(e event.Event) (requests, mails int) {
	f.Helper()
	f.Clock.Advance(2 * time.Minute)
	before, queued := len(f.got), f.notices()
	e.At, e.Data = f.Clock.Now(), []byte("{}")
	put, err := event.Put(org, id.New("x", f.Clock.Now()), f.Clock.Now(), e)
	f.Must(err)
	f.Must(f.Table.Transact(f.In(org), put))
	feed := apitest.Value(f.Table.Feed(table.Within(f.Context(), table.OutboxSuffix), f.cursor, 1000))(f)
	f.cursor = feed.Next
	if failed := f.notifier.Deliver(f.Context(), feed.Items); len(failed) > 0 {
		f.Fatalf("%+v", failed)
	}
	return len(f.got) - before, f.notices() - queued
}

// notices returns the number of waiting mails about events.
func (f *rights) notices() (n int) {
	f.Helper()
	for _, m := range f.Mails() {
		if m.Template == mail.Notification {
			n++
		}
	}
	return n
}

// told returns the mails to owners about ended rights.
func (f *rights) told() (out []string) {
	f.Helper()
	for _, m := range f.Mails() {
		if m.Template == mail.RightsEnded {
			out = append(out, m.To+": "+m.Data["what"])
		}
	}
	return out
}

func (f *rights) want(what string, e event.Event, requests, mails int) {
	f.Helper()
	if r, m := f.tell(e); r != requests || m != mails {
		f.Errorf("%s: %d requests and %d mails, want %d and %d", what, r, m, requests, mails)
	}
}

var (
	budget = event.Event{Key: "budget.exceeded", ScopeType: event.ScopeOrg, Subject: "bud_1"}
	failed = event.Event{Key: event.ResourceFailed, ScopeType: event.ScopeResource, ScopeID: "i-0", Subject: "act_1"}
)

type pausable struct {
	ID, Status   string
	PausedReason *string
}

func (f *rights) webhook(c identity.Caller) pausable {
	f.Helper()
	return apitest.Data[pausable](f.Call(c, "POST /webhooks", map[string]any{"name": "Of " + c.User, "url": f.url}))
}

// channel creates a mail channel with a subscription to events of a key in the whole organization.
func (f *rights) channel(c identity.Caller, key string) (channel, sub pausable) {
	f.Helper()
	channel = apitest.Data[pausable](f.Call(c, "POST /notifications/channels",
		fmt.Sprintf(`{"type":"email","name":%q,"config":{"email":"me@example.com"}}`, key+c.User)))
	sub = apitest.Data[pausable](f.Call(c, "POST /notifications/subscriptions",
		fmt.Sprintf(`{"channelID":%q,"eventType":%q,"scopeType":"org"}`, channel.ID, key)))
	return channel, sub
}

func TestReceivers_GetNothingThatTheirMakersMayNotRead(t *testing.T) {
	f := newRights(t)
	hooker := f.role("hook", "webhooks:read", "webhooks:write")
	if w := f.webhook(hooker); w.Status != "paused" || w.PausedReason == nil ||
		!strings.Contains(*w.PausedReason, "budgets:read") {
		t.Errorf("%+v", w)
	}
	noter := f.role("note", "notifications:read", "notifications:write")
	f.channel(noter, budget.Key)
	f.channel(noter, failed.Key)
	f.Call(noter, "POST /notifications",
		`{"channel":"email","webhookURL":"me@example.com","notifyOnFailure":true}`).Want(200)
	f.want("a budget", budget, 0, 0)
	f.want("a failure", failed, 0, 0)
	half := f.role("half", "webhooks:read", "webhooks:write", "resources:read")
	if w := f.webhook(half); w.Status != "active" {
		t.Errorf("%+v", w)
	}
	f.want("a budget, to who reads resources", budget, 0, 0)
	f.want("a failure, to who reads resources", failed, 1, 0)
	f.webhook(f.Authorized(org, "olga"))
	f.want("a budget, to an owner", budget, 1, 0)
}

func TestReceivers_GetOnlyWhatLiesInTheScopeOfTheirMakers(t *testing.T) {
	f := newRights(t)
	ids := inventorytest.Discover(f.Fixture, org, "aws-ec2", inventorytest.Instances(2)...)
	tim := f.member("tim", "editor")
	f.webhook(tim)
	f.channel(tim, failed.Key)
	f.want("of all", failed, 1, 1)
	f.Must(f.People.ReplaceGrants(f.Context(), org, f.Member(org, "tim"), apitest.Grants("editor resource:"+ids[0])))
	f.want("of the resource in scope", failed, 1, 1)
	other := failed
	other.ScopeID = "i-1"
	f.want("of another one", other, 0, 0)
	f.want("of the organization", budget, 0, 0)
}

func TestReceivers_WhoChangesTheAddressTakesAwayTheRightOfTheMakerBefore(t *testing.T) {
	f := newRights(t)
	olga := f.Authorized(org, "olga")
	w := f.webhook(olga)
	c, _ := f.channel(olga, budget.Key)
	f.want("at first", budget, 1, 1)
	noter := f.role("note", "notifications:read", "notifications:write", "webhooks:read", "webhooks:write")
	f.Call(noter, "PUT /webhooks/"+w.ID, `{"name":"Renamed"}`).Want(200)
	f.want("when it was renamed", budget, 1, 1)
	f.Call(noter, "PUT /notifications/channels/"+c.ID, `{"config":{"email":"thief@example.com"}}`).Want(200)
	f.Call(noter, "PUT /webhooks/"+w.ID, map[string]any{"url": f.url + "/thief"}).Want(200, "paused")
	f.want("when it leads elsewhere", budget, 0, 0)
	f.Call(olga, "PUT /webhooks/"+w.ID, map[string]any{"url": f.url}).Want(200, `"active"`)
	f.want("when an owner has taken it over", budget, 1, 0)
}

func TestReceivers_ArePausedAndOwnersAreToldOnceWhenTheMakerLeaves(t *testing.T) {
	f := newRights(t)
	olga := f.Authorized(org, "olga")
	eli := f.member("eli", "admin")
	w := f.webhook(eli)
	c, sub := f.channel(eli, budget.Key)
	now := f.Clock.Now()
	apitest.Value(scheduling.New(f.Platform).CreateSchedule(f.In(org), org, scheduling.Schedule{
		ID: id.New("sch", now), Name: "Nights", Timezone: "UTC", Enabled: true, Maker: eli.User, CreatedBy: eli.Email,
		Crons: []scheduling.CronLine{{ID: "cron_1", Expression: "0 19 * * *", Action: "stop"}},
	}))(f)
	f.want("at first", budget, 1, 1)
	f.Call(olga, "DELETE /users/"+eli.Email).Want(200)
	f.want("at once", budget, 0, 0)
	for range 3 {
		f.Must(f.notifier.Round(f.Context()))
	}
	for _, path := range []string{"/webhooks/" + w.ID, "/notifications/channels", "/notifications/subscriptions"} {
		f.Call(olga, "GET "+path).Want(200, "is no active member")
	}
	if told := f.told(); len(told) != 1 || !strings.HasPrefix(told[0], "olga@") || !strings.Contains(told[0], w.ID) ||
		!strings.Contains(told[0], c.ID) ||
		!strings.Contains(told[0], sub.ID) || !strings.Contains(told[0], "Nights") ||
		!strings.Contains(told[0], "stays") {
		t.Errorf("told %q", told)
	}
	if left := apitest.Value(membership.ReadReviews(f.Context(), f.Table))(t); len(left) != 0 {
		t.Errorf("%+v is to be done yet", left)
	}
}

func TestReceivers_FollowTheRoleOfTheirMaker(t *testing.T) {
	f := newRights(t)
	olga := f.Authorized(org, "olga")
	r := apitest.Data[struct{ ID string }](f.Call(olga, "POST /roles",
		`{"name":"Hooks","policies":["webhooks:read","webhooks:write","budgets:read"]}`))
	ann := f.Join(org, "ann")
	f.Call(olga, "POST /assignments", map[string]any{"email": ann.Email, "roleID": r.ID, "scope": "org"}).Want(200)
	w := f.webhook(f.Authorized(org, "ann"))
	set := func(policies, status string) {
		t.Helper()
		f.Call(olga, "PUT /roles/"+r.ID, `{"policies":[`+policies+`]}`).Want(200)
		f.Must(f.notifier.Round(f.Context()))
		f.Call(olga, "GET /webhooks/"+w.ID).Want(200, `"status":"`+status+`"`)
	}
	set(`"webhooks:read"`, "paused")
	f.Equal("mails", len(f.told()), 1)
	f.want("without the right", budget, 0, 0)
	set(`"webhooks:read","budgets:read"`, "active")
	f.want("with the right again", budget, 1, 0)
	f.Equal("mails", len(f.told()), 1)
}

// TestReceivers_ATryAfterTheMakerHasLeftSendsNothing checks that a pending retry is not sent after the maker has left.
func TestReceivers_ATryAfterTheMakerHasLeftSendsNothing(t *testing.T) {
	f := newRights(t)
	eli := f.member("eli", "admin")
	f.webhook(eli)
	f.status = http.StatusInternalServerError
	f.want("that fails", budget, 1, 0)
	f.Must(f.People.RemoveMember(f.Context(), org, f.Member(org, "eli")))
	f.status = http.StatusOK
	for range 600 {
		f.Clock.Advance(time.Minute)
		f.Must(f.notifier.Round(f.Context()))
	}
	f.Equal("requests", len(f.got), 1)
}

// TestReceivers_AnOlderOneIsPausedWhenItsMakerLeaves: a webhook from before receivers named their makers has only the
// maker's address.
func TestReceivers_AnOlderOneIsPausedWhenItsMakerLeaves(t *testing.T) {
	f := newRights(t)
	eli := f.member("eli", "admin")
	w := f.webhook(eli)
	k := table.Key{PK: table.OrgPK(org) + "WEBHOOK", SK: w.ID}
	f.Change(k, table.Remove("maker"), table.Remove("makerEmail"))
	f.want("while its maker is a member", budget, 1, 0)
	f.Must(f.People.RemoveMember(f.Context(), org, f.Member(org, "eli")))
	f.Must(f.notifier.Round(f.Context()))
	f.want("when its maker has left", budget, 0, 0)
	f.Call(f.Authorized(org, "olga"), "GET /webhooks/"+w.ID).Want(200, "paused")
}
