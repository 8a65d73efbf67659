// Package authorizer decides before every non-public request who is calling and whether the organization's request
// limit for the minute has room. It takes two round trips to the store and caches no row, so a log-out or a changed
// role acts at once.
package authorizer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/memo"
	"lamplighter.dev/shared/people/attempts"
)

// Function is a Lambda authorizer of type REQUEST. For an error with the text "Unauthorized" API Gateway answers 401,
// for a Deny 429 (the template's ACCESS_DENIED answer, which has no other cause), and for any other error 500.
type Function func(context.Context, Request) (events.APIGatewayCustomAuthorizerResponse, error)

// errUnauthorized has the text that API Gateway requires.
var errUnauthorized = errors.New("Unauthorized") //nolint:staticcheck,revive // the capital is part of the protocol

type authorizer struct {
	*platform.Platform
	rateLimit *requestLimit
	rows      rowCaches
	patUsers  patUserCache
	attempts  *attempts.Attempts
}

// rowCaches map the contents of rows to their decoded values. Every request reads its rows again, but decodes a row
// only if its contents have changed.
type rowCaches struct {
	sessions      *memo.Memo[identity.Session]
	users         *memo.Memo[identity.User]
	members       *memo.Memo[identity.Member]
	access        *memo.Memo[identity.Access]
	tokens        *memo.Memo[identity.PAT]
	organisations *memo.Memo[identity.OrganisationRecord]
}

// Handler returns the authorizer of p.
func Handler(p *platform.Platform) Function {
	a := &authorizer{Platform: p, rateLimit: newRequestLimit(p), attempts: attempts.New(p), rows: rowCaches{
		memo.New(decodeSession), memo.New(decodeUser), memo.New(decodeRow[identity.Member]),
		memo.New(decodeRow[identity.Access]),
		memo.New(decodeRow[identity.PAT]), memo.New(decodeRow[identity.OrganisationRecord]),
	}}
	return a.authorize
}

func decodeRow[T any](row []byte) (T, error) { return table.Decode[T](table.Item{Data: row}) }

func decodeSession(row []byte) (identity.Session, error) {
	s, err := decodeRow[identity.Session](row)
	s.Hash, s.Previous = "", "" // not needed here, so not remembered
	return s, err
}

func decodeUser(row []byte) (identity.User, error) {
	u, err := decodeRow[identity.User](row)
	u.Password = "" // not needed here, so not remembered
	return u, err
}

// identified is the identified caller, with a function that records the use of the token, or nil.
type identified struct {
	identity.Caller
	noteUse func(context.Context)
	// countsUser is set if the user's own limit can be reached before those of the organizations
	countsUser bool
}

// authorize decides about a request, and logs the store usage for the request's organization.
func (a *authorizer) authorize(ctx context.Context, r Request) (events.APIGatewayCustomAuthorizerResponse, error) {
	began := a.Clock.Now()
	metered, meter := table.WithMeter(ctx)
	e, out, err := a.decide(metered, &r)
	if err == nil {
		ended := a.Clock.Now()
		a.Log.LogAttrs(ctx, slog.LevelInfo, "authorized", append(a.Used(ended, meter.Usage(), 0),
			slog.String("org", e.Org), slog.Bool("late", platform.Late(ctx, began, ended)))...)
	}
	return out, err
}

// decide decides about a request. e is the identified caller.
func (a *authorizer) decide(ctx context.Context, r *Request) (e identified,
	out events.APIGatewayCustomAuthorizerResponse, err error,
) {
	e, err = a.identify(ctx, r)
	if fault.Is(err, fault.Unauthenticated) {
		a.Log.DebugContext(ctx, "refused a credential", "why", err.Error(), "ip", r.RequestContext.Identity.SourceIP)
		a.countRefused(ctx, err, r)
		return e, out, errUnauthorized
	}
	if err != nil {
		return e, out, fmt.Errorf("authorize: %w", err)
	}
	if !a.rateLimit.takeOne(ctx, limitsOf(e)...) {
		return e, newPolicy(e.User, "Deny", nil), nil
	}
	if e.noteUse != nil {
		e.noteUse(ctx)
	}
	return e, newPolicy(e.User, "Allow", identity.EncodeCaller(e.Caller)), nil
}

// limitsOf returns the limits that a request of the caller counts against: that of the organization, or else of the
// user outside of all organizations, and that of the user over all organizations.
func limitsOf(e identified) []limit {
	switch {
	case e.Org == "":
		return []limit{{e.User, perMinute}}
	case e.countsUser:
		return []limit{{e.Org, perMinute}, {allPrefix + e.User, perUserMinute}}
	}
	return []limit{{e.Org, perMinute}}
}

// countsUser reports whether the requests of u are counted over all organizations. Nobody can reach the limit in so few
// organizations that the sum of their limits is no more than it. Most users belong to one organization, and cost
// nothing more. The number of organizations is unknown for users who have not logged in or refreshed a session since an
// earlier version of the service; their requests are not counted.
func countsUser(u identity.User) bool { return u.Organisations*perMinute > perUserMinute }

// identify returns the holder of the credential of a request.
func (a *authorizer) identify(ctx context.Context, r *Request) (identified, error) {
	credential, err := bearerToken(r)
	switch {
	case err != nil:
		return identified{}, err
	case identity.IsPAT(credential):
		return a.identifyByPAT(ctx, credential, headerValues(r, organisationHeader))
	}
	return a.identifyBySession(ctx, credential)
}

func refuseRequest(why string) error { return fault.New(fault.Unauthenticated, "%s", why) }

// newPolicy returns a policy for API Gateway. It covers everything, because the functions check the grants
// themselves.
func newPolicy(principal, effect string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principal,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Action: []string{"execute-api:Invoke"}, Effect: effect,
				Resource: []string{"*"},
			}},
		},
		Context: context,
	}
}
