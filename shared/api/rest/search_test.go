package rest_test

import (
	"testing"

	"lamplighter.dev/shared/api/rest"
)

func TestMatches_FindsPartsIgnoringCase(t *testing.T) {
	for name, c := range map[string]struct {
		search string
		texts  []string
		want   bool
	}{
		"nothing is searched":            {"", []string{"Web"}, true},
		"blanks are searched":            {" \t", nil, true},
		"a part":                         {"eb sh", []string{"Web shop"}, true},
		"another case":                   {"WEB", []string{"web shop"}, true},
		"another case beyond ASCII":      {"ærø", []string{"ÆRØ"}, true},
		"blanks around the search":       {" web ", []string{"web"}, true},
		"the second text":                {"team", []string{"Web", "a team"}, true},
		"parts of two texts":             {"weba", []string{"web", "a team"}, false},
		"a character with a meaning":     {"%", []string{"web"}, false},
		"a character that is itself":     {"%_*.", []string{"100%_*."}, true},
		"a search in a list without any": {"web", nil, false},
	} {
		if got := rest.Matches(c.search, c.texts...); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
