package auth

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/foundation/fault"
)

// How often something may be done. A source is where requests come from; many people may share one.
var (
	codesAtOnce    = ratelimit.Rule{Name: "codes-at-once", Max: 1, Per: time.Minute} // mailed to one address for one purpose
	codesAnHour    = ratelimit.Rule{Name: "codes", Max: 5, Per: time.Hour}           // the same
	codesOfSource  = ratelimit.Rule{Name: "codes-source", Max: 20, Per: time.Hour}
	signUpsASource = ratelimit.Rule{Name: "signups-source", Max: 20, Per: time.Hour}
	codesTried     = ratelimit.Rule{Name: "otp-source", Max: 60, Per: 15 * time.Minute}
	refreshes      = ratelimit.Rule{Name: "refresh-source", Max: 1000, Per: 15 * time.Minute}
	signIns        = ratelimit.Rule{Name: "signin-source", Max: 300, Per: 15 * time.Minute}

	failuresHere     = ratelimit.Rule{Name: "login", Max: 10, Per: 15 * time.Minute} // of one address at one source
	failuresOfSource = ratelimit.Rule{Name: "login-source", Max: 100, Per: 15 * time.Minute}
	failuresOfAll    = ratelimit.Rule{Name: "login-address", Max: 50, Per: time.Hour} // of one address, wherever they come from
)

// source is where the request of ctx comes from.
func source(ctx context.Context) string { return ratelimit.Source(rest.SourceIP(ctx)) }

// take counts one use; without one left it is fault.Denied: the interface documents no 429 for these operations. A counter
// that fails is logged and stops nobody.
func (s *service) take(ctx context.Context, r ratelimit.Rule, who string) error {
	ok, err := ratelimit.Take(ctx, s.Table, s.Clock.Now(), r, who)
	if err != nil {
		s.Log.ErrorContext(ctx, "a limit was not counted", "rule", r.Name, "error", err.Error())
	}
	if ok {
		return nil
	}
	return fault.New(fault.Denied, "too many attempts: wait %s and try again", spoken(r.Per))
}

func spoken(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return "an hour"
	case d > time.Minute:
		return "a quarter of an hour"
	}
	return "a minute"
}

// use is a rule with who uses it.
type use struct {
	ratelimit.Rule
	who string
}

// guess counts a log-in as a failure before it is one, so that parallel guesses get no more tries than serial ones, and
// before the password is looked at, which costs most. Whether there is an account does not matter. In this order, one
// source alone cannot use up what an address has. Call forgive when it was none.
func (s *service) guess(ctx context.Context, address string) (forgive func(context.Context), err error) {
	who, from, at := identity.Digest(s.Settings.Pepper, "email", address), source(ctx), s.Clock.Now()
	uses := []use{{failuresHere, who + " " + from}, {failuresOfSource, from}, {failuresOfAll, who}}
	for _, u := range uses {
		if err = s.take(ctx, u.Rule, u.who); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) {
		ctx = context.WithoutCancel(ctx) // who went away has not failed either
		for _, u := range uses {
			if err := ratelimit.Return(ctx, s.Table, at, u.Rule, u.who); err != nil {
				s.Log.ErrorContext(ctx, "a limit was not given back", "rule", u.Name, "error", err.Error())
			}
		}
	}, nil
}
