// Package authorizer decides at the door, for every request but the public ones, who is calling and whether the
// organization's minute has room for it: in one place, with two round trips to the store, and no row cached, so that
// a log-out or a changed role acts at once.
package authorizer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/memo"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
)

// Function is a Lambda authorizer of type TOKEN. An error whose text is "Unauthorized" makes API Gateway answer 401, a
// Deny 429 (the template's ACCESS_DENIED answer: it is denied for no other reason), any other error 500.
type Function func(context.Context, events.APIGatewayCustomAuthorizerRequest) (events.APIGatewayCustomAuthorizerResponse, error)

// errUnauthorized is spelled as API Gateway wants it.
var errUnauthorized = errors.New("Unauthorized") //nolint:staticcheck,revive // the capital is part of the protocol

type authorizer struct {
	*platform.Platform
	minute   *minute
	sessions *memo.Memo[identity.Session]
	users    *memo.Memo[identity.User]
	members  *memo.Memo[[]identity.Grant]
}

// Handler makes the authorizer of p. It reads the rows for every request, and decodes one only when it does not hold what
// it held before.
func Handler(p *platform.Platform) Function {
	a := &authorizer{p, newMinute(p), memo.New(decodeSession), memo.New(decodeUser), memo.New(decodeGrants)}
	return a.authorize
}

func decodeSession(row []byte) (identity.Session, error) {
	s, err := table.Decode[identity.Session](table.Item{Data: row})
	s.Hash, s.Previous = "", "" // not needed here, so not remembered
	return s, err
}

func decodeUser(row []byte) (identity.User, error) {
	u, err := table.Decode[identity.User](table.Item{Data: row})
	u.Password = "" // not needed here, so not remembered
	return u, err
}

func decodeGrants(row []byte) ([]identity.Grant, error) {
	m, err := table.Decode[identity.Member](table.Item{Data: row})
	return m.Grants, err
}

func (a *authorizer) authorize(ctx context.Context, r events.APIGatewayCustomAuthorizerRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
	c, err := a.identify(ctx, r.AuthorizationToken)
	if fault.Is(err, fault.Unauthenticated) {
		a.Log.DebugContext(ctx, "refused a credential", "why", err.Error())
		return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
	}
	if err != nil {
		return events.APIGatewayCustomAuthorizerResponse{}, fmt.Errorf("authorize: %w", err)
	}
	if !a.minute.take(ctx, counted(c)) {
		return answer(c.User, "Deny", nil), nil
	}
	return answer(c.User, "Allow", identity.Encode(c)), nil
}

// counted is whose minute a request is taken from: the organization's, or the user's who has none.
func counted(c identity.Caller) string {
	if c.Org != "" {
		return c.Org
	}
	return c.User
}

// identify finds out who holds the credential in an Authorization header.
func (a *authorizer) identify(ctx context.Context, authorization string) (identity.Caller, error) {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return identity.Caller{}, refused("no bearer token")
	}
	claims, err := a.Tokens.Verify(ctx, token)
	if err != nil {
		return identity.Caller{}, err
	}
	return a.load(ctx, claims)
}

// load reads session, user and membership in one round trip, and refuses what is over in any of them.
func (a *authorizer) load(ctx context.Context, c identity.Claims) (identity.Caller, error) {
	sessionKey, userKey, memberKey := identity.SessionKey(c.Session), identity.UserKey(c.User), identity.MemberKey(c.Org, c.User)
	keys, prefixes := []table.Key{sessionKey, userKey}, []string{sessionKey.PK, userKey.PK}
	if c.Org != "" {
		keys, prefixes = append(keys, memberKey), append(prefixes, memberKey.PK)
	}
	rows, err := a.Table.BatchGet(table.Within(ctx, prefixes...), keys...)
	if err != nil {
		return identity.Caller{}, fmt.Errorf("read session %s: %w", c.Session, err)
	}
	u, err := a.check(c, rows[sessionKey], rows[userKey])
	if err != nil {
		return identity.Caller{}, err
	}
	grants, err := a.grants(c, rows[memberKey])
	if err != nil {
		return identity.Caller{}, err
	}
	return identity.Caller{
		Org: c.Org, User: c.User, Email: u.Email, Session: c.Session, Method: identity.MethodToken, Grants: grants,
	}, nil
}

// check refuses a session that is not live, not the token's user's, or older than what ended all sessions of the user.
func (a *authorizer) check(c identity.Claims, session, user table.Item) (identity.User, error) {
	if session.Data == nil || user.Data == nil {
		return identity.User{}, refused("no such session or user")
	}
	s, err := a.sessions.Of(session.Data)
	if err != nil {
		return identity.User{}, fmt.Errorf("read session %s: %w", session.PK, err)
	}
	u, err := a.users.Of(user.Data)
	switch {
	case err != nil:
		return u, fmt.Errorf("read user %s: %w", user.PK, err)
	case s.State != identity.SessionLive || s.User != c.User || s.Absolute <= a.Clock.Now().Unix():
		return u, refused("session " + s.ID + " is over")
	case s.Epoch != u.Epoch || u.Disabled:
		return u, refused("sessions of " + u.ID + " were ended")
	}
	return u, nil
}

// grants reads what the caller may do in the organization of the token; who does not belong to it any more is refused.
func (a *authorizer) grants(c identity.Claims, member table.Item) ([]identity.Grant, error) {
	if c.Org == "" {
		return nil, nil
	}
	if member.Data == nil {
		return nil, refused(c.User + " is not in " + c.Org)
	}
	grants, err := a.members.Of(member.Data)
	if err != nil {
		return nil, fmt.Errorf("read grants %s %s: %w", member.PK, member.SK, err)
	}
	return grants, nil
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
