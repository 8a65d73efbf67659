package cost

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/packing"
)

const (
	chunkVersion = 1
	// maxPart limits the compressed bytes of an item. Base64 adds a third, which stays below 334 kB.
	maxPart = 250_000
	// maxContent is the largest size of an unpacked chunk. It is checked before memory is allocated.
	maxContent = 64 << 20
	// partsAtOnce is the number of items of full blocks that one round trip writes or reads, and keysAtOnce the number
	// of smaller items.
	partsAtOnce = 24
	keysAtOnce  = 100
)

var (
	compressor   packing.Packer
	decompressor = packing.Unpacker{Max: maxContent}
)

// packed is the JSON form of a chunk's part in an item.
type packed struct {
	Z []byte `json:"z"`
}

// The text of an item around its base64. Cutting it off takes a fifth of the time of parsing JSON.
const packedBefore, packedAfter = `{"z":"`, `"}`

func unpack(it table.Item) ([]byte, error) {
	n := len(it.Data) - len(packedAfter)
	if n >= len(packedBefore) && string(it.Data[:len(packedBefore)]) == packedBefore &&
		string(it.Data[n:]) == packedAfter {
		text := it.Data[len(packedBefore):n]
		out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		size, err := base64.StdEncoding.Decode(out, text)
		if err == nil {
			return out[:size], nil
		}
	}
	p, err := table.Decode[packed](it)
	return p.Z, err
}

// items returns the writes of a chunk's items.
func (c *chunk) items(org string) ([]table.Write, error) {
	z := compressor.Append([]byte{chunkVersion}, c.content)
	var out []table.Write
	for part := range slices.Chunk(z, maxPart) {
		it, err := table.NewItem(chunkKey(org, c.generation, c.name, len(out)), packed{part})
		if err != nil {
			return nil, err
		}
		out = append(out, table.Put(it))
	}
	return out, nil
}

// wanted is a chunk to be read.
type wanted struct {
	generation, name string
	parts            int
}

func (w *wanted) keys(org string) []table.Key {
	out := make([]table.Key, w.parts)
	for i := range out {
		out[i] = chunkKey(org, w.generation, w.name, i)
	}
	return out
}

// load returns the contents of chunks, from the cache if possible. The result is shared: callers must not change it.
func (s *Store) load(ctx context.Context, org string, chunks []wanted) ([][]byte, error) {
	out := make([][]byte, len(chunks))
	var ask []table.Key
	for i := range chunks {
		first := chunkKey(org, chunks[i].generation, chunks[i].name, 0)
		if out[i] = s.cache.get(first); out[i] == nil {
			ask = append(ask, chunks[i].keys(org)...)
		}
	}
	got, err := s.readItems(ctx, ask)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		if out[i] != nil {
			continue
		}
		if out[i], err = join(got, chunks[i].keys(org)); err != nil {
			return nil, fmt.Errorf("chunk %s of generation %s: %w", chunks[i].name, chunks[i].generation, err)
		}
		s.cache.put(chunkKey(org, chunks[i].generation, chunks[i].name, 0), out[i])
	}
	return out, nil
}

// readItems reads items that never change, with eventual consistency, at half the price. A missing item is newer than
// the replica; it is read again consistently.
func (s *Store) readItems(ctx context.Context, keys []table.Key) (map[table.Key]table.Item, error) {
	out := make(map[table.Key]table.Item, len(keys))
	for some := range slices.Chunk(keys, keysAtOnce) {
		got, err := s.table.BatchGet(table.Eventually(ctx), some...)
		if err != nil {
			return nil, fmt.Errorf("read %d chunks of costs: %w", len(some), err)
		}
		maps.Copy(out, got)
		late := slices.DeleteFunc(slices.Clone(some), func(k table.Key) bool { return got[k].Data != nil })
		if len(late) == 0 {
			continue
		}
		if got, err = s.table.BatchGet(ctx, late...); err != nil {
			return nil, fmt.Errorf("read %d chunks of costs again: %w", len(late), err)
		}
		maps.Copy(out, got)
	}
	return out, nil
}

// join joins the parts of a chunk and decompresses them.
func join(items map[table.Key]table.Item, keys []table.Key) ([]byte, error) {
	var z []byte
	for _, k := range keys {
		part, err := unpack(items[k])
		if items[k].Data == nil || err != nil {
			return nil, fmt.Errorf("%w: part %s", errColumn, k.SK)
		}
		if z = append(z, part...); len(keys) == 1 {
			z = part
		}
	}
	if len(z) == 0 || z[0] != chunkVersion {
		return nil, fmt.Errorf("%w: version", errColumn)
	}
	out, err := decompressor.Unpack(z[1:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errColumn, err)
	}
	return out, nil
}
