package condition

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// errJSON says that a record is not JSON of the form that the inventory writes.
var errJSON = errors.New("malformed JSON")

// scanner reads JSON from left to right without building values. After an error, bad is set and it reads nothing.
type scanner struct {
	b   []byte
	at  int
	bad bool
	buf []byte // holds the last text with escapes
}

func (s *scanner) fail() { s.bad, s.at = true, len(s.b) }

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take reads the byte c, and reports whether it is next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// object calls f with each key of an object; f reads the value. The key is valid until f reads.
func (s *scanner) object(f func(key []byte)) { s.list('{', '}', func() { s.member(f) }) }

func (s *scanner) member(f func(key []byte)) {
	key := s.text()
	if !s.take(':') {
		s.fail()
		return
	}
	f(key)
}

// array calls f for each item of an array; f reads the item.
func (s *scanner) array(f func()) { s.list('[', ']', f) }

// list reads items between brackets.
func (s *scanner) list(open, end byte, item func()) {
	if !s.take(open) {
		s.fail()
		return
	}
	if s.take(end) {
		return
	}
	for !s.bad {
		item()
		if s.take(end) {
			return
		}
		if !s.take(',') {
			s.fail()
		}
	}
}

// text reads a text. It is valid until the next text.
func (s *scanner) text() []byte {
	if !s.take('"') {
		s.fail()
		return nil
	}
	rest := s.b[s.at:]
	n := bytes.IndexByte(rest, '"')
	switch {
	case n < 0:
		s.fail()
		return nil
	case bytes.IndexByte(rest[:n], '\\') >= 0:
		return s.escaped(s.at - 1)
	}
	s.at += n + 1
	return rest[:n]
}

// escaped reads a text with escapes that begins at its quote.
func (s *scanner) escaped(start int) []byte {
	for i := start + 1; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.at = i + 1
			var text string
			if json.Unmarshal(s.b[start:s.at], &text) != nil {
				s.fail()
			}
			s.buf = append(s.buf[:0], text...)
			return s.buf
		}
	}
	s.fail()
	return nil
}

// number reads a number.
func (s *scanner) number() float64 {
	s.peek()
	start := s.at
	for s.at < len(s.b) && strings.IndexByte("+-.0123456789eE", s.b[s.at]) >= 0 {
		s.at++
	}
	v, err := strconv.ParseFloat(string(s.b[start:s.at]), 64)
	if err != nil {
		s.fail()
	}
	return v
}

// word reads true, false or null, and reports whether it is next.
func (s *scanner) word(w string) bool {
	s.peek()
	if !bytes.HasPrefix(s.b[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

// maxDepth limits nested arrays and objects.
const maxDepth = 50

// skip reads any value, nested no deeper than maxDepth.
func (s *scanner) skip() { s.skipTo(maxDepth) }

func (s *scanner) skipTo(depth int) {
	if depth == 0 {
		s.fail()
		return
	}
	switch s.peek() {
	case '"':
		s.text()
	case '{':
		s.object(func([]byte) { s.skipTo(depth - 1) })
	case '[':
		s.array(func() { s.skipTo(depth - 1) })
	default:
		if !s.word("true") && !s.word("false") && !s.word("null") {
			s.number()
		}
	}
}
