package identity

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"lamplighter.dev/shared/foundation/fault"
)

// NormalizeAddress returns an e-mail address in its normal form: compatibility characters folded (NFKC), lower case, no
// surrounding blanks. Two addresses belong to the same account if their normal forms are equal. The result is ASCII, so
// it can be used in a mail header unchanged; an international domain must be written as xn--… . An address that cannot
// receive mail is fault.Invalid.
func NormalizeAddress(raw string) (string, error) {
	if len(raw) > 1024 {
		return "", errAddress("it is too long")
	}
	s := strings.ToLower(strings.TrimSpace(norm.NFKC.String(raw)))
	local, domain, found := strings.Cut(s, "@")
	switch {
	case !found:
		return "", errAddress("it has no @")
	case len(s) > 254 || len(local) > 64:
		return "", errAddress("it is too long")
	case !isDotted(local, isLocalByte):
		return "", errAddress("the part before the @ is not one that mail is delivered to")
	case !strings.Contains(domain, ".") || !isDotted(domain, isDomainByte) || !hasValidLabels(domain):
		return "", errAddress("the part after the @ is not a domain name")
	}
	return s, nil
}

func errAddress(why string) error {
	return fault.New(fault.Invalid, "email: %s; write it as name@example.com", why)
}

// isDotted reports whether s consists of non-empty runs of allowed bytes, separated by dots.
func isDotted(s string, allowed func(byte) bool) bool {
	for run := range strings.SplitSeq(s, ".") {
		if run == "" {
			return false
		}
		for i := range len(run) {
			if !allowed(run[i]) {
				return false
			}
		}
	}
	return true
}

func isLocalByte(c byte) bool {
	return isDomainByte(c) || strings.IndexByte("!#$%&'*+/=?^_`{|}~", c) >= 0
}

func isDomainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-'
}

// hasValidLabels checks the length and the hyphens of a domain's labels.
func hasValidLabels(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		if len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}
