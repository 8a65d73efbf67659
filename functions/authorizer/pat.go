package authorizer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

const (
	patUseInterval = time.Hour   // how exactly the last use of a token is kept
	noteTimeout    = time.Second // of a request, for recording the use
)

// identifyByPAT returns the holder of a personal access token. The token has the user's own present permissions in
// the organization. A token that was seen before takes one round trip if the request names its organization. A new
// token takes another one, and looking up the organization one more.
func (a *authorizer) identifyByPAT(ctx context.Context, secret string, wished []string) (identified, error) {
	hash, err := identity.ParsePAT(secret)
	if err != nil {
		return identified{}, err
	}
	at, err := a.findPATOrg(ctx, hash, wished)
	if err != nil {
		return identified{}, err
	}
	keys := append(at.rowKeys(), identity.PATKey(hash))
	if at.org != "" {
		keys = append(keys, identity.OrganisationKey(at.org))
	}
	found, err := a.readRows(ctx, keys...)
	if err != nil {
		return identified{}, err
	}
	e, err := a.identifyPATUser(at, hash, found)
	return e, refuseUser(at, err)
}

// identifyPATUser checks the rows of a token, and those of its user in the organization.
func (a *authorizer) identifyPATUser(at userInOrg, hash string, found map[table.Key]table.Item) (identified, error) {
	t, err := a.decodeLivePAT(found[identity.PATKey(hash)])
	if err != nil {
		return identified{}, err
	}
	u, err := a.decodeLiveUser(found[at.userKey()])
	switch {
	case err != nil:
		return identified{}, err
	case !t.Live(u, a.Clock.Now(), a.Settings.Epoch):
		return identified{}, refuseRequest("token " + t.ID + " is over")
	}
	rights, err := a.decodeRights(at, found)
	if err != nil {
		return identified{}, err
	}
	if err = a.checkPATLogin(at, t, u, found); err != nil {
		return identified{}, err
	}
	c := admitCaller(identity.Caller{
		Org: at.org, User: u.ID, Email: u.Email, Method: identity.MethodPAT, SSO: t.SSO != "",
		SecondFactor: u.SecondFactorAt(a.Clock.Now(), 0),
	}, rights, t.MeetsMFA(u))
	return identified{c, a.preparePATUse(hash, t), countsUser(u)}, nil
}

func (a *authorizer) decodeLivePAT(row table.Item) (identity.PAT, error) {
	if row.Data == nil {
		return identity.PAT{}, refuseRequest("no such token")
	}
	t, err := a.rows.tokens.Of(row.Data)
	if err != nil {
		return t, fmt.Errorf("read personal access token: %w", err)
	}
	return t, nil
}

// checkPATLogin applies the rules of sessions to tokens. A token created in a session of an organization's single
// sign-on works in that organization only. An organization that requires its own sign-on accepts no other tokens,
// except those of its owners.
func (a *authorizer) checkPATLogin(at userInOrg, t identity.PAT, u identity.User,
	found map[table.Key]table.Item,
) error {
	if t.SSO != "" {
		if t.SSO != at.org {
			return refuseRequest("token " + t.ID + " works in " + t.SSO + " only")
		}
		return nil
	}
	row := found[identity.OrganisationKey(at.org)]
	if row.Data == nil {
		return nil
	}
	o, err := a.rows.organisations.Of(row.Data)
	if err != nil {
		return fmt.Errorf("read organization %s: %w", at.org, err)
	}
	if !o.DemandsSSO(u.Email) {
		return nil
	}
	m, err := a.decodeMember(at, found[at.memberKey()])
	if err == nil && !m.Owns() {
		return refuseRequest(at.org + " demands its own sign-on")
	}
	return err
}

// findPATOrg returns the token's user in the organization that the request names, or else in the one that the token
// is bound to, or else in the one that the user joined first. If that organization does not let the user in, no other
// is tried: a token that silently worked elsewhere could change the wrong organization.
func (a *authorizer) findPATOrg(ctx context.Context, hash string, wished []string) (userInOrg, error) {
	if len(wished) > 1 || len(wished) == 1 && !id.IsValid("org", wished[0]) {
		return userInOrg{}, refuseRequest(organisationHeader + " does not name one organization")
	}
	at, err := a.findPATUser(ctx, hash)
	switch {
	case err != nil:
		return userInOrg{}, err
	case len(wished) == 1:
		at.org = wished[0]
	case at.org == "":
		at.org, err = identity.FirstOrganisation(ctx, a.Table, at.userID)
	}
	return at, err
}

// findPATUser returns the user of a token by its hash, and the organization that it is bound to, if any. These never
// change, so they are cached. The validity of the token is not cached.
func (a *authorizer) findPATUser(ctx context.Context, hash string) (userInOrg, error) {
	if at, ok := a.patUsers.get(hash); ok {
		return at, nil
	}
	k := identity.PATKey(hash)
	t, err := table.Read[identity.PAT](table.Within(ctx, k.PK), a.Table, k)
	if fault.Is(err, fault.NotFound) {
		return userInOrg{}, refuseRequest("no such token")
	}
	if err != nil {
		return userInOrg{}, fmt.Errorf("read personal access token: %w", err)
	}
	at := userInOrg{t.User, t.SSO}
	a.patUsers.put(hash, at)
	return at, nil
}

// preparePATUse returns a function that records the use of a token, or nil if its use was recorded within the last
// hour. A token that is revoked meanwhile stays deleted.
func (a *authorizer) preparePATUse(hash string, t identity.PAT) func(context.Context) {
	now, k := a.Clock.Now(), identity.PATKey(hash)
	if now.Unix()-t.Used < int64(patUseInterval.Seconds()) {
		return nil
	}
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(table.Within(ctx, k.PK), noteTimeout)
		defer cancel()
		w := table.Update(k, []table.Change{table.Set("used", now.Unix())}, table.Exists())
		if _, err := a.Table.Write(ctx, w); err != nil && !fault.Is(err, fault.Conflict) {
			a.Log.WarnContext(ctx, "the last use of a personal access token was not noted", "tokenID", t.ID, "error",
				err.Error())
		}
	}
}

// patUserCache maps tokens to their users.
type patUserCache struct {
	mu sync.RWMutex
	m  map[string]userInOrg
}

const maxPATUsers = 4096

func (o *patUserCache) get(hash string) (userInOrg, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	at, ok := o.m[hash]
	return at, ok
}

// put stores an entry. When the cache is full it is cleared: a missing entry only costs a read.
func (o *patUserCache) put(hash string, at userInOrg) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil || len(o.m) >= maxPATUsers {
		o.m = make(map[string]userInOrg, 64)
	}
	o.m[hash] = at
}
