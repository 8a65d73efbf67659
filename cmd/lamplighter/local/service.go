// Package local is the whole service in one process, for a laptop and the end-to-end tests: the same functions behind
// the same template.yaml and the same state machines as in AWS, with an in-process twin of all other parts.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"lamplighter.dev/cmd/lamplighter/local/gateway"
	"lamplighter.dev/functions"
	"lamplighter.dev/functions/authorizer"
	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/functions/notifier"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
)

// Options configure the service. Root and Dir must be set; all other fields have defaults.
type Options struct {
	Root        string        // the folder with template.yaml and statemachines/
	Dir         string        // keys, mails and the embedded store live here
	Anchors     string        // folder of the anchors of the audit log; empty: anchors in Dir
	Remote      table.Remote  // the DynamoDB table to use instead of the embedded store; none when its Table is empty
	NoSync      bool          // the embedded store leaves writing to the operating system; for tests
	Limits      *table.Limits // limits of the functions' store; for tests. nil: no limits
	Clock       clock.Clock   // nil: the machine's
	BaseURL     string        // where clients reach the API
	Google      platform.Client
	GitHub      platform.Client
	GoogleCloud platform.Client
	Version     string
	Log         *slog.Logger        // nil: nowhere
	Mails       io.Writer           // gets a line for each mail, with its code; nil: nowhere
	Sender      mail.Sender         // nil: mails are written to the folder mails/ instead
	Receivers   *notifier.Receivers // who is told of events; nil: those that users name
	DNS         platform.Resolver   // nil: the machine's
	Epoch       time.Time           // when the store was last restored from a copy; zero: never
	// the command of a process that reads bills of unknown origin; empty: this process reads them
	BillReader []string
	// Begin is called after the store is opened, so only one service at a time gets there. It reports whether the
	// service before this one died by its own fault (workflow.Parts.Died). nil means that it did not.
	Begin func() (died bool, err error)
	// Compilation is the running compilation of the complete program, for a program without the SDKs of clouds. nil
	// means that there is none.
	Compilation Compilation
	// AwaitDemo makes GET /healthz answer 503 until Demo has made the demo and its accounts are discovered.
	AwaitDemo bool
	// Observer is told about the usage of functions, to compute their cost in AWS. nil means no observer.
	Observer Observer
}

func (o Options) filled() Options {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Mails == nil {
		o.Mails = io.Discard
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	if o.Begin == nil {
		o.Begin = func() (bool, error) { return false, nil }
	}
	if o.DNS == nil {
		o.DNS = net.DefaultResolver
	}
	return o
}

// Service is the service, ready to answer requests. Run does the work behind the requests.
type Service struct {
	Platform  *platform.Platform
	Providers cloud.Providers
	http.Handler

	observer Observer
	engine   *workflow.Embedded
	workers  map[string]workflow.Handler // by their folders
	serving  map[string]rest.Function    // of the template's routes, by their folders
	mailer   *mailer.Mailer
	notifier *notifier.Notifier
	loops    *loopDeaths
	turns    *turns
	close    []func() error // last one first

	unverified *unverified

	dir  string
	demo atomic.Pointer[madeDemo] // nil until the demo is made
	// nil before the demo is made, and once its decisions are
	undecided atomic.Pointer[undecidedDemo]
}

// Open starts the service. If it fails, it closes everything that it opened.
func Open(o Options) (*Service, error) {
	s := &Service{turns: newTurns(), dir: o.Dir}
	if err := s.open(o.filled()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Service) open(o Options) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the local service: %w", err)
	}
	template, err := os.ReadFile(filepath.Join(o.Root, "template.yaml"))
	if err != nil {
		return fmt.Errorf("read the service's template (run from the repository, or name it with -root): %w", err)
	}
	store, err := s.store(o)
	if err != nil {
		return err
	}
	if s.Platform, err = newPlatform(o, store); err != nil {
		return err
	}
	s.unverified = newUnverified(o.Dir)
	if !providers.Complete {
		s.Platform.Pending = &pending{o.Compilation, s.unverified}
	}
	died, err := o.Begin()
	if err != nil {
		return err
	}
	all := functions.All()
	if err = s.startWorkers(o, store, all, died); err != nil {
		return err
	}
	if s.loops, err = readLoopDeaths(o.Dir, died, o.Clock); err != nil {
		return err
	}
	s.loops.trial = s.engine.Trial
	sender, err := o.sender()
	if err != nil {
		return err
	}
	s.observer = o.Observer
	s.mailer = mailer.New(s.Platform, sender, o.mailRate())
	s.notifier = notifier.New(s.Platform, s.receivers(o))
	entry := within(o, authorizer.Declaration, authorizer.Handler(s.Platform))
	s.serving = serving(o, s.Platform, all)
	api, err := gateway.New(template, s.serving, gateway.Authorizer(entry), o.Clock)
	if err != nil {
		return err
	}
	return s.handle(api, o.AwaitDemo)
}

