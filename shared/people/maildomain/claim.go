package maildomain

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// ClaimPrefix is the prefix of the keys of claims.
const ClaimPrefix = "SSODOMAIN#"

// ClaimPartition matches the partitions of claims.
const ClaimPartition table.Partition = ClaimPrefix + "*"

// Claim stores which organization has proven a domain. It has the same key for all organizations, so only one can have
// it.
type Claim struct {
	Org   string    `json:"org"`
	Since time.Time `json:"since"`
}

// ClaimKey returns the key of the claim of a domain.
func ClaimKey(name string) table.Key { return table.Key{PK: ClaimPrefix + name, SK: "D"} }

// WithClaims returns a context that lets the store touch the claims of domains.
func WithClaims(ctx context.Context) context.Context { return table.Within(ctx, ClaimPrefix) }

// Release returns the writes that free the proven domains of was that are not proven in is.
func Release(org string, was, is []Domain) []table.Write {
	var out []table.Write
	for _, d := range was {
		kept := slices.ContainsFunc(is, func(o Domain) bool { return o.Name == d.Name && o.IsVerified() })
		if d.IsVerified() && !kept {
			out = append(out, table.Delete(ClaimKey(d.Name), table.Any(table.Lacks("org"), table.Equal("org", org))))
		}
	}
	return out
}

// Names returns the names of the proven domains.
func Names(ds []Domain) []string {
	var out []string
	for _, d := range ds {
		if d.IsVerified() {
			out = append(out, d.Name)
		}
	}
	return out
}
