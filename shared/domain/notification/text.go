package notification

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes a text of somebody else's one line of at most so many characters, without what is not seen: controls, and the changes of
// direction that would turn what stands beside it.
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

// hidden are what turns or hides other characters: marks, embeddings and isolates of direction, what has no width, tags, and what is private.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x061c, 0x061c, 1}, {0x200b, 0x200b, 1}, {0x200e, 0x200f, 1}, {0x202a, 0x202e, 1}, {0x2066, 0x2069, 1},
		{0xfeff, 0xfeff, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe007f, 1}},
}

// unseen are controls, what is no character, and what is hidden. Joiners stay: scripts and emoji are written with them.
func unseen(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.In(r, hidden, unicode.Co)
}

// cleanLines is clean for a text of several lines.
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

// name makes the name of something ready to stand in a sentence: a name that is written from the right does not turn the sentence.
func name(text string) string { return aside(clean(text, longestName)) }

// aside encloses a text of letters that are written from the right in an isolate.
func aside(s string) string {
	if strings.ContainsFunc(s, fromTheRight) {
		return "\u2068" + s + "\u2069"
	}
	return s
}

func fromTheRight(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
}

// escaped returns s with each character as escape writes it, and at most so many characters of that: an escape is never cut in two.
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

// entities writes a character so that it opens no markup: for Slack, and for cards of Google Chat.
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

// facts keeps those that have a value.
func facts(all ...Fact) []Fact {
	var out []Fact
	for _, f := range all {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
}

// number writes a count; nothing of none.
func number(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
