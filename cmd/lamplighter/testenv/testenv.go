// Package testenv starts the whole service for a test, from one declaration: the same process that `make run` starts,
// on a store of its own, with users, organizations and simulated clouds made through the API.
package testenv

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// Setup configures a service. The zero value is a service on the machine's clock with an empty store. It ends with the
// test.
type Setup struct {
	Dir    string          // keys, mails and store; "" is a folder of the test's
	Remote table.Remote    // a DynamoDB table instead of the embedded store
	Clock  clock.Clock     // nil is the machine's
	Log    *slog.Logger    // nil is nowhere
	Google platform.Client // of a provider of the test's; none is off
	GitHub platform.Client
	Epoch  time.Time // when the store was last restored; zero is never
	Sync   bool      // every write waits for the disk, as in service; tests that do not die do without
}

// Env is a running service.
type Env struct {
	*local.Service
	URL   string
	Setup Setup
	DNS   *apitest.Names // the service's DNS

	t     testing.TB
	mails *log
	end   func()
}

// Start starts the service and its background loops. The service ends with the test, or by Stop.
func Start(t testing.TB, s Setup) *Env {
	t.Helper()
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	e := &Env{t: t, Setup: s, DNS: &apitest.Names{}, mails: &log{}}
	e.start()
	t.Cleanup(e.Stop)
	return e
}

func (e *Env) start() {
	e.t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	e.URL = "http://" + srv.Listener.Addr().String()
	service, err := local.Open(local.Options{
		Root: root(e.t), Dir: e.Setup.Dir, Remote: e.Setup.Remote, NoSync: !e.Setup.Sync, Limits: e.limits(),
		Clock: e.Setup.Clock, Log: e.Setup.Log,
		BaseURL: "http://lamplighter.test", Version: "test", Mails: e.mails, DNS: e.DNS, Epoch: e.Setup.Epoch,
		Google: e.Setup.Google, GitHub: e.Setup.GitHub,
		// only for the addresses of Google's pages
		GoogleCloud: platform.Client{ID: "lamplighter-test", Secret: "of the tests", Issuer: platform.GoogleIssuer},
	})
	if err != nil {
		srv.Listener.Close() //nolint:errcheck // nothing was served
		e.t.Fatal(err)
	}
	e.Service = service
	srv.Config.Handler = service
	srv.Start()
	ctx, cancel := withCancel(e.t)
	if err = service.Resume(ctx); err != nil {
		e.t.Error(err)
	}
	var loops sync.WaitGroup
	loops.Go(func() { service.Run(ctx) })
	e.end = sync.OnceFunc(func() {
		srv.Close()
		cancel()
		loops.Wait()
		if err := service.Close(); err != nil {
			e.t.Error(err)
		}
	})
}

// limits returns the limits of the store in tests. A table of another maker has limits of its own.
func (e *Env) limits() *table.Limits {
	if e.Setup.Remote.Table != "" {
		return nil
	}
	return tabletest.Limits()
}

// Stop ends the service as a graceful shutdown does. Stopping again does nothing.
func (e *Env) Stop() { e.end() }

// Restart stops the service and starts it again on the same folder. The address changes.
func (e *Env) Restart() {
	e.t.Helper()
	e.Stop()
	e.start()
}

// root returns the repository: the folder above cmd/lamplighter, wherever the test runs.
func root(t testing.TB) string {
	t.Helper()
	for _, up := range []string{".", "..", "../..", "../../..", "../../../.."} {
		if found, err := filepath.Glob(filepath.Join(up, "template.yaml")); err == nil && len(found) == 1 {
			return up
		}
	}
	t.Fatal("no template.yaml above the test")
	return ""
}

// log keeps the lines that the outbox writes for mails.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p to the log.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
