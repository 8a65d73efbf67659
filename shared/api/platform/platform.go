// Package platform is what a function stands on: the store, the clock, the workflows, the secrets. A Lambda opens it from
// its environment; cmd/lamplighter and tests put one together in process. Features take a *Platform and nothing else.
package platform

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/archive"
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
	Outbox   archive.Outbox // nil in a function that hands out no files
	Archive  archive.Store  // nil in a function that does not archive
	Inbox    archive.Inbox  // nil in a function that takes no files
	Lines    archive.Files  // line items of bills; nil in a function that neither writes nor reads them
	Log      *slog.Logger
	Settings Settings

	mu     sync.Mutex
	shared map[reflect.Type]any
}

// Shared returns the one T of p: what create made when it was asked for the first time. A package that remembers what it has
// read keeps it so, and not in a variable of its own: all functions of a process that share a platform share it, two
// platforms never do, and it ends with its platform. Create must not call Shared.
func Shared[T any](p *Platform, create func(*Platform) T) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := reflect.TypeFor[T]()
	if v, ok := p.shared[key].(T); ok {
		return v
	}
	v := create(p)
	if p.shared == nil {
		p.shared = map[reflect.Type]any{}
	}
	p.shared[key] = v
	return v
}

// Clone returns a platform of the same parts, to exchange one of them. What p shares is not shared with it: it may have been
// read from the part that is exchanged.
func (p *Platform) Clone() *Platform {
	return &Platform{
		Table: p.Table, Clock: p.Clock, Workflow: p.Workflow, Workers: p.Workers, Sealer: p.Sealer, Tokens: p.Tokens,
		Outbox:   p.Outbox,
		Resolver: p.Resolver, Archive: p.Archive, Inbox: p.Inbox, Lines: p.Lines, Log: p.Log, Settings: p.Settings,
	}
}

// Layout numbers the keys and shapes of the stored rows. It grows when rows of before could not be read or would not be found any
// more; members that are added or given up do not change it (docs/decisions/014-rows-of-two-versions.md).
const Layout = 2

// Resolver looks names up in DNS. It is *net.Resolver in service.
type Resolver interface {
	// LookupTXT gives the TXT records of a name. Without any it is a *net.DNSError whose IsNotFound is true.
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Settings are an operator's choices.
type Settings struct {
	Version         string
	Stage           string // of the deployment in AWS: dev, staging, prod; empty elsewhere
	BaseURL         string // where clients reach the API, without a slash at the end
	Simulated       bool   // accounts of provider simulated are accepted
	CustomEndpoints bool   // endpointURL is accepted on accounts
	// addresses that users give may lead into private networks, and begin with http (shared/foundation/ssrfguard)
	PrivateAddresses bool
	// where chats take messages besides their vendors: "chat.example.com", ".example.com" for all below
	ChatHosts []string
	// who assumes customers' roles: our account number, or an ARN; empty where there is no such identity
	Principal string
	// ARN of the role as which the accounts of customers are opened; empty where this process opens them as itself
	CloudsRole string
	// who issues the tokens by which the clouds of others know CloudsRole; empty where that is not known
	TokenIssuer string
	Pepper      []byte // keys the hashes of addresses, and CodeKey
	// when the store was last restored from a copy, never if zero: no session, token, code or invitation of before is good
	Epoch           time.Time
	Google, GitHub  Client // where people may sign in
	GoogleCloud     Client // by which people connect their projects
	GooglePricesKey string // an API key that may read Google's catalogue of prices; empty: they are not read
	// the command of a process that reads bills of unknown origin; empty where this process has nothing to lose
	BillReader []string
	// where the operator has published the template of the role that customers make in AWS; empty where not
	RoleTemplateURL string
}
