package membership

import (
	"context"
	"fmt"
	"sync"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
)

// CallerAccess is what ReadCallers reads.
var CallerAccess = table.Access{Reads: []table.Partition{identity.MetaPartition, identity.MemberPartition}}

// Callers are members of an organization with the grants that they hold at the moment, by their user IDs. Records that act later (overrides,
// wake links, receivers of events) name their maker; Callers says what that maker may still do.
type Callers map[string]identity.Caller

// Scopes returns where a user may do what the policy names. A user who is no member, or is disabled, may do nothing. The empty user is that of
// a record without a maker, written before records named theirs: it belongs to the organization and may act everywhere.
func (c Callers) Scopes(user, policy string) grant.Scopes {
	if user == "" {
		return grant.Scopes{All: true}
	}
	caller := c[user]
	return caller.Scopes(policy)
}

// ReadCallers reads what users may do in org now. Users who are no members, or are disabled, are missing from the answer; so is everybody when
// the organization is being deleted. One round trip for a hundred users, and none for users that ctx remembers (RememberCallers).
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
		if c, known := remembered.find(org, user); known {
			out.add(user, c)
			continue
		}
		asked, keys = append(asked, user), append(keys, identity.MemberKey(org, user))
	}
	if len(asked) == 0 {
		return out, nil
	}
	items, err := s.BatchGet(table.Within(ctx, table.OrgPK(org)), keys...)
	if err != nil {
		return nil, fmt.Errorf("read what %d users of %s may do: %w", len(asked), org, err)
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
		remembered.add(org, user, c)
		out.add(user, c)
	}
	return out, nil
}

// add adds a caller, unless it is nobody.
func (c Callers) add(user string, caller identity.Caller) {
	if caller.User != "" {
		c[user] = caller
	}
}

// decodeAccess reads the organization's roles; of an organization that is gone it returns one that has ended.
func decodeAccess(it table.Item) (identity.Access, error) {
	if it.Data == nil {
		return identity.Access{Ended: true}, nil
	}
	return table.Decode[identity.Access](it)
}

// callerOf returns what the member of an item may do; the zero Caller when there is no such member, or they are locked out.
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

// RememberCallers returns a context in which ReadCallers reads each user once. It is for one pass over events or receivers, which takes seconds:
// what is remembered does not follow later changes.
func RememberCallers(ctx context.Context) context.Context {
	return context.WithValue(ctx, callersKey{}, &callerMemory{known: map[[2]string]identity.Caller{}})
}

// callerMemory is the callers that were read in a context, by organization and user. Nil remembers nothing.
type callerMemory struct {
	mu    sync.Mutex
	known map[[2]string]identity.Caller
}

func callersOf(ctx context.Context) *callerMemory {
	m, _ := ctx.Value(callersKey{}).(*callerMemory)
	return m
}

func (m *callerMemory) find(org, user string) (identity.Caller, bool) {
	if m == nil {
		return identity.Caller{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, known := m.known[[2]string{org, user}]
	return c, known
}

func (m *callerMemory) add(org, user string, c identity.Caller) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[[2]string{org, user}] = c
}
