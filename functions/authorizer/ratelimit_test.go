package authorizer

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// setOffset moves the clock to the offset within the next minute, so that a test owns the whole of it.
func setOffset(c *clock.Manual, offset time.Duration) {
	c.Advance(c.Now().Truncate(time.Minute).Add(time.Minute + offset).Sub(c.Now()))
}

// check 68: twelve authorizers, as twelve Lambda environments, two hundred requests each, all at once.
func TestAHundredRequestsAMinuteExactly(t *testing.T) {
	fx := apitest.New(t)
	setOffset(fx.Clock, 0)
	header := enterOrg(fx, org)
	functions := make([]Function, 12)
	for i := range functions {
		functions[i] = Handler(fx.Platform)
	}
	for _, minute := range []string{"first", "second"} {
		allowed, denied := sendStorm(functions, header, 200)
		if allowed != perMinute || denied != 12*200-perMinute {
			t.Errorf("%s minute: %d allowed, %d denied", minute, allowed, denied)
		}
		setOffset(fx.Clock, 0)
	}
}

// sendStorm fires n requests at each function, all at once.
func sendStorm(functions []Function, header string, n int) (allowed, denied int64) {
	var wg sync.WaitGroup
	var yes, no atomic.Int64
	start := make(chan struct{})
	for _, f := range functions {
		for range n {
			wg.Go(func() {
				<-start
				switch verdictOf(f, header) {
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

// check 67.
func TestWindowsAreClockMinutes(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	setOffset(fx.Clock, 59*time.Second+900*time.Millisecond)
	for range perMinute {
		if got := verdictOf(f, header); got != "Allow" {
			t.Fatal(got)
		}
	}
	if got := verdictOf(f, header); got != "Deny" {
		t.Errorf("the 101st: %s", got)
	}
	fx.Clock.Advance(100 * time.Millisecond)
	if got := verdictOf(f, header); got != "Allow" {
		t.Errorf("at the next minute's start: %s", got)
	}
}

// check 69.
func TestOrganizationsDoNotShareAMinute(t *testing.T) {
	fx := apitest.New(t)
	mine := enterOrg(fx, org)
	theirs := enterOrg(fx, "org_01k8z3v5y0e6m9x2q4t7r1c8be")
	none := enterOrg(fx, "")
	f := Handler(fx.Platform)
	for range perMinute {
		verdictOf(f, mine)
	}
	for name, c := range map[string]struct{ header, want string }{
		"the one that is used up": {mine, "Deny"},
		"another organization":    {theirs, "Allow"},
		"the user without one":    {none, "Allow"},
	} {
		if got := verdictOf(f, c.header); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for range perMinute - 1 {
		verdictOf(f, none)
	}
	if got := verdictOf(f, none); got != "Deny" {
		t.Errorf("the user's own minute does not end: %s", got)
	}
}

// check 69.
func TestARefusedCredentialTakesNothingFromTheMinute(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	fx.Change(identity.SessionKey(sid), table.Set("state", identity.SessionOut))
	for range 2 * perMinute {
		verdictOf(f, header)
	}
	fx.Change(identity.SessionKey(sid), table.Set("state", identity.SessionLive))
	for i := range perMinute {
		if got := verdictOf(f, header); got != "Allow" {
			t.Fatalf("request %d: %s", i+1, got)
		}
	}
}

func TestAUsedUpMinuteIsRemembered(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	for range perMinute + 1 {
		verdictOf(f, header)
	}
	ctx, m := table.WithMeter(context.Background())
	apitest.Value(f(ctx, newRequest(header)))(t)
	if u := m.Usage(); u.WriteUnits != 0 || u.RoundTrips != 1 {
		t.Errorf("a refusal costs %+v", u)
	}
}

// lossyStore loses the first count of a minute on its way to the store.
type lossyStore struct {
	table.Store

	lost atomic.Bool
}

func (s *lossyStore) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if strings.HasPrefix(w.Item.PK, "RATE#") && s.lost.CompareAndSwap(false, true) {
		return table.Item{}, table.ErrLost
	}
	return s.Store.Write(ctx, w)
}

func TestALostCountLetsNoRequestPassAboveTheLimit(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	for range perMinute {
		verdictOf(f, header)
	}
	fx.Table = &lossyStore{Store: fx.Table}
	if got := verdictOf(Handler(fx.Platform), header); got != "Deny" {
		t.Errorf("the 101st, whose count was lost: %s", got)
	}
}

// check 70.
func TestWhenTheStoreFails(t *testing.T) {
	for name, c := range map[string]struct {
		fault table.Injection
		want  string
	}{
		"the counter is throttled: who floods is refused": {
			table.Injection{Harm: table.Throttle, PK: "RATE#"},
			"Deny",
		},
		"the counter is down: the request passes": {
			table.Injection{Harm: table.FailBefore, PK: "RATE#"},
			"Allow",
		},
		"the counter's reply is lost: the request passes": {
			table.Injection{Harm: table.FailAfter, PK: "RATE#"},
			"Allow",
		},
		"the session cannot be read: nobody is let through": {
			table.Injection{Harm: table.FailBefore, PK: "SESS#"},
			"error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			fx := apitest.New(t)
			header := enterOrg(fx, org)
			fx.Table = table.NewFaultyStore(fx.Table, fx.Clock, c.fault)
			got, err := askFunction(Handler(fx.Platform), header)
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
