package table

import (
	"context"
	"strings"
)

type scopeKey struct{}

// Within lets the store calls of ctx touch, besides what ctx already allows, the partitions whose keys begin with one of
// prefixes. It is for the few look-ups that come before a tenant is known, each naming exactly what it needs.
func Within(ctx context.Context, prefixes ...string) context.Context {
	have, _ := ctx.Value(scopeKey{}).([]string)
	return context.WithValue(ctx, scopeKey{}, append(append([]string{}, have...), prefixes...))
}

// WithOrg confines the store calls of ctx to the organization org, and to nothing else. It is called where the
// identity was verified (shared/api/rest) and where a worker takes up a piece of work (its input names the organization).
func WithOrg(ctx context.Context, org string) context.Context {
	return context.WithValue(ctx, scopeKey{}, []string{OrgPK(org)})
}

// OrgPK begins every partition key of an organization: OrgPK(org)+"RES", and so on.
func OrgPK(org string) string { return "ORG#" + org + "#" }

// isPermitted reports whether ctx may touch the partition pk.
func isPermitted(ctx context.Context, pk string) bool {
	prefixes, _ := ctx.Value(scopeKey{}).([]string)
	for _, p := range prefixes {
		if strings.HasPrefix(pk, p) {
			return true
		}
	}
	return false
}
