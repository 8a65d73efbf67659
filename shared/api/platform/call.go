package platform

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
)

// ReadCall decodes the payload of a call of a worker by a state machine. Work that was given up because it crashed its
// process is noted first (workqueue.Deaths).
func (p *Platform) ReadCall(ctx context.Context, worker string, input json.RawMessage) (workflow.Call, error) {
	c, err := workflow.ReadCall(worker, input)
	if err != nil {
		return c, err
	}
	return c, workqueue.Deaths{Store: p.Table, Clock: p.Clock, Log: p.Log}.Note(ctx, c)
}
