package cost

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// stateBuffer is the most bytes of an object that are read at once.
const stateBuffer = 8 << 20

// stateReader reads the sections of an object.
type stateReader struct {
	*bufio.Reader
	failed error // of the store
}

// openState opens the object of a checkpoint, or returns fault.NotFound.
func (s *Store) openState(ctx context.Context, name string) (*stateReader, error) {
	if s.files == nil {
		return nil, fault.New(fault.Internal, "this process stores no line items")
	}
	size, err := s.files.Size(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &stateReader{}
	object := &objectReader{ctx: ctx, files: s.files, name: name, left: size, failed: &r.failed}
	r.Reader = bufio.NewReaderSize(object, int(min(size, stateBuffer)))
	return r, nil
}

func (s *Store) putState(ctx context.Context, name string, write func(io.Writer) error) error {
	if s.files == nil {
		return fault.New(fault.Internal, "this process stores no line items")
	}
	return s.files.Put(ctx, name, write)
}

// section returns the content of the next section.
func (r *stateReader) section() ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, errState
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxContent {
		return nil, errState
	}
	packed := make([]byte, n)
	if _, err := io.ReadFull(r, packed); err != nil {
		return nil, errState
	}
	raw, err := decompressor.Unpack(packed)
	if err != nil {
		return nil, errState
	}
	return raw, nil
}

// refill reads the next section when the present one ends.
func (r *stateReader) refill(s *scanner) error {
	if len(s.b) > 0 {
		return nil
	}
	var err error
	s.b, err = r.section()
	return err
}

// objectReader reads an object from its beginning.
type objectReader struct {
	ctx    context.Context
	files  archive.Files
	name   string
	at     int64
	left   int64
	failed *error
}

// Read reads the next bytes.
func (o *objectReader) Read(p []byte) (int, error) {
	if o.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), o.left)]
	if err := o.files.ReadAt(o.ctx, o.name, p, o.at); err != nil {
		*o.failed = err
		return 0, err
	}
	o.at, o.left = o.at+int64(len(p)), o.left-int64(len(p))
	return len(p), nil
}
