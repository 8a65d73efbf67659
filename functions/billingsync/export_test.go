package billingsync

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/workflow"
)

// Limits are the limits of a worker.
type Limits struct {
	PartLines             int64
	OpenMonths, OpenLines int
}

// HandlerWithin is Handler with other limits.
func HandlerWithin(l Limits, p *platform.Platform, providers cloud.Providers) workflow.Handler {
	w := newWorker(p, providers)
	w.limits = limits{l.PartLines, l.OpenMonths, l.OpenLines}
	return w.handle
}
