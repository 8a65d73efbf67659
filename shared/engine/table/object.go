package table

import (
	"unicode/utf8"

	"lamplighter.dev/shared/foundation/fault"
)

// DynamoDB's limits of a document.
const (
	maxDepth = 32    // nested lists and objects
	maxName  = 65535 // bytes of a field's name
)

// checkData returns the size of data by DynamoDB's rules, in bytes. It returns an error unless data is a JSON object
// that both engines can store: UTF-8, numbers of 38 digits, 32 levels, no empty names.
func checkData(data []byte) (int, error) {
	if !utf8.Valid(data) {
		return 0, fault.New(fault.Invalid, "item data is not UTF-8")
	}
	s := scanner{data: data}
	s.skipSpace()
	if s.peekByte() != '{' {
		return 0, fault.New(fault.Invalid, "item data is not a JSON object")
	}
	size, err := s.skipValue(0)
	if err != nil {
		return 0, err
	}
	if s.skipSpace(); s.at != len(data) {
		return 0, s.errSyntax()
	}
	return size, nil
}

// scanner scans a JSON text once. Sizes are those of DynamoDB's rules.
type scanner struct {
	data []byte
	at   int
}

// errSyntax returns the error for invalid JSON at the current position.
func (s *scanner) errSyntax() error {
	return fault.New(fault.Invalid, "item data is not valid JSON at byte %d", s.at)
}

// peekByte returns the next byte, or 0 at the end.
func (s *scanner) peekByte() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// skipSpace skips white space.
func (s *scanner) skipSpace() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// skipValue skips one value and returns its size. The fields of the outermost object (depth 0) have no overhead.
func (s *scanner) skipValue(depth int) (int, error) {
	switch c := s.peekByte(); {
	case c == '{':
		return s.skipObject(depth)
	case c == '[':
		return s.skipList(depth)
	case c == '"':
		return s.skipString()
	case c == '-' || c >= '0' && c <= '9':
		return s.skipNumber()
	default:
		return s.skipWord()
	}
}

// skipObject skips an object.
func (s *scanner) skipObject(depth int) (int, error) {
	size, each := 3, 1
	if depth == 0 {
		size, each = 0, 0
	}
	err := s.scanMembers('}', depth, func() error {
		name, err := s.skipName()
		if err != nil {
			return err
		}
		n, err := s.skipValue(depth + 1)
		size += name + n + each
		return err
	})
	return size, err
}

// skipList skips an array.
func (s *scanner) skipList(depth int) (int, error) {
	size := 3
	err := s.scanMembers(']', depth, func() error {
		n, err := s.skipValue(depth + 1)
		size += n + 1
		return err
	})
	return size, err
}

// scanMembers calls one for each member up to the closing bracket end.
func (s *scanner) scanMembers(end byte, depth int, one func() error) error {
	if depth > maxDepth {
		return fault.New(fault.Invalid, "item data nests deeper than %d levels", maxDepth)
	}
	s.at++
	if s.skipSpace(); s.peekByte() == end {
		s.at++
		return nil
	}
	for {
		s.skipSpace()
		if err := one(); err != nil {
			return err
		}
		s.skipSpace()
		switch s.peekByte() {
		case ',':
			s.at++
		case end:
			s.at++
			return nil
		default:
			return s.errSyntax()
		}
	}
}

// skipName skips a member's name and its colon.
func (s *scanner) skipName() (int, error) {
	if s.peekByte() != '"' {
		return 0, s.errSyntax()
	}
	n, err := s.skipString()
	if err != nil {
		return 0, err
	}
	if n == 0 || n > maxName {
		return 0, fault.New(fault.Invalid, "item data has a field name of %d bytes; 1 to %d are allowed", n, maxName)
	}
	if s.skipSpace(); s.peekByte() != ':' {
		return 0, s.errSyntax()
	}
	s.at++
	s.skipSpace()
	return n, nil
}

// skipString skips a string, and returns the number of bytes of its text.
func (s *scanner) skipString() (int, error) {
	size := 0
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return size, nil
		case c < ' ':
			return 0, s.errSyntax()
		case c != '\\':
			size++
		default:
			n, err := s.skipEscape()
			if err != nil {
				return 0, err
			}
			size += n
		}
	}
	return 0, s.errSyntax()
}

// skipEscape moves to the last byte of an escape sequence, and returns the number of bytes of its text.
func (s *scanner) skipEscape() (int, error) {
	s.at++
	switch s.peekByte() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1, nil
	case 'u':
		return s.skipUnicode()
	default:
		return 0, s.errSyntax()
	}
}

// skipUnicode skips uXXXX. Each half of a surrogate pair counts as two of the pair's four bytes.
func (s *scanner) skipUnicode() (int, error) {
	if s.at+4 >= len(s.data) {
		return 0, s.errSyntax()
	}
	r := 0
	for range 4 {
		s.at++
		d := hexValue(s.data[s.at])
		if d < 0 {
			return 0, s.errSyntax()
		}
		r = r<<4 | d
	}
	switch {
	case r < 0x80:
		return 1, nil
	case r < 0x800, r >= 0xD800 && r < 0xE000:
		return 2, nil
	default:
		return 3, nil
	}
}

// hexValue returns the value of a hexadecimal digit, or -1.
func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// skipWord skips true, false or null.
func (s *scanner) skipWord() (int, error) {
	for _, w := range [...]string{"true", "false", "null"} {
		if end := s.at + len(w); end <= len(s.data) && string(s.data[s.at:end]) == w {
			s.at = end
			return 1, nil
		}
	}
	return 0, s.errSyntax()
}

// skipNumber skips a number that DynamoDB can store.
func (s *scanner) skipNumber() (int, error) {
	start := s.at
	for s.at < len(s.data) && numeric[s.data[s.at]] {
		s.at++
	}
	return numberSize(s.data[start:s.at])
}

// numeric are the bytes that occur in JSON numbers.
var numeric = func() (set [256]bool) {
	for _, c := range []byte("+-.0123456789Ee") {
		set[c] = true
	}
	return set
}()
