// Package redact recognizes secrets by their names and by their form. The audit log and the service's own log share its
// rules, so that a secret left out of one does not appear in the other.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Mark replaces a secret.
const Mark = "[redacted]"

// IsSecretName reports whether a JSON member, header or attribute with this name holds a secret.
func IsSecretName(name string) bool {
	words := splitWords(name)
	flat := strings.Join(words, "")
	if harmlessNames[flat] {
		return false
	}
	return slices.ContainsFunc(secretParts, func(s string) bool { return strings.Contains(flat, s) }) ||
		slices.ContainsFunc(words, func(w string) bool { return secretWords[w] })
}

var (
	// secretParts are substrings that identify the name of a secret.
	secretParts = []string{
		"password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "authorization", "cookie",
		"assertion", "signature", "kubeconfig", "webhookurl", "pepper", "apikey", "accesskey", "privatekey",
		"signingkey",
		"connectionstring", "samlresponse",
	}
	// secretWords are words that identify the name of a secret only as a whole word: "accessKey" and "otp_code", not
	// "monkey" or "decoded". "keys" is not one of them, because lists of names are called so.
	secretWords = map[string]bool{
		"otp": true, "totp": true, "code": true, "codes": true, "key": true, "jwt": true,
		"bearer": true, "pin": true, "pat": true, "pwd": true,
	}
	// harmlessNames contain such a word but do not name a secret.
	harmlessNames = map[string]bool{
		"tokenid": true, "tokentype": true, "tagkey": true, "tagkeys": true, "publickey": true, "publickeys": true,
		"keyid":       true,
		"accesskeyid": true, "statuscode": true, "errorcode": true, "exitcode": true, "countrycode": true,
		"currencycode": true,
	}
)

// splitWords returns the words of a name in lower case: "clientSecret", "client_secret" and "CLIENT-SECRET" have the
// same words.
func splitWords(name string) []string {
	var words []string
	runes := []rune(name)
	from := 0
	for i, r := range runes {
		if !unicode.IsLetter(r) || i > from && unicode.IsUpper(r) && startsWord(runes, i) {
			words = append(words, strings.ToLower(string(runes[from:i])))
			from = i
		}
		if !unicode.IsLetter(r) {
			from = i + 1
		}
	}
	return append(words, strings.ToLower(string(runes[from:])))
}

// startsWord reports whether the capital at i starts a word: it follows a small letter, or precedes one ("OTPCode").
func startsWord(runes []rune, i int) bool {
	return unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// HoldsSecret reports whether s contains text that looks like a secret, regardless of its name: a token of this
// service, a JWT, a key of a cloud or of a well-known service, a PEM block, or a password in an address.
func HoldsSecret(s string) bool { return !harmlessText(s) && secretText().MatchString(s) }

// harmlessText reports quickly, for most texts, that secretText cannot match: each of its forms contains a blank, an
// equals sign, a dot or one of marks. This check takes a twentieth of the time of secretText, and every log line is
// checked.
func harmlessText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c == ' ' || c == '=' || c == '.' {
			return false
		}
	}
	for _, m := range marks {
		if strings.Contains(s, m) {
			return false
		}
	}
	return !strings.Contains(strings.ToLower(s), "/api/webhooks/")
}

// marks are contained in the forms of secretText without blank, equals sign and dot.
var marks = []string{
	"lamp", "eyJ", "AKIA", "ASIA", "-----BEGIN", "$argon2", "gh", "github_pat", "glpat", "k_live", "whsec_", "xox",
	"AIza", "GOCSPX-", "://",
}

// secretText is compiled at its first use, so that starting a function does not wait for it.
var secretText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(secretForms) })

var secretForms = strings.Join([]string{
	`lamp[a-z]?_[A-Za-z0-9._-]{8}`,
	`eyJ[A-Za-z0-9_-]{8}`,
	`(AKIA|ASIA)[A-Z0-9]{4}`,
	`-----BEGIN`,
	`\$argon2`,
	`(gh[pousr]|github_pat|glpat|sk_live|rk_live)[_-][A-Za-z0-9_]{8}`,
	`whsec_[A-Za-z0-9+/]{8}`,
	`xox[a-z]-[A-Za-z0-9]`,
	`AIza[A-Za-z0-9_-]{16}`,
	`ya29\.`,
	`GOCSPX-[A-Za-z0-9_-]{8}`,
	`(?i:(account|sharedaccess)key=)`,
	`(?i:bearer) [A-Za-z0-9+/=._~-]{8}`,
	`(?i:basic) [A-Za-z0-9+/=]{16}`,
	`://[^/?#\s]*:[^/?#\s]*@`,
	`(?i:[?&#](access_token|id_token|refresh_token|token|api_?key|key|sig|signature|x-amz-signature|code|secret|` +
		`password|samlresponse)=)`,
	`(?i:hooks\.slack\.com/|webhook\.office\.com/|\.logic\.azure\.com|/api/webhooks/)`,
}, "|")

// WithoutSecrets returns s with each secret replaced by Mark. The text around a secret stays.
func WithoutSecrets(s string) string {
	if harmlessText(s) {
		return s
	}
	var b strings.Builder
	for at := secretText().FindStringIndex(s); at != nil; at = secretText().FindStringIndex(s) {
		b.WriteString(s[:at[0]])
		b.WriteString(Mark)
		rest := s[at[1]:]
		end := strings.IndexFunc(rest, apart)
		if end < 0 || strings.HasPrefix(s[at[0]:], "-----BEGIN") { // a PEM block continues after blanks and line breaks
			return b.String()
		}
		s = rest[end:]
	}
	b.WriteString(s)
	return b.String()
}

// apart reports whether r ends a secret.
func apart(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;<>(){}[]", r) }
