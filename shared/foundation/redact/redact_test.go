package redact_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/redact"
)

// The tests of shared/api/audit cover secret names and whole texts, because the rules were made for it.

func TestWithinATextOnlyTheSecretGoes(t *testing.T) {
	for s, want := range map[string]string{
		"":                      "",
		"nothing to hide":       "nothing to hide",
		"lampr_01k0.1.abcdefgh": "[redacted]",
		"it was lampr_01k0.1.abcdefgh, you know, and lampp_AbCdEfGh12345678.": "it was [redacted], you know, and " +
			"[redacted]",
		`Get "https://user:hush@example.com/x": dial tcp: refused`: `Get "https[redacted]": dial tcp: refused`,
		`Post "https://example.com/x?token=hush&a=b": EOF`:         `Post "https://example.com/x[redacted]": EOF`,
		"Authorization: Bearer abcdefghijkl.mnop (of ada)":         "Authorization: [redacted] (of ada)",
		"key -----BEGIN PRIVATE KEY-----\nMC4CAQ hush\n-----END":   "key [redacted]",
		"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3IifQ.hush":             "[redacted]",
		`{"accessKeyID":"AKIAIOSFODNN7EXAMPLE","x":1}`:             `{"accessKeyID":"[redacted]","x":1}`,
	} {
		if got := redact.WithoutSecrets(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}

func FuzzWithin(f *testing.F) {
	for _, s := range []string{
		"lampr_01k0.1.abcdefgh", "a://b:c@d e", "-----BEGIN", "?code=1",
		"Bearer  aaaaaaaa bearer aaaaaaaa", "\xff", "eyJaaaaaaaa eyJbbbbbbbb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := redact.WithoutSecrets(s)
		if redact.HoldsSecret(strings.ReplaceAll(got, redact.Mark, " ")) {
			t.Errorf("%q becomes %q, which still looks like a secret", s, got)
		}
		if !redact.HoldsSecret(s) && got != s {
			t.Errorf("%q, which holds no secret, becomes %q", s, got)
		}
	})
}
