package token_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

var b64 = base64.RawURLEncoding.EncodeToString

// smith makes tokens that are nearly valid.
type smith struct {
	*forge
	t      *testing.T
	tokens *token.JWTs
}

func newSmith(t *testing.T) *smith {
	t.Helper()
	f := newForge(t)
	s := &smith{f, t, token.NewJWTs(f, issuer, clock.NewManual(now))}
	for name, good := range map[string]string{
		"EdDSA": s.withClaims(nil),
		"ES256": mintToken(t, signingKey(jose.ES256, f.ec), s.validHeads(f.ecPublic.KeyID), validClaims(nil)),
	} {
		if _, err := s.tokens.Verify(context.Background(), good); err != nil {
			t.Fatalf("the fair %s token is refused: %v", name, err)
		}
	}
	return s
}

func (s *smith) validHeads(kid string) heads { return heads{"kid": kid, "typ": "at+jwt"} }

// withClaims returns a token that is valid except for its claims.
func (s *smith) withClaims(change func(c map[string]any)) string {
	return mintToken(s.t, signingKey(jose.EdDSA, s.ed), s.validHeads(s.edPublic.KeyID), validClaims(change))
}

func (s *smith) withClaim(name string, v any) string {
	return s.withClaims(func(c map[string]any) { c[name] = v })
}

func (s *smith) withoutClaim(name string) string {
	return s.withClaims(func(c map[string]any) { delete(c, name) })
}

// withHeader returns a token that is valid except for a header.
func (s *smith) withHeader(name jose.HeaderKey, v any) string {
	h := s.validHeads(s.edPublic.KeyID)
	h[name] = v
	return mintToken(s.t, signingKey(jose.EdDSA, s.ed), h, validClaims(nil))
}

// wantRefused requires that each token is refused twice: a refused token must not be accepted later.
func (s *smith) wantRefused(hostile map[string]string) {
	s.t.Helper()
	for name, signed := range hostile {
		s.t.Run(name, func(t *testing.T) {
			for range 2 {
				if claims, err := s.tokens.Verify(context.Background(), signed); !fault.Is(err,
					fault.Unauthenticated) || claims != (token.Claims{}) {
					t.Errorf("%+v, %v", claims, err)
				}
			}
		})
	}
}

// check 2.
func TestUnsignedTokensAreRefused(t *testing.T) {
	s := newSmith(t)
	payload := strings.Split(s.withClaims(nil), ".")[1]
	unsigned := func(alg string) string {
		return b64([]byte(`{"alg":"`+alg+`","typ":"at+jwt","kid":"`+s.edPublic.KeyID+`"}`)) + "." + payload + "."
	}
	s.wantRefused(map[string]string{
		"alg none":     unsigned("none"),
		"alg None":     unsigned("None"),
		"alg nOnE":     unsigned("nOnE"),
		"alg NONE":     unsigned("NONE"),
		"no alg":       unsigned(""),
		"no signature": strings.Join(strings.Split(s.withClaims(nil), ".")[:2], ".") + ".",
	})
}

// check 3.
func TestPublicKeysSignNothing(t *testing.T) {
	s := newSmith(t)
	der, err := x509.MarshalPKIXPublicKey(s.ec.Public())
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ed, ec := s.edPublic.KeyID, s.ecPublic.KeyID
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	s.wantRefused(map[string]string{
		"HS256 with the public PEM": mintToken(t, signingKey(jose.HS256, text), s.validHeads(ec), validClaims(nil)),
		"HS256 with the public DER": mintToken(t, signingKey(jose.HS256, der), s.validHeads(ec), validClaims(nil)),
		"HS256 with the Ed25519 public": mintToken(t, signingKey(jose.HS256, []byte(s.ed.Public().(ed25519.PublicKey))),
			s.validHeads(ed), validClaims(nil)),
		"RS256": mintToken(t, signingKey(jose.RS256, rsaKey), s.validHeads(ed),
			validClaims(nil)),
		"ES256 under the EdDSA key id": mintToken(t, signingKey(jose.ES256, s.ec), s.validHeads(ed), validClaims(nil)),
		"EdDSA under the ES256 key id": mintToken(t, signingKey(jose.EdDSA, s.ed), s.validHeads(ec), validClaims(nil)),
	})
}

// silent fails the test on any outgoing request.
type silent struct{ t *testing.T }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.t.Errorf("the token had %s fetched", r.URL)
	return nil, errors.New("nothing is fetched")
}

// check 4: a key from a token, or from an address in it, is never used, and no request is made.
func TestATokenBringsNoKeyOfItsOwn(t *testing.T) {
	before := http.DefaultTransport
	http.DefaultTransport = silent{t}
	defer func() { http.DefaultTransport = before }()
	s := newSmith(t)
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	kid := func(id string) string {
		return mintToken(t, signingKey(jose.EdDSA, s.ed), s.validHeads(id), validClaims(nil))
	}
	s.wantRefused(map[string]string{
		"a stranger's key, our key id": mintToken(t, signingKey(jose.EdDSA, stranger), s.validHeads(s.edPublic.KeyID),
			validClaims(nil)),
		"a path for a key id":          kid("../../dev/null"),
		"SQL for a key id":             kid("' OR 1=1 --"),
		"an address for a key id":      kid("http://127.0.0.1/key"),
		"another key's id":             kid(s.ecPublic.KeyID),
		"no key id":                    kid(""),
		"a key in the header":          withEmbeddedKey(t, stranger, nil),
		"a key in it under our key id": withEmbeddedKey(t, stranger, heads{"kid": s.edPublic.KeyID}),
		"jku":                          s.withHeader("jku", "https://evil.example/jwks"),
		"x5u":                          s.withHeader("x5u", "https://evil.example/cert"),
		"x5c":                          s.withHeader("x5c", []string{"MIIB"}),
		"crit":                         s.withHeader("crit", []string{"exp"}),
		"b64":                          s.withHeader("b64", true),
	})
}

