// Package displayname cleans the names that users give to things. All lists use the same rule, so that a name accepted
// by one of them does not break another, a log line or a spreadsheet.
package displayname

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lamplighter.dev/shared/foundation/fault"
)

// CleanName returns the name given in field as it is stored: normalized to NFKC, without surrounding space. It returns
// fault.Invalid for a name of more than most characters, for a blank one, and for one with characters that break a
// line, control a terminal or change the direction of the text around it.
func CleanName(field, name string, most int) (string, error) {
	name = strings.TrimSpace(norm.NFKC.String(name))
	switch {
	case utf8.RuneCountInString(name) > most:
		return "", fault.New(
			fault.Invalid, "%s: %.64q is too long: it may have at most %d characters", field, name, most)
	case !strings.ContainsFunc(name, visible):
		return "", fault.New(fault.Invalid, "%s: it is blank; give at least one visible character", field)
	case !utf8.ValidString(name), strings.ContainsFunc(name, breaking):
		return "", fault.New(fault.Invalid, "%s: it contains a control character, a line break or a change of "+
			"text direction; leave that out", field)
	}
	return name, nil
}

func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// breaking reports whether r is a control, a line or paragraph separator, or an embedding, override or isolate of the
// bidirectional algorithm (UAX #9). Marks and joiners are allowed: some scripts, and emoji, need them.
func breaking(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
