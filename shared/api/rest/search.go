package rest

import "strings"

// Matches reports whether one of texts contains the search, ignoring case and the blanks around the search. An empty
// search matches everything.
func Matches(search string, texts ...string) bool {
	search = strings.ToLower(strings.TrimSpace(search))
	if search == "" {
		return true
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), search) {
			return true
		}
	}
	return false
}
