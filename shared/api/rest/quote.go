package rest

import (
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxQuoted is how many bytes of what was sent an error shows.
const maxQuoted = 200

// quotable are the parts of a message in which something that was sent can stand: between quotation marks, as %q writes
// it, or as a word that is longer than ours are.
var quotable = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?|[^\s"]{51,}`)

// shorten cuts what a message quotes of the request. One about what was sent shows maxQuoted bytes of it in all; one about
// a conflict or a permission names what stands in the way, each within maxQuoted.
func shorten(status int, message string) string {
	if len(message) <= maxQuoted {
		return message
	}
	left := maxQuoted
	return quotable.ReplaceAllStringFunc(message, func(part string) string {
		if status == http.StatusConflict || status == http.StatusForbidden {
			return clip(part, maxQuoted)
		}
		part = clip(part, left)
		left -= len(part)
		return part
	})
}

const ellipsis = "…"

// clip cuts a text to so many bytes, and no character in two. A quotation stays one.
func clip(text string, most int) string {
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
