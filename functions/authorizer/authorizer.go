// Package authorizer decides at the door, for every request but the public ones, who is calling and whether the
// organization's minute has room for it: in one place, with two round trips to the store, and no row cached, so that
// a log-out or a changed role acts at once.
package authorizer

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/memo"
)

// Function is a Lambda authorizer of type REQUEST. An error whose text is "Unauthorized" makes API Gateway answer 401, a
// Deny 429 (the template's ACCESS_DENIED answer: it is denied for no other reason), any other error 500.
type Function func(context.Context, Request) (events.APIGatewayCustomAuthorizerResponse, error)

// errUnauthorized is spelled as API Gateway wants it.
var errUnauthorized = errors.New("Unauthorized") //nolint:staticcheck,revive // the capital is part of the protocol

type authorizer struct {
	*platform.Platform
	minute *minute
	rows   rows
	owners owners
}

// rows remembers what rows mean by what is in them. Every request reads its rows anew, and decodes one only when it does
// not hold what it held before.
type rows struct {
	sessions *memo.Memo[identity.Session]
	users    *memo.Memo[identity.User]
	members  *memo.Memo[identity.Member]
	access   *memo.Memo[identity.Access]
	tokens   *memo.Memo[identity.PAT]
	tenants  *memo.Memo[identity.TenantRow]
}

// Handler makes the authorizer of p.
func Handler(p *platform.Platform) Function {
	a := &authorizer{Platform: p, minute: newMinute(p), rows: rows{
		memo.New(decodeSession), memo.New(decodeUser), memo.New(decode[identity.Member]), memo.New(decode[identity.Access]),
		memo.New(decode[identity.PAT]), memo.New(decode[identity.TenantRow]),
	}}
	return a.authorize
}

func decode[T any](row []byte) (T, error) { return table.Decode[T](table.Item{Data: row}) }

func decodeSession(row []byte) (identity.Session, error) {
	s, err := decode[identity.Session](row)
	s.Hash, s.Previous = "", "" // not needed here, so not remembered
	return s, err
}

func decodeUser(row []byte) (identity.User, error) {
	u, err := decode[identity.User](row)
	u.Password = "" // not needed here, so not remembered
	return u, err
}

// entry is who comes in, and what is to be noted when they do, if anything.
type entry struct {
	identity.Caller
	note func(context.Context)
}

func (a *authorizer) authorize(ctx context.Context, r Request) (events.APIGatewayCustomAuthorizerResponse, error) {
	e, err := a.identify(ctx, &r)
	if fault.Is(err, fault.Unauthenticated) {
		a.Log.DebugContext(ctx, "refused a credential", "why", err.Error(), "ip", r.RequestContext.Identity.SourceIP)
		return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
	}
	if err != nil {
		return events.APIGatewayCustomAuthorizerResponse{}, fmt.Errorf("authorize: %w", err)
	}
	if !a.minute.take(ctx, counted(e.Caller)) {
		return answer(e.User, "Deny", nil), nil
	}
	if e.note != nil {
		e.note(ctx)
	}
	return answer(e.User, "Allow", identity.Encode(e.Caller)), nil
}

// counted is whose minute a request is taken from: the organization's, or the user's who has none.
func counted(c identity.Caller) string {
	if c.Org != "" {
		return c.Org
	}
	return c.User
}

// identify finds out who holds the credential of a request.
func (a *authorizer) identify(ctx context.Context, r *Request) (entry, error) {
	credential, err := bearer(r)
	switch {
	case err != nil:
		return entry{}, err
	case identity.IsPAT(credential):
		return a.byPAT(ctx, credential, values(r, organisationHeader))
	}
	c, err := a.bySession(ctx, credential)
	return entry{Caller: c}, err
}

func refused(why string) error { return fault.New(fault.Unauthenticated, "%s", why) }

// answer is the policy that API Gateway wants: for everything, because the functions look at the grants themselves.
func answer(principal, effect string, context map[string]any) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: principal,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version:   "2012-10-17",
			Statement: []events.IAMPolicyStatement{{Action: []string{"execute-api:Invoke"}, Effect: effect, Resource: []string{"*"}}},
		},
		Context: context,
	}
}
