package billfile

import (
	"bytes"
	"encoding/json"
	"strings"
)

// pythonWords maps the words of Python to those of JSON.
var pythonWords = map[string]string{"None": "null", "True": "true", "False": "false"}

// pythonToJSON turns a list in Python's notation, as some tools export Google's credits and labels, into JSON; JSON
// stays as it is.
func pythonToJSON(b []byte) []byte {
	if !bytes.Contains(b, []byte("'")) || json.Valid(b) {
		return b
	}
	var out []byte
	for i := 0; i < len(b); {
		if b[i] == '\'' || b[i] == '"' {
			end := stringEnd(b, i)
			out, i = append(out, quote(b[i+1:end])...), end+1
			continue
		}
		from, to := pythonWord(b[i:])
		out, i = append(out, to...), i+len(from)
	}
	return out
}

// pythonWord returns the Python word at the beginning of b, and its JSON form.
func pythonWord(b []byte) (from, to string) {
	for from, to := range pythonWords {
		if bytes.HasPrefix(b, []byte(from)) {
			return from, to
		}
	}
	return string(b[:1]), string(b[:1])
}

// stringEnd returns the index of the quote that closes the one at b[at].
func stringEnd(b []byte, at int) int {
	for i := at + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case b[at]:
			return i
		}
	}
	return len(b)
}

func quote(b []byte) []byte {
	quoted, _ := json.Marshal(strings.ReplaceAll(string(b), `\'`, `'`)) // a string always is JSON
	return quoted
}
