package kubernetes

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/cloud"
)

// kind is one kind of resource: its description, its permissions and its calls. Functions return *cloud.Error.
type kind struct {
	cloud.Kind
	resource apiResource
	needs    needs
	list     func(ctx context.Context, c *cluster, page string) (cloud.ResourcePage, error)
	read     func(ctx context.Context, p *pass, at ref) (cloud.State, error)
	act      func(ctx context.Context, p *pass, v cloud.Verb, goals []goal) []outcome
	scale    func(ctx context.Context, c *cluster, at ref, want cloud.Capacity) error
}

// goal is an object to act on, with the snapshot of the stop.
type goal struct {
	ref
	snapshot json.RawMessage
}

// catalogueKind takes a kind's description from the catalogue, which API functions read without this package.
func catalogueKind(kind string) cloud.Kind {
	k, _ := cloud.KindOf(kind)
	return k
}

// decodeSnapshot decodes a snapshot; false when it is empty.
func decodeSnapshot[M any](raw json.RawMessage) (m M, ok bool, err error) {
	if len(raw) == 0 || cloud.IsOff(raw) {
		return m, false, nil
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, false, cloud.ErrInvalid("the state that was remembered before the stop cannot be read: %s", err)
	}
	return m, true, nil
}

// encodeSnapshot is for memories, which have nothing that JSON cannot hold.
func encodeSnapshot(m any) json.RawMessage {
	b, _ := json.Marshal(m)
	return b
}
