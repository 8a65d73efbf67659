// Package auditlinker links the entries that requests have left into the chains of the audit log, also where nobody reads the
// log: what has its place in a chain cannot be altered unseen.
package auditlinker

import (
	"context"
	"encoding/json"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

// stretch is how long a run links; the next begins a minute after it began.
const stretch = 45 * time.Second

// Handler links once; EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		until := p.Clock.Now().Add(stretch)
		return audit.New(p).LinkDue(ctx, func() bool { return p.Clock.Now().After(until) })
	}
}
