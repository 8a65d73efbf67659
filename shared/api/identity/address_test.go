package identity_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/foundation/fault"
)

func TestAddressesHaveOneSpelling(t *testing.T) {
	for in, want := range map[string]string{
		"ada@example.com":                "ada@example.com",
		"\tAda@EXAMPLE.com\u00a0":        "ada@example.com",
		"ａｄａ＠example．com":                "ada@example.com",
		"ada+lamps@mail.example.co.uk":   "ada+lamps@mail.example.co.uk",
		"o'neill_1/x=y@xn--bcher-kva.de": "o'neill_1/x=y@xn--bcher-kva.de",
	} {
		t.Run(in, func(t *testing.T) {
			if got, err := identity.NormalizeAddress(in); err != nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for name, in := range map[string]string{
		"empty":              "",
		"without @":          "ada.example.com",
		"two @":              "ada@evil@example.com",
		"no local part":      "@example.com",
		"no domain":          "ada@",
		"a bare host":        "ada@localhost",
		"an address literal": "ada@[127.0.0.1]",
		"a blank within":     "ada lovelace@example.com",
		"a quoted part":      `"ada lovelace"@example.com`,
		"a header":           "ada@example.com\r\nBcc: eve@example.com",
		"a NUL":              "ada\x00@example.com",
		"a display name":     "Ada <ada@example.com>",
		"a comma":            "ada@example.com,eve@example.com",
		"two dots":           "ada..l@example.com",
		"a dot in front":     ".ada@example.com",
		"a dot at the end":   "ada@example.com.",
		"a hyphen in front":  "ada@-example.com",
		"a Cyrillic letter":  "аda@example.com",
		"a long local part":  strings.Repeat("a", 65) + "@example.com",
		"a long label":       "ada@" + strings.Repeat("a", 64) + ".com",
		"a long address":     "ada@" + strings.Repeat("a.", 130) + "com",
		"a megabyte":         strings.Repeat("a", 1<<20) + "@example.com",
		"not UTF-8":          "\xff@example.com",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := identity.NormalizeAddress(in); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"ada@example.com", "ADA@EXAMPLE.COM", "İ@example.com", "ﬀ@example.com", "a@b.c",
		"a@b.c\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, err := identity.NormalizeAddress(s)
		if err != nil {
			return
		}
		if again, err := identity.NormalizeAddress(once); err != nil || again != once {
			t.Errorf("%q becomes %q, then %q, %v", s, once, again, err)
		}
		if strings.ContainsAny(once, " \t\r\n\"<>,;:()[]\\") || strings.Count(once, "@") != 1 || len(once) > 254 {
			t.Errorf("%q becomes %q", s, once)
		}
	})
}

func TestDigestsTellPartsApart(t *testing.T) {
	pepper := []byte("pepper")
	seen := map[string]string{}
	for name, d := range map[string]string{
		"ab c":     identity.Digest(pepper, "ab", "c"),
		"a bc":     identity.Digest(pepper, "a", "bc"),
		"abc":      identity.Digest(pepper, "abc"),
		"abc ''":   identity.Digest(pepper, "abc", ""),
		"no salt":  identity.Digest(nil, "abc"),
		"new salt": identity.Digest([]byte("salt"), "abc"),
	} {
		if other, ok := seen[d]; ok || len(d) != 43 {
			t.Errorf("%s: %q, as %s", name, d, other)
		}
		seen[d] = name
	}
}
