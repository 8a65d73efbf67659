package mail

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// longestName is how many letters of somebody's name for something are repeated in a mail.
const longestName = 64

// HarmlessName returns a name that one person gave, as it is repeated in a mail to another: one line of letters, digits and plain
// punctuation, in which no mail program finds an address to click on.
func HarmlessName(name string) string {
	var b strings.Builder
	for i, r := range []rune(oneLine(name)) {
		if i == longestName {
			b.WriteString("…")
			break
		}
		b.WriteRune(defused(r))
	}
	return oneLine(b.String())
}

// defused turns what addresses are made of into blanks: scheme, path, user, and the dots between labels, full-width ones
// as well. What cannot be seen goes with them.
func defused(r rune) rune {
	if strings.ContainsRune(`:/\@<>".`, r) || unicode.Is(unicode.Zs, r) || !unicode.IsPrint(r) ||
		strings.ContainsRune("。．｡․：／＠", r) {
		return ' '
	}
	return r
}

// checkAddress refuses what would end the header that an address is put into. Addresses have the form of
// identity.NormalizeAddress by then; this is the last check before the wire.
func checkAddress(a string) error {
	local, domain, found := strings.Cut(a, "@")
	if !found || local == "" || domain == "" || strings.ContainsFunc(a, notInAddress) {
		return errors.New("the address cannot receive mail")
	}
	return nil
}

func notInAddress(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`<>()[],;:\"`, r)
}

// CheckSender refuses an address that cannot send: an operator's setting, so it is repeated.
func CheckSender(from string) error {
	if err := checkAddress(from); err != nil {
		return fmt.Errorf("the sender's address %q is none: write it as no-reply@example.com", from)
	}
	return nil
}
