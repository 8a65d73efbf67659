package displayname

import (
	"strings"
	"testing"
	"unicode/utf8"

	"lamplighter.dev/shared/foundation/fault"
)

func TestClean(t *testing.T) {
	for title, c := range map[string]struct{ name, want string }{
		"a plain name stays":                      {"Ada's engines", "Ada's engines"},
		"space around it goes":                    {" \u00a0\tAda \u3000", "Ada"},
		"one spelling of what looks the same":     {"e\u0301\uff21", "éA"},
		"a family of joined emoji stays":          {"\U0001F468\u200d\U0001F469", "\U0001F468\u200d\U0001F469"},
		"text of another direction stays":         {"שלום\u200f!", "שלום\u200f!"},
		"as many characters as are allowed":       {strings.Repeat("é", 100), strings.Repeat("é", 100)},
		"one character more is refused":           {strings.Repeat("é", 101), ""},
		"nothing is refused":                      {"", ""},
		"nothing but space is refused":            {" \u2003\u3000", ""},
		"nothing that is seen is refused":         {"\u200b\u200d", ""},
		"a NUL is refused":                        {"a\x00b", ""},
		"a line break is refused":                 {"a\nb", ""},
		"a line separator is refused":             {"a\u2028b", ""},
		"a terminal's escape is refused":          {"a\x1b[31mb", ""},
		"an override of the direction is refused": {"a\u202eb", ""},
		"an isolate of the direction is refused":  {"a\u2067b", ""},
		"bytes that are no text are refused":      {"a\xffb", ""},
	} {
		got, err := CleanName("name", c.name, 100)
		if got != c.want || (c.want == "") != fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %q, %v", title, got, err)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("Ada\u202e")
	f.Fuzz(func(t *testing.T, name string) {
		got, err := CleanName("name", name, 20)
		if err != nil {
			return
		}
		if again, err := CleanName("name", got, 20); err != nil || again != got || utf8.RuneCountInString(got) > 20 {
			t.Errorf("%q becomes %q, and that %q, %v", name, got, again, err)
		}
	})
}
