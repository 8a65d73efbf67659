package saml

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The bounds of a document, which hold before any of it is parsed: parsing and digesting grow faster than the document.
const (
	maxLevels     = 64
	maxTags       = 900 // goxmldsig looks at no more than a thousand
	maxAttributes = 32  // of a tag; declarations of namespaces are attributes too
)

// errMarkup is about what no response needs: with a DOCTYPE come entities, and comments and CDATA make readers disagree
// about what a text says.
var errMarkup = errors.New("it holds a DOCTYPE, a comment, CDATA or a processing instruction, which are not accepted")

// checkXMLLimits looks over a document without parsing it: how deep it nests, how many tags it has, and that it holds
// nothing but tags and text. In well-formed XML "<" stands nowhere else but at the beginning of markup. Metadata, which people write,
// may have comments, but no DOCTYPE either.
func checkXMLLimits(b []byte, comments bool) error {
	if !utf8.Valid(b) {
		return errEncoding
	}
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	if end := bytes.Index(b, []byte("?>")); bytes.HasPrefix(b, []byte("<?xml ")) && end > 0 {
		if said := bytes.ToLower(b[:end]); bytes.Contains(said, []byte("encoding")) && !bytes.Contains(said, []byte("utf-8")) {
			return errEncoding
		}
		b = b[end+2:]
	}
	s := xmlScan{b: b, comments: comments}
	for {
		i := bytes.IndexByte(s.b, '<')
		if i < 0 {
			return nil
		}
		s.b = s.b[i+1:]
		if err := s.skipMarkup(); err != nil {
			return err
		}
	}
}

// xmlScan is what is left to be looked over.
type xmlScan struct {
	b        []byte
	comments bool
	depth    int
	tags     int
}

// skipMarkup passes over what begins with "<".
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
		return nil
	}
	return s.skipTag()
}

// skipTag passes over the beginning of an element. A quoted value may hold ">".
func (s *xmlScan) skipTag() error {
	s.depth++
	s.tags++
	if s.depth > maxLevels {
		return errTooDeep
	}
	if s.tags > maxTags {
		return fmt.Errorf("it has more than %d elements", maxTags)
	}
	attributes, quote := 0, byte(0)
	for i, c := range s.b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			if quote = c; attributes == maxAttributes {
				return fmt.Errorf("an element has more than %d attributes", maxAttributes)
			}
			attributes++
		case c == '>':
			if i > 0 && s.b[i-1] == '/' {
				s.depth--
			}
			s.b = s.b[i+1:]
			return nil
		}
	}
	return errors.New("it ends within a tag")
}

var (
	errTooDeep  = fmt.Errorf("it nests deeper than %d levels", maxLevels)
	errEncoding = errors.New("it is not UTF-8")
)
