package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// cloudCalls are operations that wait for a cloud that does not answer.
func cloudCalls() *rest.Group {
	g := rest.NewGroup("Resources")
	handle := func(id, path string, wait func(context.Context) error) {
		rest.Handle(g, rest.Op{
			ID: id, Method: http.MethodGet, Path: path, Summary: "Ask a cloud", SignedIn: true,
		}, func(ctx context.Context, _ *struct{}) (string, error) { return "answered", wait(ctx) })
	}
	handle("askForever", "/forever", func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("call the cloud: %w", ctx.Err())
	})
	handle("askWithReason", "/reason", func(ctx context.Context) error {
		<-ctx.Done()
		return fault.New(fault.Unavailable, "the cloud of account ca_1 did not answer in time: try again")
	})
	handle("askQuickly", "/quick", func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-time.After(23 * time.Second):
		}
		return ctx.Err()
	})
	return g
}

// API Gateway stops waiting after 29 seconds. An operation is cut off before, so that the client gets a reason, and the
// log the status.
func TestMount_AnOperationHas24Seconds(t *testing.T) {
	handler, _ := rest.Mount(&platform.Platform{}, cloudCalls())
	for name, c := range map[string]struct {
		path   string
		status int
		says   string
		takes  time.Duration
	}{
		"a cloud that never answers": {
			"/forever", http.StatusInternalServerError,
			"no answer in time", 24 * time.Second,
		},
		"a handler that says itself why it has no answer": {
			"/reason", http.StatusInternalServerError,
			"ca_1 did not answer", 24 * time.Second,
		},
		"a cloud that answers within the time is waited for": {"/quick", http.StatusOK, "answered", 23 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, w := time.Now(), httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
				handler.ServeHTTP(w, withCaller(r, identity.Caller{User: "usr_anna", Org: "org_1"}))
				if took := time.Since(began); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) ||
					took != c.takes {
					t.Errorf("%d %s after %s; want %d after %s", w.Code, w.Body, took, c.status, c.takes)
				}
			})
		})
	}
}
