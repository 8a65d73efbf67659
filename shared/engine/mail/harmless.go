package mail

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// maxNameLetters is how many characters of a name are repeated in a mail.
const maxNameLetters = 64

// HarmlessName returns a name given by one user as it is repeated in a mail to another: one line of letters, digits and
// plain punctuation, without anything that a mail program turns into a link.
func HarmlessName(name string) string {
	var b strings.Builder
	for i, r := range []rune(oneLine(name)) {
		if i == maxNameLetters {
			b.WriteString("…")
			break
		}
		b.WriteRune(defuse(r))
	}
	return oneLine(b.String())
}

// defuse returns a blank for the characters that addresses consist of (of scheme, path, user, and the dots between
// labels, also in full width), and for invisible characters.
func defuse(r rune) rune {
	if strings.ContainsRune(`:/\@<>".`, r) || unicode.Is(unicode.Zs, r) || !unicode.IsPrint(r) ||
		strings.ContainsRune("。．｡․：／＠", r) {
		return ' '
	}
	return r
}

// checkAddress returns an error for an address that would break the header. Addresses already have the form of
// identity.NormalizeAddress; this is the last check before sending.
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

// CheckSender returns an error if the sender's address cannot send mail. The error repeats the address, which is a
// setting of the operator.
func CheckSender(from string) error {
	if err := checkAddress(from); err != nil {
		return fmt.Errorf("the sender's address %q is not an e-mail address: write it as no-reply@example.com", from)
	}
	return nil
}
