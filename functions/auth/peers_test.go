package auth

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

// The whole way, from door to door, with a certified provider in Google's place.
func TestSigningInAtACertifiedProvider(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	f := apitest.New(t)
	f.Clock.Advance(time.Since(apitest.Start)) // the provider goes by the machine's clock
	provider := oauthlogintest.NewCertified(t, f.Settings.BaseURL+"/auth/google/callback")
	f.Settings.Google = provider.Client()
	h := mountFixture(f)
	signIn := func(status int, person string) map[string]any {
		begun := h.want(200, "GET", "/auth/google/url", nil)
		back := provider.Visit(t, begun["url"].(string), person)
		got := h.want(status, "GET", "/auth/google/callback?"+back.Encode(), nil)
		h.want(401, "GET", "/auth/google/callback?"+back.Encode(), nil) // check 21: once
		return got
	}
	first := signIn(200, "alice")
	if again := signIn(200, "alice"); userOf(again)["id"] != userOf(first)["id"] ||
		userOf(again)["email"] != "alice@example.com" {
		t.Errorf("first %v, then %v", first["user"], again["user"])
	}
	signIn(403, "mallory") // check 23: the same address, not verified
}

// reader verifies an access token as any service would that trusts us: with our published keys and nothing else.
const reader = `
import { createRemoteJWKSet, jwtVerify } from 'jose';
const [keys, issuer, at, token] = process.argv.slice(2);
const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(keys)), {
  issuer, audience: 'rest', typ: 'at+jwt', algorithms: ['EdDSA', 'ES256'], currentDate: new Date(at),
  requiredClaims: ['sub', 'exp', 'iat', 'jti', 'sid'],
});
console.log(JSON.stringify({ sub: payload.sub, kid: protectedHeader.kid }));
`

// Another maker's library finds our keys and takes our access tokens; a changed one it refuses.
func TestJoseReadsOurKeysAndTokens(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	dir := npmpeer.InstallNode(t, "jose", "jose@6.2.17")
	h := newFixture(t)
	h.register()
	in := h.logIn()
	srv := httptest.NewServer(h.Handler)
	t.Cleanup(srv.Close)
	verify := func(token string) (out, complaint string) {
		cmd := exec.CommandContext(t.Context(), //nolint:gosec // our own program
			"node", "--no-warnings", "--input-type=module", "-",
			srv.URL+"/.well-known/jwks.json", h.Settings.BaseURL, h.Clock.Now().Format(time.RFC3339), token)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(reader)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		b, err := cmd.Output()
		if err != nil {
			return "", stderr.String()
		}
		return string(b), ""
	}
	token := in["accessToken"].(string)
	out, complaint := verify(token)
	var got struct{ Sub, Kid string }
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Sub != userOf(in)["id"] || got.Kid == "" {
		t.Fatalf("jose says %q, %s", out, complaint)
	}
	parts := strings.Split(token, ".")
	other := strings.Split(h.logIn()["accessToken"].(string), ".")
	if out, complaint := verify(parts[0] + "." + parts[1] + "." + other[2]); out != "" ||
		!strings.Contains(complaint, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED") {
		t.Errorf("a changed one: %q, %s", out, complaint)
	}
}
