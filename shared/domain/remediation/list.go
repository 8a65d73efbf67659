package remediation

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Line is a workflow as the list shows it. It is written with each change of the workflow.
type Line struct {
	ID          string       `json:"id"`
	Status      Status       `json:"status"`
	Digest      string       `json:"digest"`
	Reason      string       `json:"reason,omitempty"`
	Message     string       `json:"message,omitempty"`
	Title       string       `json:"title"` // of the first recommendation
	RecIDs      []string     `json:"recIDs"`
	ResourceIDs []string     `json:"resourceIDs"`
	SavingUSD   money.Amount `json:"savingUSD"`
	Requester   string       `json:"requester"` // addresses
	Approver    string       `json:"approver,omitempty"`
	ExpiresAt   time.Time    `json:"expiresAt"`
	CreatedAt   time.Time    `json:"createdAt"`
	UpdatedAt   time.Time    `json:"updatedAt"`
	EndedAt     time.Time    `json:"endedAt,omitzero"`
}

// StatusAt returns the status at a time, as Workflow.StatusAt does.
func (l *Line) StatusAt(at time.Time) Status {
	if l.Status == AwaitingApproval && !at.Before(l.ExpiresAt) {
		return Expired
	}
	return l.Status
}

// line returns the write of the workflow's line.
func (w *Workflow) line() (table.Write, error) {
	l := Line{
		ID: w.ID, Status: w.Status, Digest: w.Digest, Reason: w.Reason, Message: w.Message, SavingUSD: w.SavingUSD(),
		Requester: w.Requester.Email, Approver: w.Approver.Email, ExpiresAt: w.ExpiresAt, CreatedAt: w.CreatedAt,
		UpdatedAt: w.UpdatedAt, EndedAt: w.EndedAt,
	}
	for i := range w.Targets {
		l.RecIDs = append(l.RecIDs, w.Targets[i].RecID)
		l.ResourceIDs = append(l.ResourceIDs, w.Targets[i].ResourceID)
	}
	if len(w.Targets) > 0 {
		l.Title = w.Targets[0].Title
	}
	it, err := table.NewItem(table.Key{PK: pk(w.Org), SK: listPrefix + w.ID}, l)
	it.Expires = w.CreatedAt.Add(Keep)
	return table.Put(it), err
}

// List returns the lines of all workflows of an organization, newest first. It takes one round trip for each 1,000
// lines. An organization starts at most MaxDayChanges changes a day, so its list stays short.
func (s *Store) List(ctx context.Context, org string) ([]Line, error) {
	var out []Line
	q := table.Query{PK: pk(org), Prefix: listPrefix, Reverse: true, Limit: table.MaxPage}
	for {
		some, next, err := table.ReadPage[Line](ctx, s.table, q)
		if err != nil {
			return nil, fault.Wrap("list the remediation workflows of "+org, err)
		}
		if out, q.Cursor = append(out, some...), next; next == "" {
			return out, nil
		}
	}
}
