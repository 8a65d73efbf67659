package fault

import (
	"strings"
	"unicode"
)

// CleanText makes a text that somebody else wrote fit for a message: what is printed in one line, at most so many characters.
func CleanText(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == most {
			return b.String() + "…"
		}
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			continue
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
