package remediation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Capture is the values of one target before its change. It is written once, before any call.
type Capture struct {
	WorkflowID  string            `json:"workflowID"`
	Target      int               `json:"target"` // its number in the workflow, from 0
	ResourceUID string            `json:"resourceUID"`
	Before      map[string]string `json:"before"`
	Native      json.RawMessage   `json:"native,omitempty"` // what the provider needs to set them again exactly
	At          time.Time         `json:"at"`
}

func captureKey(org, workflowID string, target int) table.Key {
	return table.Key{
		PK: table.OrgPK(org) + CapturePartition.Name(), SK: fmt.Sprintf("%s#%02d", workflowID, target),
	}
}

// WriteCapture stores a capture unless the target has one already, which stays as it is.
func (s *Store) WriteCapture(ctx context.Context, org string, c Capture) error {
	it, err := table.NewItem(captureKey(org, c.WorkflowID, c.Target), c)
	if err != nil {
		return err
	}
	it.Expires = c.At.Add(Keep)
	_, err = s.table.Write(ctx, table.Put(it, table.Absent()))
	if _, there := errors.AsType[*table.ConditionError](err); there {
		return nil
	}
	return fault.Wrap("store the values before a change of "+c.ResourceUID, err)
}

// ReadCapture reads the capture of a target: fault.NotFound if its change was never begun.
func (s *Store) ReadCapture(ctx context.Context, org, workflowID string, target int) (Capture, error) {
	c, err := table.Read[Capture](ctx, s.table, captureKey(org, workflowID, target))
	return c, fault.Wrap(fmt.Sprintf("read the values before change %d of %s", target, workflowID), err)
}