// handle makes s answer requests by api and the files beside it.
func (s *Service) handle(api http.Handler, awaitDemo bool) (err error) {
	if s.Handler, err = s.besideFiles(api); err == nil && awaitDemo {
		s.Handler = s.whenDemoIsReady(s.Handler)
	}
	return err
}

// receivers returns the receivers of events: the given ones, or else those of every receiver package.
func (s *Service) receivers(o Options) notifier.Receivers {
	if o.Receivers != nil {
		return *o.Receivers
	}
	return notifier.Everybody(s.Platform)
}

// sender returns the sender of mails: the given one, or else the outbox.
func (o Options) sender() (mail.Sender, error) {
	if o.Sender != nil {
		return o.Sender, nil
	}
	return mail.NewOutbox(filepath.Join(o.Dir, "mails"), o.Mails)
}

// mailRate returns how many mails a second are sent, 0 without a limit. A mail server has a limit, the outbox has
// none.
func (o Options) mailRate() int {
	if o.Sender != nil {
		return mailer.DefaultRate
	}
	return 0
}

// store opens the store: the named table, or else the embedded store. It makes the keys of a new embedded store first,
// so that an existing store without keys has lost them.
func (s *Service) store(o Options) (table.Store, error) {
	if o.Remote.Table != "" {
		o.Remote.Clock = o.Clock
		return table.NewDynamoDB(o.Remote), nil
	}
	path := storePath(o)
	_, err := os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		if _, err = openKeys(o); err != nil {
			return nil, err
		}
	}
	e, err := table.Open(path, table.Options{NoSync: o.NoSync, Clock: o.Clock, Layout: platform.Layout})
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, e.Close)
	if isNew {
		return e, nil
	}
	return e, refuseLostKeys(o, path)
}

// limited returns the store for the functions, with the limits of o if it has any. The workflow engine has its rows
// in the store too, but it has limits of its own in AWS.
func (o Options) limited(store table.Store) table.Store {
	if o.Limits == nil {
		return store
	}
	return table.NewLimitedStore(store, clock.System{}, *o.Limits)
}

// Close stops all work in progress and closes the store. The next Open continues the work.
func (s *Service) Close() error {
	var errs []error
	for _, end := range slices.Backward(s.close) {
		errs = append(errs, end())
	}
	s.close = nil
	return errors.Join(errs...)
}

// Resume continues the executions of state machines that an earlier process left.
func (s *Service) Resume(ctx context.Context) error { return s.engine.Resume(ctx) }

// Drain stops new loops and new tasks of state machines from starting, and returns when the running ones have ended,
// or when ctx has. Requests are still answered. Call Close after it; the next Open continues the remaining work.
func (s *Service) Drain(ctx context.Context) error { return s.turns.drain(ctx) }

// AwaitIdle waits until no state machine runs except the named ones, or until ctx ends. A failed execution counts as
// ended.
func (s *Service) AwaitIdle(ctx context.Context, except ...string) error {
	return s.engine.Idle(ctx, except...)
}
