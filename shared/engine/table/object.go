package table

import (
	"unicode/utf8"

	"lamplighter.dev/shared/foundation/fault"
)

// DynamoDB's limits on a document.
const (
	maxDepth = 32    // nested lists and objects
	maxName  = 65535 // bytes of a field's name
)

// checkData checks that data is a JSON object that both engines can keep (UTF-8, numbers of 38 digits, 32 levels, no empty
// names) and tells its size by DynamoDB's rules, in bytes.
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
		return 0, s.bad()
	}
	return size, nil
}

// scanner walks a JSON text once. Sizes are those of DynamoDB's item size rules.
type scanner struct {
	data []byte
	at   int
}

// bad returns where the text stops being JSON.
func (s *scanner) bad() error {
	return fault.New(fault.Invalid, "item data is not valid JSON at byte %d", s.at)
}

// peekByte returns the next byte, 0 at the end.
func (s *scanner) peekByte() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// skipSpace steps over white space.
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

// skipValue steps over one value. The fields of the outermost object (depth 0) count without overhead.
func (s *scanner) skipValue(depth int) (int, error) {
	switch c := s.peekByte(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.list(depth)
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.word()
	}
}

// object steps over an object.
func (s *scanner) object(depth int) (int, error) {
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

// list steps over an array.
func (s *scanner) list(depth int) (int, error) {
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
			return s.bad()
		}
	}
}

// skipName steps over a member's name and its colon.
func (s *scanner) skipName() (int, error) {
	if s.peekByte() != '"' {
		return 0, s.bad()
	}
	n, err := s.text()
	if err != nil {
		return 0, err
	}
	if n == 0 || n > maxName {
		return 0, fault.New(fault.Invalid, "item data has a field name of %d bytes; 1 to %d are allowed", n, maxName)
	}
	if s.skipSpace(); s.peekByte() != ':' {
		return 0, s.bad()
	}
	s.at++
	s.skipSpace()
	return n, nil
}

// text steps over a string and counts the bytes that it stands for.
func (s *scanner) text() (int, error) {
	size := 0
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return size, nil
		case c < ' ':
			return 0, s.bad()
		case c != '\\':
			size++
		default:
			n, err := s.escape()
			if err != nil {
				return 0, err
			}
			size += n
		}
	}
	return 0, s.bad()
}

// escape steps to the last byte of an escape sequence and tells how many bytes it stands for.
func (s *scanner) escape() (int, error) {
	s.at++
	switch s.peekByte() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1, nil
	case 'u':
		return s.unicode()
	default:
		return 0, s.bad()
	}
}

// unicode steps over uXXXX. Each half of a surrogate pair counts two of the pair's four bytes.
func (s *scanner) unicode() (int, error) {
	if s.at+4 >= len(s.data) {
		return 0, s.bad()
	}
	r := 0
	for range 4 {
		s.at++
		d := unhex(s.data[s.at])
		if d < 0 {
			return 0, s.bad()
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

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
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

// word steps over true, false or null.
func (s *scanner) word() (int, error) {
	for _, w := range [...]string{"true", "false", "null"} {
		if end := s.at + len(w); end <= len(s.data) && string(s.data[s.at:end]) == w {
			s.at = end
			return 1, nil
		}
	}
	return 0, s.bad()
}

// number steps over a number that DynamoDB can keep.
func (s *scanner) number() (int, error) {
	start := s.at
	for s.at < len(s.data) && numeric[s.data[s.at]] {
		s.at++
	}
	return numberSize(s.data[start:s.at])
}

// numeric marks the bytes that a JSON number is made of.
var numeric = func() (set [256]bool) {
	for _, c := range []byte("+-.0123456789Ee") {
		set[c] = true
	}
	return set
}()
