package table

import (
	"context"
	"strings"
)

type scopeKey struct{}

// Within returns a context that also permits partitions whose keys start with one of prefixes. It is for the few
// look-ups before an organization is known. They must name only the partitions they need.
func Within(ctx context.Context, prefixes ...string) context.Context {
	have, _ := ctx.Value(scopeKey{}).([]string)
	return context.WithValue(ctx, scopeKey{}, append(append([]string{}, have...), prefixes...))
}

// WithOrg returns a context that permits only the partitions of the organization org. It is called after verifying the
// identity (shared/api/rest), and when a worker starts a task (its input names the organization).
func WithOrg(ctx context.Context, org string) context.Context {
	return context.WithValue(ctx, scopeKey{}, []string{OrgPK(org)})
}

// OrgPK returns the prefix of all partition keys of an organization: OrgPK(org)+"RES", and so on.
func OrgPK(org string) string { return "ORG#" + org + "#" }

// isPermitted reports whether ctx permits the partition pk.
func isPermitted(ctx context.Context, pk string) bool {
	prefixes, _ := ctx.Value(scopeKey{}).([]string)
	for _, p := range prefixes {
		if strings.HasPrefix(pk, p) {
			return true
		}
	}
	return false
}
