// Package packing compresses stored data with Zstandard. Methods make the encoder and decoder at their first use.
// Package variables initialized by functions would link the encoder into programs that only decompress.
package packing

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Levels of a Packer trade size against time. The zero value is Default.
const (
	Default = zstd.EncoderLevel(0)
	Fastest = zstd.SpeedFastest
)

// Packer compresses data. It is safe for concurrent use, and must not be copied.
type Packer struct {
	Level zstd.EncoderLevel

	once sync.Once
	z    *zstd.Encoder
}

// Append appends the compressed form of b to the given slice, which may be nil.
func (p *Packer) Append(to, b []byte) []byte {
	p.once.Do(func() {
		level := p.Level
		if level == Default {
			level = zstd.SpeedDefault
		}
		var err error
		p.z, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true))
		if err != nil { // the options are constants
			panic(err)
		}
	})
	return p.z.EncodeAll(b, to)
}

// Unpacker decompresses data written by a Packer. It is safe for concurrent use, and must not be copied.
type Unpacker struct {
	Max uint64 // limit of the decompressed size in bytes; larger data is refused before memory is allocated

	once sync.Once
	z    *zstd.Decoder
	err  error
}

// Unpack returns the decompressed form of b.
func (u *Unpacker) Unpack(b []byte) ([]byte, error) { return u.Append(nil, b) }

// Append appends the decompressed form of b to the given slice, which may be nil.
func (u *Unpacker) Append(to, b []byte) ([]byte, error) {
	u.once.Do(func() {
		u.z, u.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(u.Max))
	})
	if u.err != nil {
		return nil, fmt.Errorf("make an unpacker: %w", u.err)
	}
	return u.z.DecodeAll(b, to)
}
