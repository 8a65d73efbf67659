package saml

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// These constants bound a document before any of it is parsed: the cost of parsing and digesting grows faster than
// the document.
const (
	maxLevels     = 64
	maxTags       = 900 // goxmldsig looks at no more than a thousand
	maxAttributes = 32  // of a tag; declarations of namespaces are attributes too
)

// Constructs that parsers read differently are refused before parsing. A DOCTYPE brings entities. Comments and CDATA
// change the text for some parsers. Of two roots, or of two attributes with one name, some parsers read the first and
// some the last.
var (
	errMarkup = errors.New("it holds a DOCTYPE, a comment, CDATA or a processing instruction, which are " +
		"not accepted")
	errBesideRoot = errors.New("it holds text or another element beside its one root element")
	errTwice      = errors.New("an element has an attribute twice")
)

// checkXMLLimits scans a document without parsing it: its depth, the number of tags, and that it contains one root
// with only tags and text. In well-formed XML "<" occurs only at the beginning of markup. Metadata are written by
// people and may have comments, but no DOCTYPE.
func checkXMLLimits(b []byte, comments bool) error {
	b, err := skipDeclaration(b)
	if err != nil {
		return err
	}
	s := xmlScan{b: b, comments: comments}
	for {
		text, rest, more := bytes.Cut(s.b, []byte("<"))
		if s.depth == 0 && (more || s.tags > 0) && len(bytes.Trim(text, xmlSpace)) > 0 {
			return errBesideRoot
		}
		if !more {
			return nil
		}
		s.b = rest
		if err := s.skipMarkup(); err != nil {
			return err
		}
	}
}

// skipDeclaration returns the rest of a document after its declaration. The document must be UTF-8.
func skipDeclaration(b []byte) ([]byte, error) {
	if !utf8.Valid(b) {
		return nil, errEncoding
	}
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte(byteOrderMark)), xmlSpace)
	end := bytes.Index(b, []byte("?>"))
	if !bytes.HasPrefix(b, []byte("<?xml ")) || end < 0 {
		return b, nil
	}
	if said := bytes.ToLower(b[:end]); bytes.Contains(said, []byte("encoding")) &&
		!bytes.Contains(said, []byte("utf-8")) {
		return nil, errEncoding
	}
	return b[end+2:], nil
}

const (
	byteOrderMark = "\ufeff"
	xmlSpace      = " \t\r\n"
)

// xmlScan is the rest of a document that is still to be scanned.
type xmlScan struct {
	b        []byte
	comments bool
	depth    int
	tags     int
}

// skipMarkup skips one piece of markup, after its "<".
func (s *xmlScan) skipMarkup() error {
	switch {
	case s.comments && bytes.HasPrefix(s.b, []byte("!--")):
		end := bytes.Index(s.b, []byte("-->"))
		if end < 0 {
			return errMarkup
		}
		s.b = s.b[end+3:]
		return nil
	case len(s.b) > 0 && (s.b[0] == '!' || s.b[0] == '?'):
		return errMarkup
	case len(s.b) > 0 && s.b[0] == '/':
		s.depth--
		return s.skipEndTag()
	case s.depth == 0 && s.tags > 0:
		return errBesideRoot
	}
	return s.skipTag()
}

// skipEndTag skips the end tag of an element.
func (s *xmlScan) skipEndTag() error {
	_, rest, ended := bytes.Cut(s.b, []byte(">"))
	if !ended {
		return errWithinTag
	}
	s.b = rest
	return nil
}

// skipTag skips the start tag of an element. A quoted value may contain ">".
func (s *xmlScan) skipTag() error {
	s.depth++
	s.tags++
	if s.depth > maxLevels {
		return errTooDeep
	}
	if s.tags > maxTags {
		return fmt.Errorf("it has more than %d elements", maxTags)
	}
	names, quote, last := map[string]bool{}, byte(0), 0
	for i, c := range s.b {
		switch {
		case quote != 0:
			if c == quote {
				quote, last = 0, i+1
			}
		case c == '"' || c == '\'':
			quote = c
			if err := addAttribute(names, s.b[last:i]); err != nil {
				return err
			}
		case c == '>':
			if i > 0 && s.b[i-1] == '/' {
				s.depth--
			}
			s.b = s.b[i+1:]
			return nil
		}
	}
	return errWithinTag
}

// addAttribute records the name of an attribute: the last word before its value.
func addAttribute(names map[string]bool, before []byte) error {
	words := bytes.Fields(bytes.TrimRight(before, "="+xmlSpace))
	if len(words) == 0 {
		return nil // no parser takes it
	}
	name := string(words[len(words)-1])
	if names[name] {
		return errTwice
	}
	if len(names) == maxAttributes {
		return fmt.Errorf("an element has more than %d attributes", maxAttributes)
	}
	names[name] = true
	return nil
}

var (
	errTooDeep   = fmt.Errorf("it nests deeper than %d levels", maxLevels)
	errEncoding  = errors.New("it is not UTF-8")
	errWithinTag = errors.New("it ends within a tag")
)
