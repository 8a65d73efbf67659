// Package redact knows a secret when it sees one, by its name or by its looks. The audit log and the logs of the service
// go by the same rules, so that what one leaves out does not stand in the other.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Mark stands for a secret.
const Mark = "[redacted]"

// IsSecretName reports whether what has this name, a member, a header or an attribute, is a secret.
func IsSecretName(name string) bool {
	words := split(name)
	flat := strings.Join(words, "")
	if harmless[flat] {
		return false
	}
	return slices.ContainsFunc(telling, func(s string) bool { return strings.Contains(flat, s) }) ||
		slices.ContainsFunc(words, func(w string) bool { return tellingWords[w] })
}

var (
	// telling are parts of a name that say by themselves that it names a secret.
	telling = []string{
		"password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "authorization", "cookie",
		"assertion", "signature", "kubeconfig", "webhookurl", "pepper", "apikey", "accesskey", "privatekey",
		"signingkey",
		"connectionstring", "samlresponse",
	}
	// tellingWords say so only where they are a word of the name: "accessKey" and "otp_code", not "monkey" or "decoded".
	// "keys" is no secret: it is what lists of names are called.
	tellingWords = map[string]bool{"otp": true, "totp": true, "code": true, "codes": true, "key": true, "jwt": true,
		"bearer": true, "pin": true, "pat": true, "pwd": true}
	// harmless are names that only sound like that of a secret.
	harmless = map[string]bool{
		"tokenid": true, "tokentype": true, "tagkey": true, "tagkeys": true, "publickey": true, "publickeys": true,
		"keyid":       true,
		"accesskeyid": true, "statuscode": true, "errorcode": true, "exitcode": true, "countrycode": true,
		"currencycode": true,
	}
)

// split returns the words of a name in lower case: "clientSecret", "client_secret" and "CLIENT-SECRET" have the same.
func split(name string) []string {
	var words []string
	runes := []rune(name)
	from := 0
	for i, r := range runes {
		if !unicode.IsLetter(r) || i > from && unicode.IsUpper(r) && begins(runes, i) {
			words = append(words, strings.ToLower(string(runes[from:i])))
			from = i
		}
		if !unicode.IsLetter(r) {
			from = i + 1
		}
	}
	return append(words, strings.ToLower(string(runes[from:])))
}

// begins reports whether the capital at i begins a word: one after a small letter, or the last of several ("OTPCode").
func begins(runes []rune, i int) bool {
	return unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// HoldsSecret reports whether s holds what looks like a secret, whatever it is called: a token of ours, a JWT, a key of a
// cloud or of a well-known service, a PEM block, a password in an address.
func HoldsSecret(s string) bool { return !harmlessText(s) && secretText().MatchString(s) }

// harmlessText returns of most texts, ids and paths above all, that none of secretText is in them: each of its forms has one
// of these marks, a blank, an equals sign or a dot in it. Looking for those takes a twentieth of the time, and every line
// of the log is looked at.
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

// marks are in what secretText finds where there is no blank, equals sign or dot.
var marks = []string{
	"lamp", "eyJ", "AKIA", "ASIA", "-----BEGIN", "$argon2", "gh", "github_pat", "glpat", "k_live", "whsec_", "xox",
	"AIza", "GOCSPX-", "://",
}

// secretText is compiled when the first text is looked at that may hold a secret: no start of a function waits for it.
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
	`(?i:[?&#](access_token|id_token|refresh_token|token|api_?key|key|sig|signature|x-amz-signature|code|secret|password|samlresponse)=)`,
	`(?i:hooks\.slack\.com/|webhook\.office\.com/|\.logic\.azure\.com|/api/webhooks/)`,
}, "|")

// WithoutSecrets is s with a Mark for each piece that looks like a secret; the words around it stay.
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
		if end < 0 || strings.HasPrefix(s[at[0]:], "-----BEGIN") { // a PEM block goes on over blanks and lines
			return b.String()
		}
		s = rest[end:]
	}
	b.WriteString(s)
	return b.String()
}

// apart reports whether a letter ends a secret.
func apart(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`,;<>(){}[]", r) }
