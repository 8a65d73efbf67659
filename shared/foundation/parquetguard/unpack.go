package parquetguard

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpacker decompresses pages. No page gets more than the buffer that it is given.
type unpacker struct {
	gzip   *gzip.Reader
	zstd   *zstd.Decoder
	brotli *brotli.Reader
}

// into decompresses src into dst and returns the number of bytes.
func (u *unpacker) into(dst, src []byte, codec int64) (int, error) {
	n, err := u.decompress(dst, src, format.CompressionCodec(codec)) //nolint:gosec // it is known
	if errors.Is(err, errLarger) {
		return 0, refuse("it is larger than the %d bytes that its header claims when unpacked", len(dst))
	}
	if err != nil {
		return 0, refuse("it cannot be unpacked from %d to %d bytes: %s", len(src), len(dst), err)
	}
	return n, nil
}

var errLarger = errors.New("the content is larger than its buffer")

func (u *unpacker) decompress(dst, src []byte, codec format.CompressionCodec) (int, error) {
	switch codec {
	case format.Snappy:
		return unpackSnappy(dst, src)
	case format.Gzip:
		return u.unpackGzip(dst, src)
	case format.Brotli:
		return u.unpackBrotli(dst, src)
	case format.Zstd:
		return u.unpackZstd(dst, src)
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	default:
		return 0, errors.New("its compression is not known")
	}
}

// unpackSnappy first checks the length that the block claims, because the library allocates a buffer of that size.
func unpackSnappy(dst, src []byte) (int, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return 0, err
	}
	if n > len(dst) {
		return 0, errLarger
	}
	_, err = snappy.Decode(dst, src)
	return n, err
}

func (u *unpacker) unpackGzip(dst, src []byte) (n int, err error) {
	if u.gzip == nil {
		u.gzip, err = gzip.NewReader(bytes.NewReader(src))
	} else {
		err = u.gzip.Reset(bytes.NewReader(src))
	}
	if err != nil {
		return 0, err
	}
	return drain(u.gzip, dst)
}

func (u *unpacker) unpackBrotli(dst, src []byte) (int, error) {
	if u.brotli == nil {
		u.brotli = brotli.NewReader(bytes.NewReader(src))
	} else if err := u.brotli.Reset(bytes.NewReader(src)); err != nil {
		return 0, err
	}
	return drain(u.brotli, dst)
}

// drain fills dst from r, which must end within it.
func drain(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return n, errLarger
	} else if !errors.Is(err, io.EOF) {
		return n, err
	}
	return n, nil
}

func (u *unpacker) unpackZstd(dst, src []byte) (int, error) {
	if u.zstd == nil {
		var err error
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(MaxPageBytes))
		if err != nil {
			return 0, err
		}
	}
	out, err := u.zstd.DecodeAll(src, dst[:0:len(dst)])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = errLarger
	}
	return len(out), err
}
