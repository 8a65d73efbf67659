package membership

import (
	"context"
	"fmt"
	"sync"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// CallerAccess are the partitions that ReadCallers reads.
var CallerAccess = table.Access{Reads: []table.Partition{identity.MetaPartition, identity.MemberPartition}}

// Callers are members of an organization by user ID, with the grants that they hold now. Records that act later
// (overrides, wake links, receivers of events) name their maker. Callers tells whether the maker may still do it.
type Callers map[string]identity.Caller

// Scopes returns the scopes where a user holds the policy. A user who is not a member, or is disabled, holds none.
// The empty user stands for records without a maker, which are older than that field: they belong to the organization
// and may act everywhere.
func (c Callers) Scopes(user, policy string) grant.Scopes {
	if user == "" {
		return grant.Scopes{All: true}
	}
	caller := c[user]
	return caller.Scopes(policy)
}

// ReadCallers reads the grants that users hold in org now. Users who are not members, or are disabled, are missing from
// the result. All are missing if the organization is being deleted. It takes one round trip for a hundred users, and
// none for users that ctx remembers (see RememberCallers).
func ReadCallers(ctx context.Context, s table.Store, org string, users ...string) (Callers, error) {
	out := Callers{}
	remembered := callersOf(ctx)
	keys := []table.Key{identity.AccessKey(org)}
	var asked []string
	seen := map[string]bool{"": true}
	for _, user := range users {
		if seen[user] {
			continue
		}
		seen[user] = true
		if c, known := remembered.findCaller(org, user); known {
			out.addCaller(user, c)
			continue
		}
		asked, keys = append(asked, user), append(keys, identity.MemberKey(org, user))
	}
	if len(asked) == 0 {
		return out, nil
	}
	items, err := s.BatchGet(table.Within(ctx, table.OrgPK(org)), keys...)
	if err != nil {
		return nil, fmt.Errorf("read the grants of %d users of %s: %w", len(asked), org, err)
	}
	access, err := decodeAccess(items[keys[0]])
	if err != nil {
		return nil, err
	}
	for i, user := range asked {
		c, err := callerOf(org, access, items[keys[i+1]])
		if err != nil {
			return nil, err
		}
		remembered.addCaller(org, user, c)
		out.addCaller(user, c)
	}
	return out, nil
}

// addCaller adds a caller, unless it is zero.
func (c Callers) addCaller(user string, caller identity.Caller) {
	if caller.User != "" {
		c[user] = caller
	}
}

// decodeAccess decodes the organization's roles. If there is no item, it returns an Access that has ended.
func decodeAccess(it table.Item) (identity.Access, error) {
	if it.Data == nil {
		return identity.Access{Ended: true}, nil
	}
	return table.Decode[identity.Access](it)
}

// callerOf returns the caller of a member's item. It returns the zero Caller if there is no such member, or if the
// member is disabled.
func callerOf(org string, a identity.Access, member table.Item) (identity.Caller, error) {
	if member.Data == nil || a.Ended {
		return identity.Caller{}, nil
	}
	m, err := table.Decode[identity.Member](member)
	if err != nil || m.Disabled {
		return identity.Caller{}, err
	}
	return identity.Caller{Org: org, User: m.User, Email: m.Email, Grants: a.ResolveGrants(m.Grants)}, nil
}

type callersKey struct{}

// RememberCallers returns a context that makes ReadCallers read each user once. Use it for one pass over events or
// receivers, which takes seconds: it does not see later changes.
func RememberCallers(ctx context.Context) context.Context {
	return context.WithValue(ctx, callersKey{}, &callerMemory{known: map[[2]string]identity.Caller{}})
}

// callerMemory are the callers that were read in a context, by organization and user. A nil callerMemory remembers
// nothing.
type callerMemory struct {
	mu    sync.Mutex
	known map[[2]string]identity.Caller
}

func callersOf(ctx context.Context) *callerMemory {
	m, _ := ctx.Value(callersKey{}).(*callerMemory)
	return m
}

func (m *callerMemory) findCaller(org, user string) (identity.Caller, bool) {
	if m == nil {
		return identity.Caller{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, known := m.known[[2]string{org, user}]
	return c, known
}

func (m *callerMemory) addCaller(org, user string, c identity.Caller) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{org, user}] = c
}
