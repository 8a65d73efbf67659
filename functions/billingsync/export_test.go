package billingsync

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/workflow"
)

// HandlerOfParts is Handler with files of line items of so many lines.
func HandlerOfParts(p *platform.Platform, providers cloud.Providers, lines int64) workflow.Handler {
	w := newWorker(p, providers)
	w.partLines = lines
	return w.handle
}
