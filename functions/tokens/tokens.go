// Package tokens creates, lists and revokes personal access tokens, which let programs act as their user. The
// authorizer decides the permissions of a token; this package makes sure that only a logged-in user can create one.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Operations returns the operations for personal access tokens in the group "Authentication".
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Authentication")
	s := service{p}
	rest.Handle(g, rest.Op{
		ID: "listPersonalAccessTokens", Method: http.MethodGet, Path: "/personal-access-tokens",
		Summary: "List the caller's personal access tokens",
		Description: "The working tokens, oldest first, without their secrets. A session of single sign-on sees " +
			"and revokes the tokens that were created in a single sign-on session of the same organization.",
		SignedIn: true,
	}, s.listTokens)
	rest.Handle(g, rest.Op{
		ID: "createPersonalAccessToken", Method: http.MethodPost, ShownOnce: "token", Path: "/personal-access-tokens",
		Summary: "Create a personal access token",
		Description: "It acts as the caller, with the caller's permissions at the moment of each request, in every " +
			"organization of the caller. The header X-Organisation-Id names the organization by its id; the " +
			"default is the organization that the caller joined first. It ends at its date, when it is revoked, " +
			"and when the caller's password is reset. A token created in a session of single sign-on works only in " +
			"that session's organization, with or without the header. An organization that requires single sign-on " +
			"accepts no other tokens, except its owners'. At most 50 tokens at a time, with different names. The " +
			"secret, token, is shown only in this answer. If a token lasts eight days or longer, a mail announces " +
			"its end seven days ahead. The operation needs the access token of a session. An organization with " +
			"requireMFA admits only tokens that were created in a session with a second factor, while their user " +
			"has one.",
		SignedIn: true, Session: true, StepUp: true, Statuses: []int{http.StatusBadRequest, http.StatusConflict},
	}, s.createToken)
	rest.Handle(g, rest.Op{
		ID: "revokePersonalAccessToken", Method: http.MethodDelete, Path: "/personal-access-tokens/{tokenID}",
		Summary:     "Revoke a personal access token",
		Description: "It is refused from the next request on. The operation needs the access token of a session.",
		SignedIn:    true, Session: true, Statuses: []int{http.StatusNotFound},
	}, s.revokeToken)
	return g
}

type service struct{ *platform.Platform }

// Token is the user's view of a personal access token.
type Token struct {
	ID         string     `json:"id" doc:"The token" example:"pat_01k8z3v5y0e6m9x2q4t7r1c8bd"`
	Name       string     `json:"name" doc:"The name given by its user"`
	Last4      string     `json:"last4" doc:"The last four characters of the secret"`
	CreatedAt  time.Time  `json:"createdAt" doc:"When it was created"`
	ExpiresAt  time.Time  `json:"expiresAt" doc:"When it ends"`
	LastUsedAt *time.Time `json:"lastUsedAt" doc:"When it was used last, to the hour; null when it never was"`
}

func newToken(t identity.PAT) Token {
	out := Token{ID: t.ID, Name: t.Name, Last4: t.Last4, CreatedAt: t.Created, ExpiresAt: t.Expires}
	if t.Used != 0 {
		used := time.Unix(t.Used, 0).UTC()
		out.LastUsedAt = &used
	}
	return out
}

func (s service) listTokens(ctx context.Context, _ *struct{}) ([]Token, error) {
	c := identity.CallerFrom(ctx)
	user := c.User
	ctx = table.Within(ctx, identity.UserPrefix+user, identity.PATPrefix)
	had, err := s.readTokenList(ctx, user)
	if err != nil {
		return nil, err
	}
	keys := []table.Key{identity.UserKey(user)}
	for _, e := range had.entries {
		keys = append(keys, identity.PATKey(e.Hash))
	}
	found, err := s.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the tokens of %s: %w", user, err)
	}
	u, err := table.Decode[identity.User](found[keys[0]])
	if err != nil {
		return nil, err
	}
	return s.liveTokens(c, u, keys[1:], found)
}

// liveTokens returns the working tokens that the caller may see, in the order of keys.
func (s service) liveTokens(c identity.Caller, u identity.User, keys []table.Key,
	found map[table.Key]table.Item) ([]Token,
	error,
) {
	out := make([]Token, 0, len(keys))
	for _, k := range keys {
		row, there := found[k]
		if !there { // revoked since the list was read
			continue
		}
		t, err := table.Decode[identity.PAT](row)
		if err != nil {
			return nil, err
		}
		if t.Live(u, s.Clock.Now(), s.Settings.Epoch) && isVisible(c, t) {
			out = append(out, newToken(t))
		}
	}
	return out, nil
}

