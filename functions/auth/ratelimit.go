package auth

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/foundation/fault"
)

// These rules limit how often something may be done. A source is the network address of requests; many people may
// share one.
var (
	// mailed to one address for one purpose, by the place that asks for them: a stranger does not use up the owner's.
	codesPerMinute = ratelimit.Rule{Name: "codes-at-once", Max: 1, Per: time.Minute}
	codesPerHour   = ratelimit.Rule{Name: "codes", Max: 5, Per: time.Hour} // the same
	// mailed to one address for one purpose, by the standing of those who ask: the mailbox is not flooded.
	codesPerAddress = map[standing]ratelimit.Rule{
		stranger:    {Name: "codes-stranger", Max: 10, Per: time.Hour},
		knownSource: {Name: "codes-known-source", Max: 10, Per: time.Hour},
		knownDevice: {Name: "codes-known-device", Max: 10, Per: time.Hour},
	}
	codesPerSource       = ratelimit.Rule{Name: "codes-source", Max: 20, Per: time.Hour}
	signUpsPerSource     = ratelimit.Rule{Name: "signups-source", Max: 20, Per: time.Hour}
	codeTriesPerSource   = ratelimit.Rule{Name: "otp-source", Max: 60, Per: 15 * time.Minute}
	refreshesPerSource   = ratelimit.Rule{Name: "refresh-source", Max: 1000, Per: 15 * time.Minute}
	oauthLoginsPerSource = ratelimit.Rule{Name: "signin-source", Max: 300, Per: 15 * time.Minute}
	// wrong passwords of any addresses.
	loginFailuresPerSource = ratelimit.Rule{Name: "login-source", Max: 100, Per: 15 * time.Minute}
)

// requestSource returns the network source of the request in ctx.
func requestSource(ctx context.Context) string { return ratelimit.SourceOf(rest.SourceIP(ctx)) }

// takeRateLimit counts one use. The error is fault.Denied if none is left, because the interface documents no 429 for
// these operations. A failing counter is logged and refuses no request.
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

// rateLimitUse is a rule and its user.
type rateLimitUse struct {
	ratelimit.Rule
	who string
}

// returnRateLimit gives back a use that was counted at the time at.
func (s *service) returnRateLimit(ctx context.Context, u rateLimitUse, at time.Time) {
	if err := ratelimit.ReturnUse(ctx, s.Table, at, u.Rule, u.who); err != nil {
		s.Log.ErrorContext(ctx, "a limit was not given back", "rule", u.Name, "error", err.Error())
	}
}
