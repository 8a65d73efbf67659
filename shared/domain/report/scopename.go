package report

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/people/teams"
)

// ScopeNames are the names of scopes: cloud accounts, resource groups, teams and resources.
type ScopeNames map[event.Scope]string

// Of returns the name of a scope; nil if it has none: the organization, a tag, a record that is gone, or a resource
// group that the caller may not see.
func (n ScopeNames) Of(kind, id string) *string {
	return rest.Optional(n[event.Scope{Type: kind, ID: id}])
}

// ReadScopes reads the names of scopes. It takes one round trip for each kind of scope, side by side.
func (r LabelReader) ReadScopes(ctx context.Context, scopes []event.Scope) (ScopeNames, error) {
	out, org := make(ScopeNames, len(scopes)), identity.CallerOrg(ctx)
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	for kind, read := range map[string]func(context.Context, string) (map[string]string, error){
		event.ScopeAccount: r.accountNames, event.ScopeGroup: r.groupNames, event.ScopeTeam: r.teamNames,
		event.ScopeResource: func(ctx context.Context, org string) (map[string]string, error) {
			return r.resources(ctx, org, scopes)
		},
	} {
		if !slices.ContainsFunc(scopes, func(s event.Scope) bool { return s.Type == kind }) {
			continue
		}
		work.Go(func() error {
			names, err := read(ctx, org)
			if err != nil {
				return fmt.Errorf("read the names of scopes of the kind %s: %w", kind, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for id, name := range names {
				out[event.Scope{Type: kind, ID: id}] = name
			}
			return nil
		})
	}
	return out, work.Wait()
}

// resources returns the names of those of the scopes that are resources, by native ID.
func (r LabelReader) resources(ctx context.Context, org string, scopes []event.Scope) (map[string]string, error) {
	var uids []string
	for _, s := range scopes {
		if s.Type == event.ScopeResource {
			uids = append(uids, s.ID)
		}
	}
	names, err := r.Inventory.ReadNames(ctx, org, uids)
	out := make(map[string]string, len(names))
	for uid, n := range names {
		out[uid] = n.Name
	}
	return out, err
}

// accountNames returns the names of the cloud accounts by our ID.
func (r LabelReader) accountNames(ctx context.Context, org string) (map[string]string, error) {
	all, err := r.Inventory.ListAccounts(ctx, org)
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out, err
}

// groupReading is the policy that permits a caller to see the names of groups.
const groupReading = "resource-groups:read"

// groupNames returns the names of the resource groups that the caller may see, by ID. It makes no round trip for a
// caller without access to groups.
func (r LabelReader) groupNames(ctx context.Context, org string) (map[string]string, error) {
	scopes := identity.CallerFrom(ctx).Scopes(groupReading)
	out := map[string]string{}
	if !scopes.All {
		if scopes.None() {
			return out, nil
		}
		parts, err := r.Inventory.GroupsInScope(ctx, org, scopes, "")
		for i := range parts {
			out[parts[i].ID] = parts[i].Name
		}
		return out, err
	}
	all, err := r.Inventory.ListGroups(ctx, org)
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out, err
}

// teamNames returns the names of the teams by ID.
func (r LabelReader) teamNames(ctx context.Context, org string) (map[string]string, error) {
	all, err := r.Teams.List(ctx, org)
	return NamesOfTeams(all), err
}

// NamesOfTeams returns the names of teams by their IDs.
func NamesOfTeams(all []teams.Team) map[string]string {
	out := make(map[string]string, len(all))
	for i := range all {
		out[all[i].ID] = all[i].Name
	}
	return out
}