// isVisible reports whether the caller may see and revoke a token. A session of single sign-on may do so only with
// tokens that were created in a single sign-on session of the same organization, so that its identity provider cannot
// control the others.
func isVisible(c identity.Caller, t identity.PAT) bool { return !c.SSO || t.SSO == c.Org }

// tokenList is a user's list of tokens, and the number of tokens created before it was read.
type tokenList struct {
	made    int64
	entries []identity.PATEntry
}

// readTokenList reads a user's list. A new token is written on the condition that no other was created since.
func (s service) readTokenList(ctx context.Context, user string) (tokenList, error) {
	count := identity.PATMadeKey(user)
	rows, err := s.readAll(ctx, table.Query{PK: count.PK, Prefix: count.SK, Limit: pageSize})
	if err != nil {
		return tokenList{}, fmt.Errorf("list the tokens of %s: %w", user, err)
	}
	var out tokenList
	if len(rows) > 0 && rows[0].Key == count {
		c, err := table.Decode[counted](rows[0])
		if err != nil {
			return out, err
		}
		out.made, rows = c.Made, rows[1:]
	}
	out.entries, err = table.DecodeAll[identity.PATEntry](rows)
	return out, err
}

// readAll reads all rows of a query, at most pageSize. They can fill more than one page, because expired rows take up
// room in a page until the store deletes them.
func (s service) readAll(ctx context.Context, q table.Query) ([]table.Item, error) {
	var out []table.Item
	for {
		page, err := s.Table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" || len(out) >= pageSize {
			return out, nil
		}
	}
}

type tokenInput struct {
	TokenID string `path:"tokenID" maxLength:"64"`
}

func (s service) revokeToken(ctx context.Context, in *tokenInput) (rest.Deleted, error) {
	c := identity.CallerFrom(ctx)
	user := c.User
	ctx = table.Within(ctx, identity.UserPrefix+user, identity.PATPrefix, identity.PATDuePrefix)
	unknown := fault.New(fault.NotFound, "no personal access token %q", in.TokenID)
	if !id.IsValid("pat", in.TokenID) {
		return rest.Deleted{}, unknown
	}
	e, err := table.Read[identity.PATEntry](ctx, s.Table, identity.PATListKey(user, in.TokenID))
	if fault.Is(err, fault.NotFound) {
		return rest.Deleted{}, unknown
	}
	if err != nil {
		return rest.Deleted{}, fmt.Errorf("read token %s: %w", in.TokenID, err)
	}
	if err = s.checkOwn(ctx, c, e); err != nil {
		return rest.Deleted{}, hideMissing(err, unknown)
	}
	audit.NoteChange(ctx, audit.Change{Target: e.ID, Before: map[string]string{"id": e.ID, "name": e.Name}})
	err = s.Table.Transact(ctx, removalWrites(user, e)...)
	if _, twice := errors.AsType[*table.ConditionError](err); twice {
		return rest.Deleted{}, unknown
	}
	return rest.Deleted{ID: e.ID}, fault.Wrap("revoke token "+e.ID, err)
}

// checkOwn refuses a token that the caller may not revoke, as if it did not exist. It reads nothing if the caller may
// revoke all.
func (s service) checkOwn(ctx context.Context, c identity.Caller, e identity.PATEntry) error {
	if !c.SSO {
		return nil
	}
	t, err := table.Read[identity.PAT](ctx, s.Table, identity.PATKey(e.Hash))
	if err != nil {
		return fmt.Errorf("read token %s: %w", e.ID, err)
	}
	if !isVisible(c, t) {
		return fault.New(fault.NotFound, "token %s is of another organization", e.ID)
	}
	return nil
}

// hideMissing returns unknown for a missing record, else err.
func hideMissing(err, unknown error) error {
	if fault.Is(err, fault.NotFound) {
		return unknown
	}
	return err
}

// removalWrites returns the writes that remove a token.
func removalWrites(user string, e identity.PATEntry) []table.Write {
	out := []table.Write{
		table.Delete(identity.PATListKey(user, e.ID), table.Exists()),
		table.Delete(identity.PATKey(e.Hash)),
	}
	if e.Due != "" {
		out = append(out, table.Delete(identity.PATDueKey(e.Due, e.ID)))
	}
	return out
}

// isOutdated reports whether a token has ended with the sessions of its time: the epoch of its user has changed, or
// the store was restored.
func (s service) isOutdated(e identity.PATEntry, epoch int64) bool {
	return e.Epoch < epoch || id.TimeOf(e.ID).Before(s.Settings.Epoch)
}
