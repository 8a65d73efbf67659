// Package platform holds the dependencies of a function: the store, the clock, the workflows, the secrets. A Lambda
// makes a platform from its environment; cmd/lamplighter and tests make one in process. Features receive only a
// *Platform.
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

// Platform holds the dependencies of a function. All fields are safe for concurrent use.
type Platform struct {
	Table    table.Store
	Clock    clock.Clock
	Workflow workflow.Engine
	Workers  lambdacall.Invoker
	Sealer   seal.Sealer
	Tokens   token.Tokens
	Resolver Resolver
	Outbox   archive.Outbox // nil in a function without downloads
	Archive  archive.Store  // nil in a function that does not archive
	Inbox    archive.Inbox  // nil in a function without uploads
	Lines    archive.Files  // line items of bills; nil in a function that does not use them
	// Vault holds the anchors of the audit log, and AnchorKeys signs them; nil in a function that makes none.
	Vault      archive.Vault
	AnchorKeys token.Documents
	Log        *slog.Logger
	Pending    Pending // nil in a process that reaches all clouds
	Settings   Settings

	mu     sync.Mutex
	shared map[reflect.Type]any
}

// Shared returns the single T of p, which create made at the first call. Packages keep their caches in it instead of
// package variables: all functions of a process that share a platform share it, two platforms never do, and it ends
// with its platform. create must not call Shared.
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

// Clone returns a platform with the same parts, so that one of them can be replaced. It does not copy the values of
// Shared, because they may depend on the replaced part.
func (p *Platform) Clone() *Platform {
	return &Platform{
		Table: p.Table, Clock: p.Clock, Workflow: p.Workflow, Workers: p.Workers, Sealer: p.Sealer, Tokens: p.Tokens,
		Outbox:   p.Outbox,
		Resolver: p.Resolver, Archive: p.Archive, Inbox: p.Inbox, Lines: p.Lines, Log: p.Log, Pending: p.Pending,
		Settings: p.Settings, Vault: p.Vault, AnchorKeys: p.AnchorKeys,
	}
}

// Layout is the version of the keys and items in the store. It increases when older items could not be read or found.
// Adding or dropping members does not change it (docs/decisions/014-rows-of-two-versions.md).
const Layout = 2

// Resolver makes DNS queries. In production it is *net.Resolver.
type Resolver interface {
	// LookupTXT returns the TXT records of a name. If there are none, the error is a *net.DNSError with IsNotFound.
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Settings are the settings of the operator.
type Settings struct {
	Version         string
	Stage           string // stage of the deployment in AWS: dev, staging, prod; empty elsewhere
	BaseURL         string // address of the API for clients, without a trailing slash
	Simulated       bool   // accounts of provider simulated are accepted
	CustomEndpoints bool   // endpointURL is accepted on accounts
	// addresses given by users may be private, and http (shared/foundation/ssrfguard)
	PrivateAddresses bool
	// additional hosts of chats: "chat.example.com", or ".example.com" for all below
	ChatHosts []string
	// principal that assumes customers' roles: an account number, or an ARN; empty if there is none
	Principal string
	// ARN of the role that opens accounts of customers; empty: the process opens them with its own identity
	CloudsRole string
	// address of the issuer of CloudsRole's tokens for other clouds; empty if it is not known
	TokenIssuer string
	Pepper      []byte // key of the hashes of addresses, and of CodeKey; random in a function that does not declare it
	// time of the store's last restore; zero means never. Older sessions, tokens, codes and invitations are not valid.
	Epoch           time.Time
	Google, GitHub  Client // providers for log-ins
	GoogleCloud     Client // client for connecting Google projects
	GooglePricesKey string // API key for Google's price catalogue; empty means that prices are not read
	MailServer      string // address of the mail server, with its password; empty means Amazon SES
	// command of the process that reads bills of unknown origin; empty if this process may read them
	BillReader []string
	// address of the published template of the role that customers create in AWS; empty if not published
	RoleTemplateURL string
}
