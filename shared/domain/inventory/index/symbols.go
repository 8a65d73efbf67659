package index

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"unicode/utf8"
)

// Symbols numbers the strings of an index. Symbol 0 is the empty string.
type Symbols struct {
	texts texts
	at    []uint32 // position of each symbol's name
	names hashed
	pairs [][2]uint32 // the key and the value of each tag
	tags  hashed
}

func newSymbols() *Symbols {
	s := &Symbols{}
	s.texts.add(appendText(nil, "", "")) // the text of an unfilled cell
	s.Intern("")
	return s
}

// Intern returns the number of name. It adds the name if it is new.
func (s *Symbols) Intern(name string) uint32 {
	if n, ok := s.Find(name); ok {
		return n
	}
	n := uint32(len(s.at))
	text := binary.AppendUvarint(make([]byte, 0, 64), uint64(len(name)))
	s.at = append(s.at, s.texts.add(append(text, name...)))
	s.names.add(hashText(name), n, func(n uint32) uint64 { return hashText(s.Name(n)) })
	return n
}

func (s *Symbols) internPair(key, value uint32) uint32 {
	k := [2]uint32{key, value}
	sum := hashWords(k[:])
	n, ok := s.tags.find(sum, func(n uint32) bool { return s.pairs[n] == k })
	if !ok {
		n = uint32(len(s.pairs))
		s.pairs = append(s.pairs, k)
		s.tags.add(sum, n, func(n uint32) uint64 { return hashWords(s.pairs[n][:]) })
	}
	return n
}

// InternTags returns the numbers of tags, ordered by key.
func (s *Symbols) InternTags(tags map[string]string) []uint32 {
	out := make([]uint32, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, s.internPair(s.Intern(k), s.Intern(tags[k])))
	}
	return out
}

// InternCapacity returns the capacity as amounts, ordered by name.
func (s *Symbols) InternCapacity(capacity map[string]int64) []Amount {
	out := make([]Amount, 0, len(capacity))
	for _, k := range slices.Sorted(maps.Keys(capacity)) {
		out = append(out, Amount{s.Intern(k), capacity[k]})
	}
	return out
}

// Find returns the number of name, if it has one.
func (s *Symbols) Find(name string) (uint32, bool) {
	return s.names.find(hashText(name), func(n uint32) bool { return s.Name(n) == name })
}

// Name returns the text of symbol n.
func (s *Symbols) Name(n uint32) string {
	name, _ := cutText(s.texts.from(s.at[n]))
	return name
}

// Tag returns the key and the value of the n-th tag, as Row.Tags numbers them.
func (s *Symbols) Tag(n uint32) (key, value string) {
	p := s.pairs[n]
	return s.Name(p[0]), s.Name(p[1])
}

// TagsWith returns a test whether a row has a tag that contains word, when written as "key=value" in lower case.
func (s *Symbols) TagsWith(word string) func(Row) bool {
	wanted, lower := []byte(word), []byte(nil)
	return s.TagsWhere(func(key, value string) bool {
		lower = append(append(append(lower[:0], key...), '='), value...)
		lower = lowerBytes(lower)
		return bytes.Contains(lower, wanted)
	})
}

// lowerBytes turns b to lower case, in place as long as all of it is ASCII.
func lowerBytes(b []byte) []byte {
	for i, c := range b {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(b)
		}
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

// TagsWhere returns a test whether a row has a tag with a key and value that pass a test. It tests each distinct tag
// once, because there are far fewer tags than rows.
func (s *Symbols) TagsWhere(test func(key, value string) bool) func(Row) bool {
	marked := make([]bool, len(s.pairs))
	some := false
	for i := range s.pairs {
		marked[i] = test(s.Tag(uint32(i)))
		some = some || marked[i]
	}
	return func(r Row) bool {
		if !some {
			return false
		}
		for _, n := range r.Tags() {
			if marked[n] {
				return true
			}
		}
		return false
	}
}

// held returns how many bytes of memory s takes.
func (s *Symbols) held() int {
	return s.texts.held() + 4*cap(s.at) + s.names.held() + 8*cap(s.pairs) + s.tags.held()
}
