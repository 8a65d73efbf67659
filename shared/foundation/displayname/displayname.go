// Package displayname holds the one rule for what people may call things, so that a name that one list shows does not break
// another, a log line or a spreadsheet.
package displayname

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lamplighter.dev/shared/foundation/fault"
)

// CleanName brings the name given in field into the shape that is kept: normalized to NFKC, without space around it. It
// refuses (fault.Invalid) one of more than most characters, one without anything to be seen, and one with characters that
// break a line, control a terminal or turn the direction of the text around it.
func CleanName(field, name string, most int) (string, error) {
	name = strings.TrimSpace(norm.NFKC.String(name))
	switch {
	case utf8.RuneCountInString(name) > most:
		return "", fault.New(fault.Invalid, "%s: at most %d characters", field, most)
	case !strings.ContainsFunc(name, visible):
		return "", fault.New(fault.Invalid, "%s: it is blank", field)
	case !utf8.ValidString(name), strings.ContainsFunc(name, breaking):
		return "", fault.New(fault.Invalid, "%s: it has a control character, a line break or a change of "+
			"direction in it", field)
	}
	return name, nil
}

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// breaking are controls, line and paragraph separators, and the embeddings, overrides and isolates of the bidirectional
// algorithm (UAX #9). Marks and joiners stay: some scripts, and emoji, are written with them.
func breaking(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
