package confined

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
)

// Serve reads the file of the parent's request and returns when it is read. It limits the memory of this process from
// then on, so the process must not do anything else. Errors in the file are sent to the parent. The returned error
// concerns only the connection to the parent.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &connection{in: bufio.NewReaderSize(in, 64<<10), out: out}
	_, content, err := readMessage(c.in)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	var q request
	if err = json.Unmarshal(content, &q); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err = limitMemory(ctx, q.Limit); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	totals, err := billfile.ReadRows(ctx, q.Form, q.Name, &remoteFile{c, q.Size}, c.take)
	if c.err != nil {
		return c.err
	}
	return c.end(totals.Rows, err)
}

// connection is the connection to the parent process.
type connection struct {
	in   *bufio.Reader
	out  io.Writer
	rows encoder
	err  error
}

// batch is the minimum size in bytes of a message of charges, except the last one.
const batch = 64 << 10

// take collects charges and sends them in batches.
func (c *connection) take(row int64, charge *bill.Charge) error {
	c.rows.add(row, charge)
	if len(c.rows.b) < batch {
		return nil
	}
	return c.flush()
}

func (c *connection) flush() error {
	if len(c.rows.b) == 0 {
		return c.err
	}
	c.send(tellRows, c.rows.b)
	c.rows.b = c.rows.b[:0]
	return c.err
}

func (c *connection) send(kind byte, content []byte) {
	if c.err == nil {
		c.err = writeMessage(c.out, kind, content)
	}
}

// end sends the result of bill.Read.
func (c *connection) end(rows int64, why error) error {
	a := answer{Rows: rows, Failed: why != nil}
	if why != nil {
		a.Kind, a.Message = fault.KindOf(why), why.Error()
		if a.Kind == fault.Invalid {
			a.Message = fault.Message(why)
		}
	}
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err = c.flush(); err == nil {
		c.send(tellEnd, b)
	}
	return c.err
}

// errSource says that the file could not be read; the parent process knows the reason.
var errSource = errors.New("the file cannot be read")

// ask requests a part of the file.
func (c *connection) ask(kind byte, p []byte, off int64) (int, error) {
	var q [12]byte
	p = p[:min(len(p), maxMessage)]
	binary.LittleEndian.PutUint32(q[:], uint32(len(p))) //nolint:gosec // at most maxMessage
	binary.LittleEndian.PutUint64(q[4:], uint64(off))   //nolint:gosec // a negative one is refused there
	if c.send(kind, q[:]); c.err != nil {
		return 0, c.err
	}
	status, content, err := readMessage(c.in)
	if err != nil {
		c.err = err
		return 0, err
	}
	n := copy(p, content)
	switch status {
	case readEnd:
		return n, io.EOF
	case readFailed:
		return n, errSource
	}
	return n, nil
}

// remoteFile is the file, which the parent process reads.
type remoteFile struct {
	*connection
	size int64
}

func (f *remoteFile) Read(p []byte) (int, error)              { return f.ask(askRead, p, 0) }
func (f *remoteFile) ReadAt(p []byte, off int64) (int, error) { return f.ask(askReadAt, p, off) }
func (f *remoteFile) Size() int64                             { return f.size }
func (f *remoteFile) Close() error                            { return nil }
