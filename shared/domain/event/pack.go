package event

import (
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/packing"
)

// packed is the stored form of several events in one row. It is compressed, because the events are similar.
type packed struct {
	Z []byte `json:"z"`
}

// maxPacked limits the size of a row's events, in bytes.
const maxPacked = 4 << 20

var (
	packer   packing.Packer
	unpacker = packing.Unpacker{Max: maxPacked}
)

// PutAll returns the write that stores events in one row. They are the events of one transaction, and that transaction
// happens once. Each event has its ID (IDOf) and the same At. With a row per event, a bulk action of 10,000 would
// exceed the write capacity of one key.
func PutAll(org string, events []Event) (table.Write, error) {
	plain, err := json.Marshal(events)
	if err != nil {
		return table.Write{}, fmt.Errorf("encode %d events: %w", len(events), err)
	}
	it, err := table.NewItem(table.Key{PK: PK(org), SK: events[0].ID}, packed{packer.Append(nil, plain)})
	it.Expires = events[0].At.Add(Keep)
	return table.Put(it), err
}

// IDOf returns the id of the event of a name at the time of e.
func IDOf(e *Event, name string) string { return id.Derived("event", e.At, name) }

// Decode returns the events of a row, as Put or PutAll wrote it.
func Decode(it table.Item) ([]Event, error) {
	p, err := table.Decode[packed](it)
	if err != nil {
		return nil, err
	}
	if len(p.Z) == 0 {
		e, err := table.Decode[Event](it)
		return []Event{e}, err
	}
	plain, err := unpacker.Unpack(p.Z)
	if err != nil {
		return nil, fmt.Errorf("unpack events %s: %w", it.SK, err)
	}
	var out []Event
	if err = json.Unmarshal(plain, &out); err != nil {
		return nil, fmt.Errorf("decode events %s: %w", it.SK, err)
	}
	return out, nil
}
