// Package auditlinker links the entries of requests into the chains of the audit log, also while the log is not read:
// an entry in a chain cannot be changed unnoticed. Before that it turns counts of refused log-ins, codes and tokens
// into entries.
package auditlinker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/people/attempts"
)

// tellStretch is how long a run turns counts of attempts into entries, before it links.
const tellStretch = 15 * time.Second

// stretch is how long a run links. The next run begins a minute after the begin of this one.
const stretch = 45 * time.Second

// Handler links once. EventBridge calls it every minute.
func Handler(p *platform.Platform) workflow.Handler {
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		begin := p.Clock.Now()
		within := func(d time.Duration) func() bool {
			return func() bool { return p.Clock.Now().Sub(begin) > d }
		}
		_, err := attempts.New(p).Tell(ctx, within(tellStretch))
		due, failed := audit.New(p).LinkDue(ctx, within(stretch))
		return due, errors.Join(err, failed)
	}
}
