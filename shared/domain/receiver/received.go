package receiver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// ReceivedPartition holds the webhooks received from an organization's services, and their marks.
const ReceivedPartition table.Partition = "ORG#*#RECEIVED"

// KeepReceived is how long a received webhook and its marks are kept to detect duplicates.
const KeepReceived = 90 * 24 * time.Hour

// Received is a webhook received from a service.
type Received struct {
	ID         string    `json:"id"` // rcv_…
	Event      string    `json:"event"`
	Repository string    `json:"repository"`
	Ref        string    `json:"ref"`
	Commit     string    `json:"commit"`
	DeliveryID string    `json:"deliveryID"` // the service's ID of the delivery; empty when there is none
	At         time.Time `json:"at"`
}

const markPrefix = "MARK#"

func receivedKey(org, sk string) table.Key {
	return table.Key{PK: table.OrgPK(org) + ReceivedPartition.Name(), SK: sk}
}

// markKey returns the key of a mark. It contains the mark's hash, because marks are untrusted and of any length.
func markKey(org, integrationID, mark string) table.Key {
	sum := sha256.Sum256([]byte(mark))
	return receivedKey(org, markPrefix+integrationID+"#"+hex.EncodeToString(sum[:]))
}

// Receive stores a webhook that an integration received at r.At, unless one of its marks was received before; then it
// returns duplicate. It takes one round trip.
func (s *IntegrationStore) Receive(ctx context.Context, org, integrationID string, r Received,
	marks []string,
) (duplicate bool, err error) {
	r.ID = id.New("rcv", r.At)
	ws := make([]table.Write, 0, len(marks)+1)
	put, err := kept(receivedKey(org, integrationID+"#"+r.ID), r, r.At)
	ws = append(ws, put)
	for _, m := range marks {
		w, failed := kept(markKey(org, integrationID, m), map[string]string{"received": r.ID}, r.At)
		err = errors.Join(err, failed)
		w.If = []table.Cond{table.Absent()}
		ws = append(ws, w)
	}
	if err != nil {
		return false, err
	}
	err = s.table.Transact(ctx, ws...)
	if _, seen := errors.AsType[*table.ConditionError](err); seen {
		return true, nil
	}
	return false, fault.Wrap("keep what "+integrationID+" sent", err)
}

func kept(k table.Key, v any, at time.Time) (table.Write, error) {
	it, err := table.NewItem(k, v)
	it.Expires = at.Add(KeepReceived)
	return table.Put(it), err
}

// LastReceived lists the last n webhooks that an integration received, newest first. It takes one round trip.
func (s *IntegrationStore) LastReceived(ctx context.Context, org, integrationID string, n int) ([]Received, error) {
	k := receivedKey(org, integrationID+"#")
	out, _, err := table.ReadPage[Received](ctx, s.table, table.Query{PK: k.PK, Prefix: k.SK, Reverse: true, Limit: n})
	return out, fault.Wrap("list what "+integrationID+" sent", err)
}
