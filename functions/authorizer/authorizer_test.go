package authorizer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/clock"
	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/identity/identitytest"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
)

const (
	user = "usr_01k8z3v5y0e6m9x2q4t7r1c8bd"
	org  = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	sid  = "session1"
)

// enter makes the user, a session and, in org, the membership of an operator, and answers the header of a request.
func enter(tb testing.TB, p *platform.Platform, org string) string {
	tb.Helper()
	now := p.Clock.Now()
	put(tb, p, identity.UserKey(user), identity.User{ID: user, Email: "ada@example.com", Verified: true})
	put(tb, p, identity.SessionKey(sid), identity.Session{
		ID: sid, User: user, Org: org, State: identity.SessionLive, Absolute: now.Add(24 * time.Hour).Unix(),
	})
	if org != "" {
		put(tb, p, identity.MemberKey(org, user), identity.Member{
			User: user, Grants: []identity.Grant{{Role: identity.Operator, Scope: identity.OrgScope}},
		})
	}
	return signed(tb, p, org)
}

func signed(tb testing.TB, p *platform.Platform, org string) string {
	tb.Helper()
	now := p.Clock.Now()
	token, err := p.Tokens.Sign(context.Background(), identity.Claims{
		User: user, Org: org, Session: sid, ID: "jti_1", Issued: now, Expires: now.Add(identity.TokenTTL),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return "Bearer " + token
}

func put(tb testing.TB, p *platform.Platform, k table.Key, v any) {
	tb.Helper()
	it, err := table.Row(k, v)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err = p.Table.Write(table.Within(context.Background(), k.PK), table.Put(it)); err != nil {
		tb.Fatal(err)
	}
}

func change(tb testing.TB, p *platform.Platform, k table.Key, c table.Change) {
	tb.Helper()
	w := table.Update(k, []table.Change{c}, table.Exists())
	if _, err := p.Table.Write(table.Within(context.Background(), k.PK), w); err != nil {
		tb.Fatal(err)
	}
}

// request is one with these values of the header Authorization.
func request(authorization ...string) Request {
	return Request{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-west-1:123456789012:api/dev/GET/actions",
		MultiValueHeaders: map[string][]string{"Authorization": authorization, "Host": {"api.example.com"}},
	}
}

func ask(f Function, header string) (events.APIGatewayCustomAuthorizerResponse, error) {
	return f(context.Background(), request(header))
}

// verdict is "Allow", "Deny" or the text of the error.
func verdict(f Function, header string) string {
	got, err := ask(f, header)
	if err != nil {
		return err.Error()
	}
	return got.PolicyDocument.Statement[0].Effect
}

func TestTheCallerIsHandedOn(t *testing.T) {
	p, _ := identitytest.New(t)
	got, err := ask(Handler(p), enter(t, p, org))
	if err != nil {
		t.Fatal(err)
	}
	s := got.PolicyDocument.Statement
	if got.PrincipalID != user || len(s) != 1 || s[0].Effect != "Allow" || !slices.Equal(s[0].Resource, []string{"*"}) ||
		!slices.Equal(s[0].Action, []string{"execute-api:Invoke"}) || got.PolicyDocument.Version != "2012-10-17" {
		t.Errorf("answer %+v", got)
	}
	c, err := identity.Decode(got.Context)
	if err != nil {
		t.Fatal(err)
	}
	if c.User != user || c.Org != org || c.Email != "ada@example.com" || c.Session != sid || c.Method != identity.MethodToken {
		t.Errorf("caller %+v", c)
	}
	if !identity.Allows(c, "actions:execute") || identity.Allows(c, "budgets:write") {
		t.Errorf("grants %+v", c.Grants)
	}
}

func TestAUserWithoutAnOrganizationComesInWithoutGrants(t *testing.T) {
	p, _ := identitytest.New(t)
	got, err := ask(Handler(p), enter(t, p, ""))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := identity.Decode(got.Context); err != nil || c.User != user || c.Org != "" || len(c.Grants) != 0 {
		t.Errorf("caller %+v, %v", c, err)
	}
}

func TestHeaders(t *testing.T) {
	p, _ := identitytest.New(t)
	good := enter(t, p, org)
	token := strings.TrimPrefix(good, "Bearer ")
	f := Handler(p)
	for name, c := range map[string]struct{ header, want string }{
		"as documented":         {good, "Allow"},
		"lower case":            {"bearer " + token, "Allow"},
		"empty":                 {"", "Unauthorized"},
		"no scheme":             {token, "Unauthorized"},
		"Basic":                 {"Basic YWRhOnBhc3N3b3Jk", "Unauthorized"},
		"no token":              {"Bearer ", "Unauthorized"},
		"two blanks":            {"Bearer  " + token, "Unauthorized"},
		"two tokens":            {good + ", " + good, "Unauthorized"},
		"a blank at the end":    {good + " ", "Unauthorized"},
		"a newline at the end":  {good + "\n", "Unauthorized"},
		"an unknown PAT":        {"Bearer lampp_0123456789", "Unauthorized"},
		"a megabyte":            {"Bearer " + strings.Repeat("a", 1<<20), "Unauthorized"},
		"of another deployment": {foreign(t), "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict(f, c.header); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func foreign(t *testing.T) string {
	t.Helper()
	p, _ := identitytest.New(t)
	return signed(t, p, org)
}

// Each change is made under a warm function that has let the token in before, and acts on the next request.
func TestWhatEndsAccessAtOnce(t *testing.T) {
	leave := func(p *platform.Platform) error {
		_, err := p.Table.Write(table.WithTenant(context.Background(), org), table.Delete(identity.MemberKey(org, user)))
		return err
	}
	set := func(k table.Key, field string, v any) func(*platform.Platform) error {
		return func(p *platform.Platform) error {
			w := table.Update(k, []table.Change{table.Set(field, v)}, table.Exists())
			_, err := p.Table.Write(table.Within(context.Background(), k.PK), w)
			return err
		}
	}
	session, profile := identity.SessionKey(sid), identity.UserKey(user)
	for name, c := range map[string]struct {
		do   func(p *platform.Platform) error
		wait time.Duration
		want string
	}{
		"nothing":                      {nil, 0, "Allow"},
		"logging out":                  {set(session, "state", identity.SessionOut), 0, "Unauthorized"},
		"a refresh token used twice":   {set(session, "state", identity.SessionReused), 0, "Unauthorized"},
		"the session of somebody else": {set(session, "user", "usr_eve"), 0, "Unauthorized"},
		"a new password":               {set(profile, "epoch", 1), 0, "Unauthorized"},
		"disabling the user":           {set(profile, "disabled", true), 0, "Unauthorized"},
		"leaving the organization":     {leave, 0, "Unauthorized"},
		"sixteen minutes":              {nil, 16 * time.Minute, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			p, clk := identitytest.New(t)
			header := enter(t, p, org)
			f := Handler(p)
			if got := verdict(f, header); got != "Allow" {
				t.Fatal(got)
			}
			clk.Advance(c.wait)
			if c.do != nil {
				if err := c.do(p); err != nil {
					t.Fatal(err)
				}
			}
			if got := verdict(f, header); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAChangedRoleActsAtOnce(t *testing.T) {
	p, _ := identitytest.New(t)
	header := enter(t, p, org)
	f := Handler(p)
	if _, err := ask(f, header); err != nil {
		t.Fatal(err)
	}
	change(t, p, identity.MemberKey(org, user), table.Set("grants", []identity.Grant{{Role: identity.Viewer, Scope: identity.OrgScope}}))
	got, err := ask(f, header)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := identity.Decode(got.Context); err != nil || identity.Allows(c, "actions:execute") || !identity.Allows(c, "actions:read") {
		t.Errorf("grants %+v, %v", c.Grants, err)
	}
}

func TestAnAuthorizationIsTwoRoundTrips(t *testing.T) {
	p, _ := identitytest.New(t)
	header := enter(t, p, org)
	f := Handler(p)
	for _, state := range []string{"cold", "warm"} {
		ctx, m := table.WithMeter(context.Background())
		if _, err := f(ctx, request(header)); err != nil {
			t.Fatal(err)
		}
		if u := m.Usage(); u.RoundTrips != 2 {
			t.Errorf("%s: %+v", state, u)
		}
	}
	ctx, m := table.WithMeter(context.Background())
	if _, err := f(ctx, request("Bearer nonsense")); err == nil || m.Usage().RoundTrips != 0 {
		t.Errorf("nonsense: %v, %+v", err, m.Usage())
	}
}

// at moves the clock to the offset within the next minute, so that a test owns the whole of it.
func at(c *clock.Manual, offset time.Duration) {
	c.Advance(c.Now().Truncate(time.Minute).Add(time.Minute + offset).Sub(c.Now()))
}

// Twelve authorizers, as twelve Lambda environments, two hundred requests each, all at once.
func TestAHundredRequestsAMinuteExactly(t *testing.T) {
	p, c := identitytest.New(t)
	at(c, 0)
	header := enter(t, p, org)
	functions := make([]Function, 12)
	for i := range functions {
		functions[i] = Handler(p)
	}
	for _, minute := range []string{"first", "second"} {
		allowed, denied := storm(functions, header, 200)
		if allowed != perMinute || denied != 12*200-perMinute {
			t.Errorf("%s minute: %d allowed, %d denied", minute, allowed, denied)
		}
		at(c, 0)
	}
}

// storm fires n requests at each function, all at once.
func storm(functions []Function, header string, n int) (allowed, denied int64) {
	var wg sync.WaitGroup
	var yes, no atomic.Int64
	start := make(chan struct{})
	for _, f := range functions {
		for range n {
			wg.Go(func() {
				<-start
				switch verdict(f, header) {
				case "Allow":
					yes.Add(1)
				case "Deny":
					no.Add(1)
				}
			})
		}
	}
	close(start)
	wg.Wait()
	return yes.Load(), no.Load()
}

func TestWindowsAreClockMinutes(t *testing.T) {
	p, c := identitytest.New(t)
	header := enter(t, p, org)
	f := Handler(p)
	at(c, 59*time.Second+900*time.Millisecond)
	for range perMinute {
		if got := verdict(f, header); got != "Allow" {
			t.Fatal(got)
		}
	}
	if got := verdict(f, header); got != "Deny" {
		t.Errorf("the 101st: %s", got)
	}
	c.Advance(100 * time.Millisecond)
	if got := verdict(f, header); got != "Allow" {
		t.Errorf("at the next minute's start: %s", got)
	}
}

func TestOrganizationsDoNotShareAMinute(t *testing.T) {
	p, _ := identitytest.New(t)
	mine := enter(t, p, org)
	theirs := enter(t, p, "org_01k8z3v5y0e6m9x2q4t7r1c8be")
	none := enter(t, p, "")
	f := Handler(p)
	for range perMinute {
		verdict(f, mine)
	}
	for name, c := range map[string]struct{ header, want string }{
		"the one that is used up": {mine, "Deny"},
		"another organization":    {theirs, "Allow"},
		"the user without one":    {none, "Allow"},
	} {
		if got := verdict(f, c.header); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for range perMinute - 1 {
		verdict(f, none)
	}
	if got := verdict(f, none); got != "Deny" {
		t.Errorf("the user's own minute does not end: %s", got)
	}
}

func TestARefusedCredentialTakesNothingFromTheMinute(t *testing.T) {
	p, _ := identitytest.New(t)
	header := enter(t, p, org)
	f := Handler(p)
	change(t, p, identity.SessionKey(sid), table.Set("state", identity.SessionOut))
	for range 2 * perMinute {
		verdict(f, header)
	}
	change(t, p, identity.SessionKey(sid), table.Set("state", identity.SessionLive))
	for i := range perMinute {
		if got := verdict(f, header); got != "Allow" {
			t.Fatalf("request %d: %s", i+1, got)
		}
	}
}

func TestAUsedUpMinuteIsRemembered(t *testing.T) {
	p, _ := identitytest.New(t)
	header := enter(t, p, org)
	f := Handler(p)
	for range perMinute + 1 {
		verdict(f, header)
	}
	ctx, m := table.WithMeter(context.Background())
	if _, err := f(ctx, request(header)); err != nil {
		t.Fatal(err)
	}
	if u := m.Usage(); u.WriteUnits != 0 || u.RoundTrips != 1 {
		t.Errorf("a refusal costs %+v", u)
	}
}

func TestWhenTheStoreFails(t *testing.T) {
	for name, c := range map[string]struct {
		fault table.Injection
		want  string
	}{
		"the counter is throttled: who floods is refused":   {table.Injection{Harm: table.Throttle, PK: "RATE#"}, "Deny"},
		"the counter is down: the request passes":           {table.Injection{Harm: table.FailBefore, PK: "RATE#"}, "Allow"},
		"the counter's reply is lost: the request passes":   {table.Injection{Harm: table.FailAfter, PK: "RATE#"}, "Allow"},
		"the session cannot be read: nobody is let through": {table.Injection{Harm: table.FailBefore, PK: "SESS#"}, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			p, clk := identitytest.New(t)
			header := enter(t, p, org)
			p.Table = table.Faulty(p.Table, clk, c.fault)
			got, err := ask(Handler(p), header)
			switch {
			case c.want == "error":
				if err == nil || errors.Is(err, errUnauthorized) || !fault.Is(err, fault.Unavailable) {
					t.Errorf("%+v, %v: a failure is no verdict on the caller", got, err)
				}
			case err != nil || got.PolicyDocument.Statement[0].Effect != c.want:
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func BenchmarkAuthorize(b *testing.B) {
	p, c := identitytest.New(b)
	header := enter(b, p, org)
	f := Handler(p)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%perMinute == 0 {
			c.Advance(time.Minute) // else the minute is used up
		}
		if n%(10*perMinute) == 0 { // else the token ends
			b.StopTimer()
			header = signed(b, p, org)
			put(b, p, identity.SessionKey(sid), identity.Session{ID: sid, User: user, Org: org, State: identity.SessionLive, Absolute: p.Clock.Now().Add(24 * time.Hour).Unix()})
			b.StartTimer()
		}
		if got := verdict(f, header); got != "Allow" {
			b.Fatal(got)
		}
	}
}
