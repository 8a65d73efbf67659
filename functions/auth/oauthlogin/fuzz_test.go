package oauthlogin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// FuzzIDToken presents unsigned tokens, and signed ones with arbitrary contents. An accepted token is signed, and
// names its subject, its issuer, and this service.
func FuzzIDToken(f *testing.F) {
	p, c := apitest.NewPlatform(f)
	twin := oauthlogintest.NewOpenID(f, c)
	p.Settings.Google = twin.Client()
	providers := oauthlogin.New(p)
	right := `{"iss":"ISSUER","sub":"alice","aud":"lamplighter-test","iat":1773135000,"exp":1773138600,` +
		`"email":"alice@example.com","email_verified":true}`
	for _, claims := range []string{
		right, strings.Replace(right, `"lamplighter-test"`, `["lamplighter-test","other"]`, 1), `{}`, `[]`, `null`,
		`{"iss":"ISSUER","sub":1}`,
		strings.Replace(right, `"alice"`, `"alice","SUB":"eve"`, 1), strings.Replace(right, "1773138600", "1e400", 1),
		strings.Replace(right, "1773138600", "-1", 1), strings.Replace(right, "true", `"true"`, 1),
		`{"_claim_names":{"sub":"x"}}`,
	} {
		f.Add(claims, true)
	}
	signed := twin.Sign(f, twin.Claims("alice"))
	for _, token := range []string{
		"", ".", "..", "eyJhbGciOiJub25lIn0.e30.", signed[:len(signed)-3], "{}",
		strings.Repeat("a.", 9000),
	} {
		f.Add(token, false)
	}
	f.Fuzz(func(t *testing.T, text string, sign bool) {
		if sign {
			text = strings.ReplaceAll(text, "ISSUER", twin.URL)
		}
		token := text
		if sign {
			token = twin.SignText(t, []byte(text))
		}
		claim, err := providers.VerifyIDToken(t.Context(), token)
		if err != nil {
			if !fault.Is(err, fault.Unauthenticated) || claim != (accounts.Claim{}) {
				t.Errorf("%+v, %v", claim, err)
			}
			return
		}
		var said struct {
			Iss, Sub string
			Aud      any
			Exp      float64
		}
		if !sign || json.Unmarshal([]byte(text), &said) != nil || said.Iss != twin.URL || said.Sub != claim.Subject ||
			claim.Subject == "" ||
			said.Exp < float64(c.Now().Unix()) || !isFor(said.Aud, oauthlogintest.ClientID) {
			t.Errorf("accepted %q as %+v", text, claim)
		}
	})
}

func isFor(aud any, client string) bool {
	if list, ok := aud.([]any); ok {
		return slices.Contains(list, any(client))
	}
	return aud == client
}
