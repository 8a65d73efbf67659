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
	// mailed to one address for one purpose
	codesPerMinute       = ratelimit.Rule{Name: "codes-at-once", Max: 1, Per: time.Minute}
	codesPerHour         = ratelimit.Rule{Name: "codes", Max: 5, Per: time.Hour} // the same
	codesPerSource       = ratelimit.Rule{Name: "codes-source", Max: 20, Per: time.Hour}
	signUpsPerSource     = ratelimit.Rule{Name: "signups-source", Max: 20, Per: time.Hour}
	codeTriesPerSource   = ratelimit.Rule{Name: "otp-source", Max: 60, Per: 15 * time.Minute}
	refreshesPerSource   = ratelimit.Rule{Name: "refresh-source", Max: 1000, Per: 15 * time.Minute}
	oauthLoginsPerSource = ratelimit.Rule{Name: "signin-source", Max: 300, Per: 15 * time.Minute}

	// of one address at one source
	loginFailuresPerAddressAndSource = ratelimit.Rule{Name: "login", Max: 10, Per: 15 * time.Minute}
	loginFailuresPerSource           = ratelimit.Rule{Name: "login-source", Max: 100, Per: 15 * time.Minute}
	// of one address, wherever they come from
	loginFailuresPerAddress = ratelimit.Rule{Name: "login-address", Max: 50, Per: time.Hour}
)

// requestSource returns where the request of ctx comes from.
func requestSource(ctx context.Context) string { return ratelimit.SourceOf(rest.SourceIP(ctx)) }

// takeRateLimit counts one use; without one left it is fault.Denied: the interface documents no 429 for these operations. A counter
// that fails is logged and stops nobody.
func (s *service) takeRateLimit(ctx context.Context, r ratelimit.Rule, who string) error {
	ok, err := ratelimit.TakeUse(ctx, s.Table, s.Clock.Now(), r, who)
	if err != nil {
		s.Log.ErrorContext(ctx, "a limit was not counted", "rule", r.Name, "error", err.Error())
	}
	if ok {
		return nil
	}
	return fault.New(fault.Denied, "too many attempts: wait %s and try again", describeDuration(r.Per))
}

func describeDuration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return "an hour"
	case d > time.Minute:
		return "a quarter of an hour"
	}
	return "a minute"
}

// rateLimitUse is a rule with who uses it.
type rateLimitUse struct {
	ratelimit.Rule
	who string
}

// countLoginFailure counts a log-in as a failure before it is one, so that parallel guesses get no more tries than serial ones, and
// before the password is looked at, which costs most. Whether there is an account does not matter. In this order, one
// source alone cannot use up what an address has. Call forgive when it was none.
func (s *service) countLoginFailure(ctx context.Context, address string) (forgive func(context.Context), err error) {
	who, from, at := identity.Digest(s.Settings.Pepper, "email", address), requestSource(ctx), s.Clock.Now()
	uses := []rateLimitUse{{loginFailuresPerAddressAndSource, who + " " + from}, {loginFailuresPerSource, from},
		{loginFailuresPerAddress, who}}
	for _, u := range uses {
		if err = s.takeRateLimit(ctx, u.Rule, u.who); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) {
		ctx = context.WithoutCancel(ctx) // who went away has not failed either
		for _, u := range uses {
			if err := ratelimit.ReturnUse(ctx, s.Table, at, u.Rule, u.who); err != nil {
				s.Log.ErrorContext(ctx, "a limit was not given back", "rule", u.Name, "error", err.Error())
			}
		}
	}, nil
}
