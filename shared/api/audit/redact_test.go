package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNamesOfSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "Password": true, "newPassword": true, "PASSWORD_HASH": true, "passwd": true,
		"secret": true, "clientSecret": true, "client_secret": true, "secretAccessKey": true, "SecretString": true,
		"token": true, "accessToken": true, "refreshToken": true, "resetToken": true, "sessionToken": true,
		"token-value": true,
		"otp":         true, "otpCode": true, "OTPCode": true, "code": true, "codes": true, "recoveryCodes": true,
		"totp": true,
		"key":  true, "apiKey": true, "api_key": true, "APIKEY": true, "private-key": true, "privatekey": true,
		"sshKey": true, "key1": true,
		"credential": true, "credentials": true, "awsCredentials": true, "authorization": true,
		"Proxy-Authorization": true,
		"cookie":              true, "Set-Cookie": true, "assertion": true, "client_assertion": true, "signature": true,
		"X-Amz-Signature": true,
		"kubeconfig":      true, "kubeConfig": true, "kube_config": true, "webhookURL": true, "webhook_url": true,
		"pepper": true, "jwt": true,
		"SAMLResponse": true, "connectionString": true, "pat": true, "pwd": true, "db_pwd": true,

		"policies": false, "keys": false, "monkey": false, "keyboard": false, "decoded": false, "encoding": false,
		"barcode": false,
		"hotpath": false, "pattern": false, "patch": false, "path": false, "name": false, "email": false, "id": false,
		"url":     false,
		"tokenID": false, "tokenType": false, "token_type": false, "tagKey": false, "publicKey": false,
		"accessKeyID": false,
		"statusCode":  false, "errorCode": false, "authMethod": false, "permissionLevel": false, "spin": false,
		"pinned": false,
		"":       false, "…": false, "配置": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestTextsThatAreSecrets(t *testing.T) {
	for text, want := range map[string]bool{
		"lampr_01k0.1.abcdefgh": true, "lampt_abcdefghijkl": true, "lampp_AbCdEfGh12345678": true,
		"lamp_AbCdEfGh12345678":                       true,
		"it was lampr_01k0.1.abcdefgh, you know":      true,
		"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3IifQ.sig": true,
		"AKIAIOSFODNN7EXAMPLE":                        true,
		"ASIAIOSFODNN7EXAMPLE":                        true,
		"-----BEGIN PRIVATE KEY-----\nMIG":            true,
		"$argon2id$v=19$m=19456":                      true,
		"ghp_abcdefghijklmnop":                        true,
		"xoxb-123":                                    true,
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw":      true,
		"Bearer abcdefghijkl":                         true,
		"Basic dXNlcjpwYXNzd29yZA==":                  true,
		"https://user:pass@example.com/x":             true,
		"https://example.com/x?token=1":               true,
		"https://example.com/x?a=b&Signature=1":       true,
		"https://hooks.slack.com/services/T/B/x":      true,
		"https://discord.com/api/webhooks/1/x":        true,
		"GOCSPX-abcdefghijklmnop":                     true,
		"AccountName=x;AccountKey=abcd==;a=b":         true,
		"Endpoint=sb://x;SharedAccessKey=abcd=":       true,
		"$2y$":                                        false,

		"": false, "lamp": false, "a lamp_shade": false, "Basic monitoring of all": false, "ada@example.com": false,
		"https://example.com/x?page=2": false, "arn:aws:iam::123456789012:role/Lamplighter": false, "i-0abc": false,
		"team_01k8z3v5y0e6m9x2q4t7r1c8bd": false,
	} {
		if got := SecretText(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// redactText returns a JSON text as it is stored in a row.
func redactText(text string) string {
	return string(appendCanonical(nil, redactValue(decodeOrNil([]byte(text)))))
}

func TestRedaction(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a","password":"b"}`:                `{"name":"a","password":"[redacted]"}`,
		`{"credentials":{"anything":["x",{"y":1}]}}`: `{"credentials":"[redacted]"}`,
		`{"otp":123456,"code":[1,2]}`:                `{"code":"[redacted]","otp":"[redacted]"}`,
		`{"password":null,"secret":"","token":true}`: `{"password":null,"secret":"","token":true}`,
		`{"note":"my key is AKIAIOSFODNN7EXAMPLE"}`:  `{"note":"[redacted]"}`,
		`{"AKIAIOSFODNN7EXAMPLE":1}`:                 `{"[redacted]":1}`,
		`[{"name":"DB_PASSWORD","value":"x"},{"name":"ZONE","value":"x"}]`: `[{"name":"DB_PASSWORD",` +
			`"value":"[redacted]"},{"name":"ZONE","value":"x"}]`,
		`["eyJhbGciOiJFUzI1NiJ9.x.y","plain"]`:                 `["[redacted]","plain"]`,
		`{"b":1.50,"a":1e3,"c":-0.0,"d":12345678901234567890}`: `{"a":1e3,"b":1.50,"c":-0.0,"d":12345678901234567890}`,
		`{"keys":["a","b"],"policies":["teams:read"]}`:         `{"keys":["a","b"],"policies":["teams:read"]}`,
		`"<b>&amp;é` + "\u2028" + `\u0000\n\u001f"`: `"<b>&amp;é` + "\u2028" +
			`\u0000\n\u001f"`,
		`null`:          `null`,
		``:              `null`,
		`{"a":1,"a":2}`: `"[cannot be shown]"`,
		`{`:             `"[cannot be shown]"`,
		`{"a":` + strings.Repeat("9", 5000) + `}`: `{"a":"` + strings.Repeat("9", 64) + `…"}`,
	} {
		if got := redactText(text); got != want {
			t.Errorf("%s\nis  %s\nnot %s", text, got, want)
		}
	}
}

func TestASideIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	many := make(map[string]int)
	for i := range 5000 {
		many[fmt.Sprint("member ", i)] = i
	}
	asJSON := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	for name, c := range map[string]struct{ text, mark string }{
		"a long text":           {asJSON(long), "… (100000 bytes)"},
		"a text of controls":    {asJSON(strings.Repeat("\x01", 5000)), "bytes)"},
		"a long name":           {asJSON(map[string]int{long: 1}), "x…"},
		"names of controls":     {asJSON(map[string]int{strings.Repeat("\x02", 5000): 1}), "…"},
		"many members":          {asJSON(many), "more"},
		"a long list":           {"[" + strings.Repeat("1,", 9999) + "1]", "more"},
		"lists in lists":        {strings.Repeat("[", 40) + strings.Repeat("]", 40), "[nested too deep]"},
		"objects in objects":    {strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "[nested too deep]"},
		"long texts everywhere": {strings.Repeat("["+asJSON(long[:900])+",", 11) + "1" + strings.Repeat("]", 11), "x"},
		"an umlaut at the cut":  {asJSON(strings.Repeat("ä", 3000)), "ä…"},
	} {
		got := redactText(c.text)
		if len(got) > 8<<10 || !utf8.ValidString(got) || !strings.Contains(got, c.mark) {
			t.Errorf("%s: %d bytes: %.300s", name, len(got), got)
		}
	}
}

// A value with the name or the form of a secret is not written anywhere (check 88).
func FuzzRedact(f *testing.F) {
	f.Add(`{"a":{"b":[`, `]}}`, "password")
	f.Add(`[{"`, `":1}]`, "x_token")
	f.Add(`{"deep":{"deep":{"credentials":{"a":[1,`, `]}}}}`, "clientSecret")
	f.Fuzz(func(t *testing.T, before, after, name string) {
		const canary = "lampr_canary.1.0123456789"
		secret := "plain-canary-55501"
		quoted, _ := json.Marshal(name)
		for _, text := range []string{
			before + `"` + canary + `"` + after, before + canary + after,
			`{` + string(quoted) + `:"` + canary + `"}`,
		} {
			if got := redactText(text); strings.Contains(got, canary) {
				t.Errorf("%s is written as %s", text, got)
			}
		}
		got := redactText(`[{` + string(quoted) + `:{"a":["` + secret + `"]}}]`)
		if SecretName(name) && strings.Contains(got, secret) {
			t.Errorf("%q is no secret: %s", name, got)
		}
		if len(got) > 8<<10 {
			t.Errorf("%d bytes", len(got))
		}
		if again := redactText(got); again != got && !strings.Contains(got, Redacted) && !strings.Contains(got, "…") {
			t.Errorf("%s becomes %s", got, again)
		}
	})
}
