// Package platform is what a function stands on: the store, the clock, the workflows, the secrets. A Lambda opens it from
// its environment; cmd/lamplighter and tests put one together in process. Features take a *Platform and nothing else.
package platform

import (
	"context"
	"log/slog"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// Platform is the ground under a function. Every field is safe for use by many goroutines.
type Platform struct {
	Table    table.Store
	Clock    clock.Clock
	Workflow workflow.Engine
	Workers  lambdacall.Invoker
	Sealer   seal.Sealer
	Tokens   token.Tokens
	Resolver Resolver
	Log      *slog.Logger
	Settings Settings
}

// Resolver looks names up in DNS. It is *net.Resolver in service.
type Resolver interface {
	// LookupTXT gives the TXT records of a name. Without any it is a *net.DNSError whose IsNotFound is true.
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Settings are an operator's choices.
type Settings struct {
	Version          string
	BaseURL          string // where clients reach the API, without a slash at the end
	Simulated        bool   // accounts of provider simulated are accepted
	CustomEndpoints  bool   // endpointURL is accepted on accounts
	PrivateAddresses bool   // addresses that users give may lead into private networks, and begin with http (shared/foundation/ssrfguard)
	Principal        string // who assumes customers' roles: our account number, or an ARN; empty where there is no such identity
	Pepper           []byte // keys the hashes of one-time codes, refresh tokens and addresses
	Google, GitHub   Client // where people may sign in
}
