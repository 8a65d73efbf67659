package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Redacted stands for a secret.
const Redacted = "[redacted]"

// The bounds of one side of a change. With what a last member may have over, a side is 8 kB at most.
const (
	sideBudget = 6000 // bytes of JSON, after which members are only counted
	maxText    = 1000 // bytes of JSON of a string
	maxName    = 128  // bytes of a member's name
	deepest    = 12   // levels
)

// unshown stands for what cannot be written as JSON.
const unshown = "[cannot be shown]"

// redact is v, made of what decode gives, without its secrets and no longer than a side may be.
func redact(v any) any {
	if v == nil {
		return nil
	}
	p := pruner{left: sideBudget}
	return p.value(v, 1)
}

// pruner copies a value while there is room.
type pruner struct{ left int }

func (p *pruner) value(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		return p.object(v, depth)
	case []any:
		return p.list(v, depth)
	case string:
		return p.text(v)
	case json.Number:
		if len(v) > 64 {
			return p.text(string(v[:64]) + "…")
		}
		p.left -= len(v)
		return v
	default:
		p.left -= len("false")
		return v
	}
}

// text is s, cut where it is too long.
func (p *pruner) text(s string) string {
	if SecretText(s) {
		s = Redacted
	}
	size := len(canonicalText(nil, s[:min(len(s), maxText+1)]))
	if size > maxText {
		s = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:maxText/6], ""), len(s))
		size = len(canonicalText(nil, s))
	}
	p.left -= size
	return s
}

func (p *pruner) list(list []any, depth int) any {
	if depth > deepest {
		return p.text("[nested too deep]")
	}
	out := []any{}
	for i, v := range list {
		if p.left <= 0 {
			return append(out, fmt.Sprintf("… %d more", len(list)-i))
		}
		out = append(out, p.value(v, depth+1))
		p.left--
	}
	return out
}

func (p *pruner) object(object map[string]any, depth int) any {
	if depth > deepest {
		return p.text("[nested too deep]")
	}
	out := map[string]any{}
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if p.left <= 0 {
			out["…"] = fmt.Sprintf("%d more", len(object)-i)
			break
		}
		out[p.name(name)] = p.member(name, object[name], depth)
	}
	return out
}

// name is the name of a member; somebody may have made one of a secret.
func (p *pruner) name(name string) string {
	if SecretText(name) {
		name = Redacted
	}
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	p.left -= len(canonicalText(nil, name)) + 2
	return name
}

// member is the value of a member, redacted when its name says that it is a secret. Whether there is a secret at all is
// none: true, false, null and the empty string stay.
func (p *pruner) member(name string, v any, depth int) any {
	switch v.(type) {
	case nil, bool:
		return p.value(v, depth)
	}
	if v != "" && SecretName(name) {
		return p.text(Redacted)
	}
	return p.value(v, depth+1)
}

// SecretName tells whether a member of this name holds a secret.
func SecretName(name string) bool {
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
		"assertion", "signature", "kubeconfig", "webhookurl", "pepper", "apikey", "accesskey", "privatekey", "signingkey",
		"connectionstring", "samlresponse",
	}
	// tellingWords say so only where they are a word of the name: "accessKey" and "otp_code", not "monkey" or "decoded".
	// "keys" is no secret: it is what lists of names are called.
	tellingWords = map[string]bool{"otp": true, "totp": true, "code": true, "codes": true, "key": true, "jwt": true, "bearer": true, "pin": true, "pat": true}
	// harmless are names that only sound like that of a secret.
	harmless = map[string]bool{
		"tokenid": true, "tokentype": true, "tagkey": true, "tagkeys": true, "publickey": true, "publickeys": true, "keyid": true,
		"accesskeyid": true, "statuscode": true, "errorcode": true, "exitcode": true, "countrycode": true, "currencycode": true,
	}
)

// split gives the words of a name in lower case: "clientSecret", "client_secret" and "CLIENT-SECRET" have the same.
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

// begins tells whether the capital at i begins a word: one after a small letter, or the last of several ("OTPCode").
func begins(runes []rune, i int) bool {
	return unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// SecretText tells whether s holds what looks like a secret, whatever it is called: a token of ours, a JWT, a key of a
// cloud or of a well-known service, a PEM block, a password in an address.
func SecretText(s string) bool { return secretText.MatchString(s) }

var secretText = regexp.MustCompile(strings.Join([]string{
	`lamp[a-z]?_[A-Za-z0-9._-]{8}`,
	`eyJ[A-Za-z0-9_-]{8}`,
	`(AKIA|ASIA)[A-Z0-9]{4}`,
	`-----BEGIN`,
	`\$argon2`,
	`(gh[pousr]|github_pat|glpat|sk_live|rk_live)[_-][A-Za-z0-9_]{8}`,
	`xox[a-z]-[A-Za-z0-9]`,
	`AIza[A-Za-z0-9_-]{16}`,
	`ya29\.`,
	`(?i:bearer) [A-Za-z0-9+/=._~-]{8}`,
	`(?i:basic) [A-Za-z0-9+/=]{16}`,
	`://[^/?#\s]*:[^/?#\s]*@`,
	`(?i:[?&#](access_token|id_token|refresh_token|token|api_?key|key|sig|signature|x-amz-signature|code|secret|password|samlresponse)=)`,
	`(?i:hooks\.slack\.com/|webhook\.office\.com/|\.logic\.azure\.com|/api/webhooks/)`,
}, "|"))
