package identity

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"lamplighter.dev/shared/foundation/fault"
)

// Address brings an e-mail address into the one spelling under which it is an account: compatibility forms folded
// (NFKC), lower case, no blanks around it. Two addresses are one account exactly if their Address is the same. Only
// ASCII is left in it, so that it can be put into a mail's header as it is; an international domain is written as
// xn--… . Whatever cannot receive mail is fault.Invalid.
func Address(raw string) (string, error) {
	if len(raw) > 1024 {
		return "", badAddress("it is too long")
	}
	s := strings.ToLower(strings.TrimSpace(norm.NFKC.String(raw)))
	local, domain, found := strings.Cut(s, "@")
	switch {
	case !found:
		return "", badAddress("it has no @")
	case len(s) > 254 || len(local) > 64:
		return "", badAddress("it is too long")
	case !dotted(local, localByte):
		return "", badAddress("the part before the @ is not one that mail is delivered to")
	case !strings.Contains(domain, ".") || !dotted(domain, domainByte) || !labelled(domain):
		return "", badAddress("the part after the @ is not a domain name")
	}
	return s, nil
}

func badAddress(why string) error {
	return fault.New(fault.Invalid, "email: %s; write it as name@example.com", why)
}

// dotted tells whether s is one or more non-empty runs of allowed bytes with a dot between them.
func dotted(s string, allowed func(byte) bool) bool {
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

func localByte(c byte) bool {
	return domainByte(c) || strings.IndexByte("!#$%&'*+/=?^_`{|}~", c) >= 0
}

func domainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-'
}

// labelled checks what a domain's labels may be beyond their bytes.
func labelled(domain string) bool {
	for label := range strings.SplitSeq(domain, ".") {
		if len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}
