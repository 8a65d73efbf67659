// Package auditlinker links the entries of requests into the chains of the audit log, also while the log is not read:
// an entry in a chain cannot be changed unnoticed.
package auditlinker

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

// stretch is how long a run links. The next run begins a minute after the begin of this one.
const stretch = 45 * time.Second

// Handler links once. EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		until := p.Clock.Now().Add(stretch)
		return audit.New(p).LinkDue(ctx, func() bool { return p.Clock.Now().After(until) })
	}
}
