package executor

import (
	"context"

	"lamplighter.dev/shared/engine/workflow"
)

// unstarted is the workflow engine of a process that dies before it starts anything: what is left is what was committed.
type unstarted struct{ workflow.Engine }

// Start loses the start.
func (unstarted) Start(context.Context, string, string, any) error { return nil }
