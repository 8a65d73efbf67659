package notification

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean converts an untrusted text to one line, cut after most characters. It removes invisible characters: controls,
// and direction marks that would reorder the surrounding text.
func clean(text string, most int) string {
	var b strings.Builder
	n, blank := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) {
			blank = n > 0
			continue
		}
		if unseen(r) {
			continue
		}
		if n >= most {
			return b.String() + "…"
		}
		if blank {
			b.WriteByte(' ')
			n, blank = n+1, false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// hidden are characters that reorder or hide other characters: direction marks, embeddings and isolates, zero-width
// characters and tags.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x061c, 0x061c, 1},
		{0x200b, 0x200b, 1},
		{0x200e, 0x200f, 1},
		{0x202a, 0x202e, 1},
		{0x2066, 0x2069, 1},
		{0xfeff, 0xfeff, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe007f, 1}},
}

// unseen reports whether r is a control, invalid, hidden or private-use. It keeps joiners: scripts and emoji need
// them.
func unseen(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.In(r, hidden, unicode.Co)
}

// cleanLines is clean for a text with several lines.
func cleanLines(text string, most int) string {
	var out []string
	left := most
	for line := range strings.Lines(text) {
		line = clean(line, left)
		if left -= utf8.RuneCountInString(line) + 1; line != "" || len(out) > 0 {
			out = append(out, line)
		}
		if left <= 0 {
			break
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// name prepares a name for use in a sentence: a right-to-left name does not reorder the sentence.
func name(text string) string { return aside(clean(text, longestName)) }

// aside encloses a text with right-to-left letters in an isolate.
func aside(s string) string {
	if strings.ContainsFunc(s, fromTheRight) {
		return "\u2068" + s + "\u2069"
	}
	return s
}

func fromTheRight(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
}

// escaped returns s with each character replaced by escape, cut after most characters. It never cuts an escape in
// two.
func escaped(s string, most int, escape func(rune) string) string {
	var b strings.Builder
	left := most
	for i, r := range s {
		e := escape(r)
		n, rest := utf8.RuneCountInString(e), len(s)-i-utf8.RuneLen(r)
		if n > left || n == left && rest > 0 {
			return b.String() + "…"
		}
		b.WriteString(e)
		left -= n
	}
	return b.String()
}

func plain(r rune) string { return string(r) }

// entities escapes a character of markup, for Slack and for cards of Google Chat.
func entities(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	return string(r)
}

func nonEmpty(all ...string) []string {
	var out []string
	for _, s := range all {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func count(n int) string {
	if n == 1 {
		return "1 event"
	}
	return strconv.Itoa(n) + " events"
}

// facts returns the facts that have a value.
func facts(all ...Fact) []Fact {
	var out []Fact
	for _, f := range all {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

// number formats a count. It returns "" for 0 or less.
func number(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
