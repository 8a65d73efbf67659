package condition

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"lamplighter.dev/shared/cloud"
)

// ReadRecord replaces the facts by those of a record of the inventory: the JSON of inventory.Resource. It reads the
// facts of the type, and the name, region, status, tags and times that every type has. It does not read env,
// has_schedule, managed_by and cost_30d: the caller sets them. The facts refer to the record, which must not change
// before the next one is read. An error means that the record is malformed; the facts are then empty.
func (f *Facts) ReadRecord(record []byte) error {
	f.Reset()
	s := &scanner{b: record}
	s.object(func(key []byte) { f.readMember(s, string(key)) })
	if s.bad {
		f.Reset()
		return fmt.Errorf("read facts of a record of %d bytes: %w", len(record), errJSON)
	}
	f.standIn("created_at", "first_seen_at")
	return nil
}

// ReadFacts replaces the facts by a JSON object of facts, as in the member "facts" of a record. They refer to object,
// as with ReadRecord.
func (f *Facts) ReadFacts(object []byte) error {
	f.Reset()
	s := &scanner{b: object}
	f.readObject(s)
	if s.bad {
		f.Reset()
		return fmt.Errorf("read facts of %d bytes: %w", len(object), errJSON)
	}
	return nil
}

// EachMember calls f with each member of a JSON object: its key and the JSON of its value. Both are valid until f
// returns. A key with escapes is an error, as malformed JSON is.
func EachMember(object []byte, f func(key, value []byte)) error {
	s := &scanner{b: object}
	escaped := false
	s.object(func(key []byte) {
		escaped = escaped || len(key) > 0 && len(s.buf) > 0 && &key[0] == &s.buf[0]
		s.peek()
		start := s.at
		if s.skip(); !escaped && !s.bad {
			f(key, s.b[start:s.at])
		}
	})
	if s.bad || escaped || s.peek() != 0 {
		return fmt.Errorf("read an object of %d bytes: %w", len(object), errJSON)
	}
	return nil
}

// readMember reads a member of a record. A value in the member "facts" has precedence.
func (f *Facts) readMember(s *scanner, key string) {
	switch key {
	case "facts":
		f.readObject(s)
	case "name", "region", "status":
		f.readUnlessKnown(s, key)
	case "createdAt":
		f.readUnlessKnown(s, "created_at")
	case "discoveredAt":
		f.readUnlessKnown(s, "first_seen_at")
	case "tags":
		f.readUnlessKnown(s, "tags")
	default:
		s.skip()
	}
}

func (f *Facts) readUnlessKnown(s *scanner, name string) {
	at, declared := f.number[name]
	if !declared || f.values[at] != nil || f.pending[at] != nil {
		s.skip()
		return
	}
	f.readValue(s, at)
}

// standIn gives a fact the value of another one if it has none.
func (f *Facts) standIn(name, other string) {
	at, declared := f.number[name]
	if from, ok := f.number[other]; ok && declared && f.values[at] == nil {
		f.values[at] = f.values[from]
	}
}

// readObject reads an object of facts. Facts that the type does not declare are skipped.
func (f *Facts) readObject(s *scanner) {
	s.object(func(key []byte) {
		at, declared := f.number[string(key)]
		switch {
		case declared:
			f.readValue(s, at)
		case string(key) == cloud.Unread:
			s.array(func() { f.noteUnread(s.text()) })
		default:
			s.skip()
		}
	})
}

// noteUnread notes an entry of cloud.Unread: "logging: s3:GetBucketLogging: AccessDenied".
func (f *Facts) noteUnread(entry []byte) {
	name, detail, _ := strings.Cut(string(entry), ": ")
	why := Unreadable
	lower := strings.ToLower(detail)
	if slices.ContainsFunc([]string{"denied", "forbidden", "unauthorized", "not authorized", "permission"},
		func(word string) bool { return strings.Contains(lower, word) }) {
		why = Denied
	}
	f.Miss(name, why, detail)
}

// readValue reads a fact according to its kind.
func (f *Facts) readValue(s *scanner, at int) {
	kind := f.fields[at].Kind
	next, wanted := s.peek(), firstByte[kind]
	switch {
	case next == 'n' && s.word("null"):
	case strings.IndexByte(wanted, next) < 0 && !s.bad:
		s.skip()
		f.note(at, Unreadable, "the record holds another kind than "+string(kind))
	case kind == Texts, kind == TextMap:
		start := s.at
		s.skip()
		f.values[at], f.pending[at] = nil, s.b[start:s.at]
	default:
		f.values[at] = f.readKind(s, kind)
		f.checkRead(s, at)
	}
}

// readPending reads a list or a map that was skipped.
func (f *Facts) readPending(at int) {
	s := &scanner{b: f.pending[at]}
	f.pending[at] = nil
	f.values[at] = f.readKind(s, f.fields[at].Kind)
	if s.bad {
		f.note(at, Unreadable, "the record holds another kind than "+string(f.fields[at].Kind))
		return
	}
	f.checkRead(s, at)
}

// checkRead notes why a value of the right kind was not read.
func (f *Facts) checkRead(s *scanner, at int) {
	switch {
	case s.bad || f.values[at] != nil:
	case f.fields[at].Kind == Timestamp:
		f.note(at, Unreadable, "its time is not in RFC 3339")
	default:
		f.note(at, TooLong, "")
	}
}

// firstByte holds the bytes with which JSON of a kind begins.
var firstByte = map[Kind]string{
	Text: `"`, Timestamp: `"`, Number: "-0123456789", Bool: "tf", Texts: "[", TextMap: "{",
}

// readKind reads a value of a kind, nil for one that is too long or malformed.
func (f *Facts) readKind(s *scanner, kind Kind) ref.Val {
	switch kind {
	case Number:
		return types.Double(s.number())
	case Bool:
		if s.word("true") {
			return types.True
		}
		if s.word("false") {
			return types.False
		}
	case Timestamp:
		return f.known.time(s.text())
	case Texts:
		return f.readTexts(s)
	case TextMap:
		return f.readMap(s)
	default:
		if b := s.text(); len(b) <= MaxText {
			return f.known.bytes(b)
		}
		return nil
	}
	s.fail()
	return nil
}

// readTexts reads a list of texts.
func (f *Facts) readTexts(s *scanner) ref.Val {
	var out []string
	fits := true
	s.array(func() {
		b := s.text()
		if fits = fits && len(out) < MaxItems && len(b) <= MaxText; fits {
			out = append(out, string(b))
		}
	})
	if !fits {
		return nil
	}
	return types.NewStringList(types.DefaultTypeAdapter, out)
}

// readMap reads tags: their keys are trimmed and in lower case.
func (f *Facts) readMap(s *scanner) ref.Val {
	out := map[string]string{}
	fits := true
	s.object(func(key []byte) {
		name := strings.ToLower(strings.TrimSpace(string(key)))
		value := s.text()
		if fits = fits && len(out) < MaxItems && len(value) <= MaxText; fits {
			out[name] = string(value)
		}
	})
	if !fits {
		return nil
	}
	return types.NewStringStringMap(types.DefaultTypeAdapter, out)
}
