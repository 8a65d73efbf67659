package billfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"

	"lamplighter.dev/shared/foundation/fault"
)

// scanner splits CSV into records like encoding/csv, but several times as fast. Tests compare it with encoding/csv.
// Fields are slices of its buffer, and only lines with escaped quotes are copied.
type scanner struct {
	r          io.Reader
	buf        []byte
	start, end int // the bytes that were read and not returned yet
	eof        bool
	cut        bool   // the record ended with the file, not with a line
	unescaped  []byte // of fields with escaped quotes, of this record
	fields     [][]byte
}

func newScanner(r io.Reader) *scanner { return &scanner{r: r, buf: make([]byte, readAhead)} }

// next returns the fields of the next record, valid until the next call, or io.EOF. It skips empty lines.
func (s *scanner) next() ([][]byte, error) {
	for {
		n, whole, err := s.split(s.buf[s.start:s.end])
		if err != nil {
			return nil, err
		}
		if !whole {
			if err := s.fill(); err != nil {
				return nil, err
			}
			continue
		}
		s.start += n
		if len(s.fields) > 0 {
			return s.fields, nil
		}
		if n == 0 {
			return nil, io.EOF
		}
	}
}

// fill reads more bytes after the present ones, into a larger buffer if a record fills it.
func (s *scanner) fill() error {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end >= MaxRowBytes {
		return fault.New(fault.Invalid, "a row of more than %d bytes, or a quote that is not closed", MaxRowBytes)
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if isEnd(err) {
		s.eof = true
		return nil
	}
	return err
}

// split splits the record at the beginning of b and returns its length with the line's end. whole is false if b ends
// before the record does.
func (s *scanner) split(b []byte) (n int, whole bool, err error) {
	s.fields, s.unescaped = s.fields[:0], s.unescaped[:0]
	if n, empty := s.emptyLine(b); empty {
		return n, true, nil
	}
	for at := 0; ; {
		if next := s.splitPlain(b, at); next != at {
			if b[next-1] == '\n' {
				s.cut = false
				return next, true, nil
			}
			at = next
		}
		field, next, err := s.field(b, at)
		if err != nil || next < 0 {
			return 0, false, err
		}
		s.fields = append(s.fields, field)
		if next > len(b) || b[next-1] == '\n' {
			s.cut = next > len(b)
			return min(next, len(b)), true, nil
		}
		at = next
	}
}

// Masks for eight bytes at once: each has the same byte eight times.
const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	commas = ',' * ones
	lines  = '\n' * ones
	quotes = '"' * ones
)

// zeros marks the zero bytes of w by their highest bit. It may also mark bytes of value 1 after the first zero byte.
func zeros(w uint64) uint64 { return (w - ones) &^ w & highs }

// splitPlain splits the unquoted fields from b[at] on, eight bytes at once. It returns the start of the next line if
// the record ends, or else the start of a field that the method field must read.
func (s *scanner) splitPlain(b []byte, at int) int {
	for i := at; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		for marks := zeros(w^commas) | zeros(w^lines) | zeros(w^quotes); marks != 0; marks &= marks - 1 {
			end := i + bits.TrailingZeros64(marks)>>3
			switch b[end] {
			case ',':
				s.fields = append(s.fields, b[at:end])
				at = end + 1
			case '\n':
				s.fields = append(s.fields, trimReturn(b[at:end]))
				return end + 1
			case '"':
				return at
			}
		}
	}
	return at
}

// emptyLine returns the length of an empty line at the beginning of b. The end of the file counts as an empty line of
// length 0.
func (s *scanner) emptyLine(b []byte) (n int, empty bool) {
	switch {
	case s.eof && (len(b) == 0 || len(b) == 1 && b[0] == '\r'):
		return len(b), true
	case len(b) > 0 && b[0] == '\n':
		return 1, true
	case len(b) > 1 && b[0] == '\r' && b[1] == '\n':
		return 2, true
	default:
		return 0, false
	}
}

// field returns the field that begins at b[at], and the start of the next one, after the comma or the line's end. The
// start is beyond b if the file ends with the field, and -1 if more bytes must be read.
func (s *scanner) field(b []byte, at int) (field []byte, next int, err error) {
	if at < len(b) && b[at] == '"' {
		return s.quoted(b, at+1)
	}
	for i := at; i < len(b); i++ {
		switch b[i] {
		case ',':
			return b[at:i], i + 1, nil
		case '\n':
			return trimReturn(b[at:i]), i + 1, nil
		case '"':
			return nil, 0,
				fault.New(fault.Invalid, "a quote within a field that does not begin with one, near %.32q", b[at:i])
		}
	}
	if !s.eof {
		return nil, -1, nil
	}
	return trimReturn(b[at:]), len(b) + 1, nil
}

func trimReturn(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}

// quoted returns the field whose opening quote is before b[at].
func (s *scanner) quoted(b []byte, at int) (field []byte, next int, err error) {
	from, copied := at, -1
	for i := at; ; {
		quote := bytes.IndexByte(b[i:], '"')
		if quote < 0 || i+quote+2 >= len(b) && !s.eof {
			return nil, -1, s.unclosed(quote)
		}
		i += quote
		if i+1 < len(b) && b[i+1] == '"' {
			if copied < 0 {
				copied = len(s.unescaped)
			}
			s.unescaped = append(s.unescaped, b[from:i+1]...)
			i += 2
			from = i
			continue
		}
		field = b[from:i]
		if copied >= 0 {
			s.unescaped = append(s.unescaped, field...)
			field = s.unescaped[copied:]
		}
		next, err = closed(b, i+1)
		return returnless(field), next, err
	}
}

func (s *scanner) unclosed(quote int) error {
	if s.eof && quote < 0 {
		return fault.New(fault.Invalid, "the file ends within quotes")
	}
	return nil
}

// closed returns the start of the field after a quoted one whose closing quote is before b[i].
func closed(b []byte, i int) (next int, err error) {
	if i < len(b) && b[i] == '\r' && (i+1 == len(b) || b[i+1] == '\n') {
		i++
	}
	if i >= len(b) || b[i] == ',' || b[i] == '\n' {
		return i + 1, nil
	}
	return 0, fault.New(fault.Invalid, "a quote within a quoted field that is not doubled, before %.32q",
		b[i:min(i+32, len(b))])
}

// returnless removes carriage returns at line ends within a field, like encoding/csv.
func returnless(field []byte) []byte {
	if bytes.IndexByte(field, '\r') < 0 {
		return field
	}
	return bytes.ReplaceAll(field, []byte("\r\n"), []byte("\n"))
}
