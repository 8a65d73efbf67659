// Package packing compresses what is stored, with Zstandard. Both directions are made when they are first used, by methods: a variable
// that holds a function which makes them would have every function that only reads link the encoder, too.
package packing

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Levels of a Packer: bytes against time. The zero value is Default.
const (
	Default = zstd.EncoderLevel(0)
	Fastest = zstd.SpeedFastest
)

// Packer compresses. It is safe for use by many goroutines, and must not be copied.
type Packer struct {
	Level zstd.EncoderLevel

	once sync.Once
	z    *zstd.Encoder
}

// Append compresses b and appends it to what is given, which may be nil.
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

// Unpacker reads what a Packer wrote. It is safe for use by many goroutines, and must not be copied.
type Unpacker struct {
	Max uint64 // bytes: what would take more is refused before memory is taken for it

	once sync.Once
	z    *zstd.Decoder
	err  error
}

// Unpack returns what was compressed.
func (u *Unpacker) Unpack(b []byte) ([]byte, error) {
	u.once.Do(func() {
		u.z, u.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(u.Max))
	})
	if u.err != nil {
		return nil, fmt.Errorf("make an unpacker: %w", u.err)
	}
	return u.z.DecodeAll(b, nil)
}
