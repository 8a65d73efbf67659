package rest

import (
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxQuoted is how many bytes of the request an error shows.
const maxQuoted = 200

// quotable matches the parts of a message that may come from the request: quoted text, as %q writes it, and words that
// are longer than those of the service.
var quotable = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|[^\s"]{51,}`)

// shorten limits the parts of a message that quote the request. In total they have at most maxQuoted bytes. In an error
// about a conflict or a permission, each part may have that length, because it names other records.
func shorten(status int, message string) string {
	if len(message) <= maxQuoted {
		return message
	}
	left := maxQuoted
	return quotable.ReplaceAllStringFunc(message, func(part string) string {
		if status == http.StatusConflict || status == http.StatusForbidden {
			return clipText(part, maxQuoted)
		}
		part = clipText(part, left)
		left -= len(part)
		return part
	})
}

const ellipsis = "…"

// clipText cuts a text to at most `most` bytes without splitting characters. A quoted text stays quoted.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	begin, end := "", ellipsis
	if strings.HasPrefix(text, `"`) {
		begin, text, end = `"`, text[1:], ellipsis+`"`
	}
	n := max(most-len(begin)-len(end), 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return begin + text[:n] + end
}
