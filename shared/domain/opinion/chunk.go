package opinion

import (
	"encoding/json"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/packing"
)

// These constants limit a chunk: opinions, and bytes as they are stored, so that its item stays below table.MaxItem in
// base64.
const (
	perChunk   = 4_000
	chunkBytes = 270_000
)

const maxUnpacked = 32 << 20

var (
	packer   = &packing.Packer{}
	unpacker = &packing.Unpacker{Max: maxUnpacked}
)

// packed is the stored form of a chunk. Gen and More are of the first part of a comparison: how many parts follow it.
type packed struct {
	Z    []byte    `json:"z"`
	Gen  string    `json:"gen,omitempty"`
	More int       `json:"more,omitempty"`
	At   time.Time `json:"at,omitzero"`
}

// packChunks packs a list into chunks that fit into items. It halves a chunk that is too large.
func packChunks[T any](all []T) (out [][]byte, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	if len(all) > perChunk {
		return packHalves(all, perChunk)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	if z := packer.Append(nil, b); len(z) <= chunkBytes || len(all) == 1 {
		return [][]byte{z}, nil
	}
	return packHalves(all, len(all)/2)
}

func packHalves[T any](all []T, at int) ([][]byte, error) {
	first, err := packChunks(all[:at])
	if err != nil {
		return nil, err
	}
	rest, err := packChunks(all[at:])
	return append(first, rest...), err
}

// unpackChunk appends the list of a chunk.
func unpackChunk[T any](to []T, it table.Item) ([]T, packed, error) {
	p, err := table.Decode[packed](it)
	if err != nil {
		return to, p, err
	}
	b, err := unpacker.Unpack(p.Z)
	if err != nil {
		return to, p, &table.DamageError{Key: it.Key, Err: err}
	}
	var some []T
	if err = json.Unmarshal(b, &some); err != nil {
		return to, p, &table.DamageError{Key: it.Key, Err: err}
	}
	return append(to, some...), p, nil
}