// withEmbeddedKey returns a token that contains its key.
func withEmbeddedKey(t *testing.T, key ed25519.PrivateKey, more heads) string {
	t.Helper()
	h := heads{"typ": "at+jwt"}
	maps.Copy(h, more)
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key},
		&jose.SignerOptions{EmbedJWK: true, ExtraHeaders: h})
	if err != nil {
		t.Fatal(err)
	}
	out, err := jwt.Signed(s).Claims(validClaims(nil)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check 5: clocks may differ by thirty seconds, in both directions.
func TestTimesOfTokens(t *testing.T) {
	s := newSmith(t)
	at := func(name string, d time.Duration) string { return s.withClaim(name, now.Add(d).Unix()) }
	s.wantRefused(map[string]string{
		"expired by 31 s":    at("exp", -31*time.Second),
		"not before in 31 s": at("nbf", 31*time.Second),
		"issued in 31 s":     at("iat", 31*time.Second),
		"exp as a string":    s.withClaim("exp", "tomorrow"),
		"exp beyond time":    s.withClaim("exp", -1e300),
	})
	for name, token := range map[string]string{
		"expired by 29 s": at("exp", -29*time.Second), "not before in 29 s": at("nbf", 29*time.Second),
		"issued in 29 s": at("iat", 29*time.Second),
	} {
		if _, err := s.tokens.Verify(context.Background(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// check 6: only access tokens issued by this service for this audience are accepted.
func TestOnlyAccessTokensForHere(t *testing.T) {
	s := newSmith(t)
	idToken := mintToken(t, signingKey(jose.EdDSA, s.ed), heads{"kid": s.edPublic.KeyID, "typ": "JWT"}, map[string]any{
		"iss": issuer, "sub": "usr_1", "aud": "client_1", "azp": "client_1", "nonce": "n1", "email": "ada@example.com",
		"email_verified": true,
		"iat":            now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	s.wantRefused(map[string]string{
		"no exp":                  s.withoutClaim("exp"),
		"no iat":                  s.withoutClaim("iat"),
		"no sub":                  s.withoutClaim("sub"),
		"no jti":                  s.withoutClaim("jti"),
		"no session":              s.withoutClaim("sid"),
		"no version":              s.withoutClaim("ver"),
		"another version":         s.withClaim("ver", 2),
		"no audience":             s.withoutClaim("aud"),
		"an audience of nothing":  s.withClaim("aud", []string{}),
		"the audience of tools":   s.withClaim("aud", []string{"mcp"}),
		"an audience in capitals": s.withClaim("aud", []string{"REST"}),
		"no issuer":               s.withoutClaim("iss"),
		"another issuer":          s.withClaim("iss", "https://evil.example"),
		"an issuer with a slash":  s.withClaim("iss", issuer+"/"),
		"type JWT":                s.withHeader("typ", "JWT"),
		"no type": mintToken(t, signingKey(jose.EdDSA, s.ed), heads{"kid": s.edPublic.KeyID},
			validClaims(nil)),
		"an ID token":             idToken,
		"a refresh token":         "lampr_abc.1.DEF.ghi",
		"a reset ticket":          "lampt_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		"a personal access token": identity.NewPAT(),
		"another deployment's own": mintToken(t, signingKey(jose.EdDSA, newForge(t).ed), s.validHeads(s.edPublic.KeyID),
			validClaims(nil)),
	})
}

// check 7: a token has one spelling, and a signature belongs to one payload.
func TestATokenHasOneSpelling(t *testing.T) {
	s := newSmith(t)
	good, other := s.withClaims(nil), s.withClaim("sub", "usr_admin")
	parts, others := strings.Split(good, "."), strings.Split(other, ".")
	s.wantRefused(map[string]string{
		"another token's payload":      parts[0] + "." + others[1] + "." + parts[2],
		"a made-up payload":            parts[0] + "." + b64([]byte(`{"sub":"admin"}`)) + "." + parts[2],
		"a signature cut short":        good[:len(good)-4],
		"a signature of zeros":         parts[0] + "." + parts[1] + "." + b64(make([]byte, 64)),
		"other bits that nobody reads": good[:len(good)-1] + string(good[len(good)-1]+1),
		"four parts":                   good + ".x",
		"two parts":                    parts[0] + "." + parts[1],
		"two dots":                     "..",
		"a blank at the end":           good + " ",
		"a blank in front":             " " + good,
		"a newline at the end":         good + "\n",
		"a newline within":             parts[0] + ".\n" + parts[1] + "." + parts[2],
		"a NUL at the end":             good + "\x00",
		"padding":                      good + "==",
		"the other alphabet of base64": strings.NewReplacer("-", "+", "_", "/").Replace(good) + "=",
		"JSON serialization": `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` +
			parts[2] + `"}`,
		"twice, behind a comma":          good + "," + good,
		"empty":                          "",
		"longer than any of ours can be": good + strings.Repeat("a", 8<<10),
		"a megabyte":                     strings.Repeat("a", 1<<20),
	})
}
