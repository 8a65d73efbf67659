package fault

import (
	"strings"
	"unicode"
)

// CleanText returns a text from outside the service in a form that is safe in an error message: only its printable
// characters, in one line, at most `most` of them. A text that was cut ends in "…".
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
