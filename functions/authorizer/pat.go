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
	usedEvery = time.Hour   // how exactly the last use of a token is kept
	noteTime  = time.Second // what noting it may take from a request
)

// byPAT finds out who holds a personal access token. The user may do in the organization what they may do there themselves
// at this moment. A token that was seen before, with its organization named, takes one round trip; one that was not takes
// another, and to look up the organization one more.
func (a *authorizer) byPAT(ctx context.Context, secret string, wished []string) (entry, error) {
	hash, err := identity.ParsePAT(secret)
	if err != nil {
		return entry{}, err
	}
	at, err := a.place(ctx, hash, wished)
	if err != nil {
		return entry{}, err
	}
	keys := append(at.keys(), identity.PATKey(hash))
	if at.org != "" {
		keys = append(keys, identity.OrganisationKey(at.org))
	}
	found, err := a.read(ctx, keys...)
	if err != nil {
		return entry{}, err
	}
	return a.holder(at, hash, found)
}

// holder judges the rows of a token, and those of its user in the organization.
func (a *authorizer) holder(at place, hash string, found map[table.Key]table.Item) (entry, error) {
	t, err := a.token(found[identity.PATKey(hash)])
	if err != nil {
		return entry{}, err
	}
	u, err := a.user(found[at.user()])
	switch {
	case err != nil:
		return entry{}, err
	case !t.Live(u, a.Clock.Now()):
		return entry{}, refused("token " + t.ID + " is over")
	}
	grants, err := a.grants(at, found)
	if err != nil {
		return entry{}, err
	}
	if err = a.vouched(at, t, u, found); err != nil {
		return entry{}, err
	}
	c := identity.Caller{Org: at.org, User: u.ID, Email: u.Email, Method: identity.MethodPAT, SSO: t.SSO != "", Grants: grants}
	return entry{c, a.use(hash, t)}, nil
}

func (a *authorizer) token(row table.Item) (identity.PAT, error) {
	if row.Data == nil {
		return identity.PAT{}, refused("no such token")
	}
	t, err := a.rows.tokens.Of(row.Data)
	if err != nil {
		return t, fmt.Errorf("read personal access token: %w", err)
	}
	return t, nil
}

// vouched holds tokens to what holds for the sessions that make them: one made in a session of an organization's own
// sign-on works in that organization only, and an organization that demands its own sign-on lets no other in but those of
// its owners.
func (a *authorizer) vouched(at place, t identity.PAT, u identity.User, found map[table.Key]table.Item) error {
	if t.SSO != "" {
		if t.SSO != at.org {
			return refused("token " + t.ID + " works in " + t.SSO + " only")
		}
		return nil
	}
	row := found[identity.OrganisationKey(at.org)]
	if row.Data == nil {
		return nil
	}
	o, err := a.rows.tenants.Of(row.Data)
	if err != nil {
		return fmt.Errorf("read organization %s: %w", at.org, err)
	}
	if !o.DemandsSSO(u.Email) {
		return nil
	}
	m, err := a.member(at, found[at.member()])
	if err == nil && !m.Owns() {
		return refused(at.org + " demands its own sign-on")
	}
	return err
}

// place is the user of the token of a hash, in the organization that the request wishes, or else in the one that the token
// is bound to, or else in the one that the user joined first. That one is not left out when it does not let the user in: a
// token that silently worked elsewhere would change what its user never meant.
func (a *authorizer) place(ctx context.Context, hash string, wished []string) (place, error) {
	if len(wished) > 1 || len(wished) == 1 && !id.Valid("org", wished[0]) {
		return place{}, refused(organisationHeader + " does not name one organization")
	}
	at, err := a.owner(ctx, hash)
	switch {
	case err != nil:
		return place{}, err
	case len(wished) == 1:
		at.org = wished[0]
	case at.org == "":
		at.org, err = identity.FirstOrganisationOf(ctx, a.Table, at.who)
	}
	return at, err
}

// owner is the user of the token of a hash, in the organization that it is bound to, if it is. That never changes, so it is
// remembered; whether the token is still good is not.
func (a *authorizer) owner(ctx context.Context, hash string) (place, error) {
	if at, ok := a.owners.get(hash); ok {
		return at, nil
	}
	k := identity.PATKey(hash)
	t, err := table.Read[identity.PAT](table.Within(ctx, k.PK), a.Table, k)
	if fault.Is(err, fault.NotFound) {
		return place{}, refused("no such token")
	}
	if err != nil {
		return place{}, fmt.Errorf("read personal access token: %w", err)
	}
	at := place{t.User, t.SSO}
	a.owners.put(hash, at)
	return at, nil
}

// use notes that a token is used, once in an hour; nil when there is nothing to be noted. A token that was revoked
// meanwhile stays gone.
func (a *authorizer) use(hash string, t identity.PAT) func(context.Context) {
	now, k := a.Clock.Now(), identity.PATKey(hash)
	if now.Unix()-t.Used < int64(usedEvery.Seconds()) {
		return nil
	}
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(table.Within(ctx, k.PK), noteTime)
		defer cancel()
		w := table.Update(k, []table.Change{table.Set("used", now.Unix())}, table.Exists())
		if _, err := a.Table.Write(ctx, w); err != nil && !fault.Is(err, fault.Conflict) {
			a.Log.WarnContext(ctx, "the last use of a personal access token was not noted", "tokenID", t.ID, "error", err.Error())
		}
	}
}

// owners remembers whose tokens are.
type owners struct {
	mu sync.RWMutex
	m  map[string]place
}

const mostOwners = 4096

func (o *owners) get(hash string) (place, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	at, ok := o.m[hash]
	return at, ok
}

// put forgets everything when it is full: it is bounded, and forgetting costs a read, no more.
func (o *owners) put(hash string, at place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil || len(o.m) >= mostOwners {
		o.m = make(map[string]place, 64)
	}
	o.m[hash] = at
}
