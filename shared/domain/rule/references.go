package rule

import (
	"slices"
	"strings"
)

// References are the names that a condition reads, each once and sorted.
type References struct {
	Facts    []string // res.<name>
	Metrics  []string // m.<name>
	Params   []string // p.<name>
	Settings []string // org.<name>: settings of the organization
}

// ReferencesOf finds the names that a condition reads. Text in quotes is skipped. It does not compile the condition.
func ReferencesOf(condition string) References {
	var r References
	lists := map[string]*[]string{"res": &r.Facts, "m": &r.Metrics, "p": &r.Params, "org": &r.Settings}
	for rest := condition; rest != ""; {
		word := leadingWord(rest)
		if word == "" {
			rest = rest[skipped(rest):]
			continue
		}
		rest = rest[len(word):]
		root, name, _ := strings.Cut(word, ".")
		if list := lists[root]; list != nil && name != "" {
			name, _, _ = strings.Cut(name, ".")
			*list = append(*list, name)
		}
	}
	for _, list := range lists {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

// leadingWord returns the names and dots at the beginning of a text: "res.state" of "res.state == 'on'".
func leadingWord(text string) string {
	i := strings.IndexFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '.'
	})
	if i < 0 {
		return text
	}
	return text[:i]
}

// skipped returns the length of what stands at the beginning of a text: a quoted text, or one character.
func skipped(text string) int {
	quote := text[0]
	if quote != '\'' && quote != '"' {
		return 1
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text)
}
