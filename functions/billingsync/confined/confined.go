// Package confined reads bills in a child process whose memory is limited. A hostile file can end only that process.
//
// The parent process starts a command, which calls Serve. The two talk over standard input and output. The child
// requests the bytes of the file and sends the charges: of each charge only the fields that differ from the previous
// charge.
package confined

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/fault"
)

// DefaultLimit is the memory, in bytes, that a child may use: parquetguard.MaxOpenBytes for the file, and half as much
// for everything else.
const DefaultLimit = 1536 << 20

// atOnce is the number of children that run at the same time.
const atOnce = 4

// The kinds of messages from the child. Each is a byte, the length of its content (4 bytes, little endian), and the
// content.
const (
	askRead   = 'r' // length (4 bytes)
	askReadAt = 'a' // length (4 bytes), offset (8 bytes)
	tellRows  = 'c' // charges
	tellEnd   = 'e' // the answer of bill.Read
)

// The status of an answer to the child. Each answer is a byte, the length of its content (4 bytes), and the content.
const (
	readOK = iota
	readEnd
	readFailed
)

// maxMessage is the maximum size of a message in bytes. It has room for a charge with the longest texts, and for the
// largest part of a file that is read at once.
const maxMessage = 64 << 20

// Reader reads bills in child processes. It is safe for concurrent use.
type Reader struct {
	command []string
	limit   int64
	slots   chan struct{}
}

// New returns a Reader that starts command, which must call Serve. limit is the memory limit of a child in bytes.
func New(command []string, limit int64) *Reader {
	return &Reader{command: command, limit: limit, slots: make(chan struct{}, atOnce)}
}

// Read is billfile.Read in a child process. A child that ends before its answer is fault.Invalid, because the file is
// the cause.
func (r *Reader) Read(ctx context.Context, form cloud.BillForm, name string, file cloud.BillReader,
	take func(*bill.Charge) error,
) (billfile.Totals, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return billfile.Totals{}, fault.Wrap("read bill "+name, ctx.Err())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := r.start(ctx, request{Form: form, Name: name, Size: file.Size(), Limit: r.limit})
	if err != nil {
		return billfile.Totals{}, fault.Wrap("start a process that reads bill "+name, err)
	}
	s := &session{child: c, file: file, taker: billfile.NewTaker(name, take)}
	err = s.run(ctx, cancel)
	return s.taker.Totals(), err
}

// child is a running process.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	stdio bytes.Buffer // the start of its standard error
}

func (r *Reader) start(ctx context.Context, q request) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, r.command[0], r.command[1:]...)} //nolint:gosec // our own command
	c.cmd.Env = []string{"GOTRACEBACK=none"}
	c.cmd.Stderr = &tail{to: &c.stdio}
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 256<<10)
	if err = c.cmd.Start(); err != nil {
		return nil, err
	}
	return c, q.write(c.in)
}

// tail keeps the first 4 KB written to it.
type tail struct{ to *bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	const most = 4 << 10
	if room := most - t.to.Len(); room > 0 {
		t.to.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// session is the reading of one file.
type session struct {
	*child
	file   cloud.BillReader
	taker  *billfile.Taker
	source error // why the file could not be read
	rows   decoder
}

// run answers the child until it ends. It kills the child when its answer is no longer needed.
func (s *session) run(ctx context.Context, kill context.CancelFunc) error {
	end, err := s.serve()
	if err != nil || end == nil {
		if errors.Is(err, errTaken) {
			kill()
		}
		_ = s.in.Close() // it may be gone
		_, _ = io.Copy(io.Discard, s.out)
	}
	waited := s.cmd.Wait()
	switch {
	case errors.Is(err, errTaken):
		return s.taker.Err()
	case ctx.Err() != nil && err != nil:
		return fault.Wrap("read bill "+s.taker.Name(), ctx.Err())
	case s.source != nil:
		return fault.Wrap("read bill "+s.taker.Name(), s.source)
	case err != nil:
		return s.died(err, waited)
	}
	s.taker.SetRows(end.Rows)
	return end.err()
}

// errTaken says that the taker of the charges has failed; the taker holds the reason.
var errTaken = errors.New("the charges are not taken")

// serve answers the messages of the child until the last one.
func (s *session) serve() (*answer, error) {
	for {
		kind, content, err := readMessage(s.out)
		if err != nil {
			return nil, err
		}
		switch kind {
		case askRead, askReadAt:
			err = s.answerRead(kind, content)
		case tellRows:
			err = s.takeRows(content)
		case tellEnd:
			return readAnswer(content)
		default:
			err = fmt.Errorf("the reader of bills sent a message of kind %q", kind)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *session) answerRead(kind byte, content []byte) error {
	if len(content) != 12 {
		return fmt.Errorf("the reader of bills sent a question of %d bytes", len(content))
	}
	p := make([]byte, min(binary.LittleEndian.Uint32(content), maxMessage))
	var n int
	var err error
	if kind == askRead {
		n, err = s.file.Read(p)
	} else {
		at := int64(binary.LittleEndian.Uint64(content[4:])) //nolint:gosec // a wrong offset is an error
		n, err = s.file.ReadAt(p, at)
	}
	status := byte(readOK)
	switch {
	case errors.Is(err, io.EOF):
		status = readEnd
	case err != nil:
		status, s.source = readFailed, err
	}
	return writeMessage(s.in, status, p[:n])
}

func (s *session) takeRows(content []byte) error {
	return s.rows.each(content, func(row int64, c *bill.Charge) error {
		s.taker.SetRows(row)
		if s.taker.Take(c) != nil {
			return errTaken
		}
		return nil
	})
}

// died returns why a child ended before its answer.
func (s *session) died(err, waited error) error {
	why := fmt.Sprintf("it ended the process that read it (%v)", waited)
	if reportsLackOfMemory(s.stdio.String()) {
		why = "reading it takes more memory than a file may take"
	}
	if waited == nil {
		return fault.Wrap("read bill "+s.taker.Name(), err)
	}
	return fault.New(fault.Invalid, "%s: %s: export it again, in smaller files", s.taker.Name(), why)
}

// memoryComplaints are parts of the error output of a process that lacks memory: of its own watch, and of the Go
// runtime.
var memoryComplaints = []string{
	errMemory, "out of memory", "cannot allocate memory", "failed to create new OS thread",
	// of a program that the race detector watches
	"too many address space collisions", "ThreadSanitizer failed to allocate",
}

// reportsLackOfMemory reports whether a process wrote to its standard error that it lacks memory.
func reportsLackOfMemory(said string) bool {
	return slices.ContainsFunc(memoryComplaints, func(part string) bool { return strings.Contains(said, part) })
}
