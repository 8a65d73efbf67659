package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
)

// oracle decides with Cedar, an independent engine, whether a caller may call an operation. It reads the policies of
// roles from the API.
type oracle struct {
	entities types.EntityMap
	policies *cedar.PolicySet
}

func uid(kind, id string) types.EntityUID {
	return types.NewEntityUID(types.EntityType(kind), types.String(id))
}

// newOracle returns the oracle of a caller with grants. A team is in the organization; an action is in the wildcards
// that cover it.
func newOracle(t *testing.T, roles map[string][]string, grants []grant.Grant) *oracle {
	t.Helper()
	o := &oracle{entities: types.EntityMap{}}
	team := types.Entity{UID: uid("Team", "team"), Parents: types.NewEntityUIDSet(uid("Org", "org"))}
	o.entities[team.UID] = team
	for _, p := range grant.Policies() {
		resource, action, _ := strings.Cut(p.ID, ":")
		e := types.Entity{UID: uid("Action", p.ID), Parents: types.NewEntityUIDSet(
			uid("Action", "*:*"), uid("Action", resource+":*"), uid("Action", "*:"+action))}
		o.entities[e.UID] = e
	}
	var text strings.Builder
	for _, g := range grants {
		where := `Org::"org"`
		if g.Scope != grant.OrgScope {
			where = `Team::"team"`
		}
		for _, p := range roles[g.Role] {
			fmt.Fprintf(&text, "permit(principal, action in Action::%q, resource in %s);\n", p, where)
		}
	}
	var err error
	if o.policies, err = cedar.NewPolicySetFromBytes("grants", []byte(text.String())); err != nil {
		t.Fatal(err)
	}
	return o
}

// may reports whether the operation accepts the caller. An operation that checks scopes accepts a grant on any scope;
// any other operation accepts only a grant on the whole organization.
func (o *oracle) may(op rest.Op) bool {
	at := uid("Org", "org")
	if op.Scoped {
		at = uid("Team", "team")
	}
	if op.Policy == "" {
		return true
	}
	verdict, _ := cedar.Authorize(o.policies, o.entities, cedar.Request{
		Principal: uid("User", "usr_1"), Action: uid("Action", op.Policy), Resource: at, Context: types.NewRecord(nil),
	})
	return bool(verdict)
}
