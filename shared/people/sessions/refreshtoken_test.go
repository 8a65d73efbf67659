package sessions

import (
	"strings"
	"testing"
)

func FuzzRefreshToken(f *testing.F) {
	pepper := []byte("pepper")
	genuine := refreshToken{"session", 3, "SECRET"}.clientText(pepper) // the same in every process of the fuzzer
	for _, s := range []string{genuine, "", "lampr_", "lampr_a.b.c.d", genuine + ".x", strings.ToUpper(genuine)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := parseRefreshToken(s, pepper); err == nil && s != genuine {
			t.Errorf("accepted %q", s)
		}
	})
}
