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

// smith makes tokens that are nearly right.
type smith struct {
	*forge
	t      *testing.T
	tokens *token.JWTs
}

func newSmith(t *testing.T) *smith {
	t.Helper()
	f := newForge(t)
	s := &smith{f, t, token.NewJWTs(f, issuer, clock.NewManual(now))}
	for name, good := range map[string]string{"EdDSA": s.changed(nil),
		"ES256": mint(t, with(jose.ES256, f.ec), s.head(f.ecPublic.KeyID), fair(nil))} {
		if _, err := s.tokens.Verify(context.Background(), good); err != nil {
			t.Fatalf("the fair %s token is refused: %v", name, err)
		}
	}
	return s
}

func (s *smith) head(kid string) heads { return heads{"kid": kid, "typ": "at+jwt"} }

// changed returns a token of ours but for its claims.
func (s *smith) changed(change func(c map[string]any)) string {
	return mint(s.t, with(jose.EdDSA, s.ed), s.head(s.edPublic.KeyID), fair(change))
}

func (s *smith) set(name string, v any) string {
	return s.changed(func(c map[string]any) { c[name] = v })
}

func (s *smith) drop(name string) string {
	return s.changed(func(c map[string]any) { delete(c, name) })
}

// headed returns a token of ours but for a header.
func (s *smith) headed(name jose.HeaderKey, v any) string {
	h := s.head(s.edPublic.KeyID)
	h[name] = v
	return mint(s.t, with(jose.EdDSA, s.ed), h, fair(nil))
}

// refuses wants each of the tokens to be refused, twice: what was seen once is not let in later.
func (s *smith) refuses(hostile map[string]string) {
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
	payload := strings.Split(s.changed(nil), ".")[1]
	unsigned := func(alg string) string {
		return b64([]byte(`{"alg":"`+alg+`","typ":"at+jwt","kid":"`+s.edPublic.KeyID+`"}`)) + "." + payload + "."
	}
	s.refuses(map[string]string{
		"alg none":     unsigned("none"),
		"alg None":     unsigned("None"),
		"alg nOnE":     unsigned("nOnE"),
		"alg NONE":     unsigned("NONE"),
		"no alg":       unsigned(""),
		"no signature": strings.Join(strings.Split(s.changed(nil), ".")[:2], ".") + ".",
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
	s.refuses(map[string]string{
		"HS256 with the public PEM": mint(t, with(jose.HS256, text), s.head(ec), fair(nil)),
		"HS256 with the public DER": mint(t, with(jose.HS256, der), s.head(ec), fair(nil)),
		"HS256 with the Ed25519 public": mint(t, with(jose.HS256, []byte(s.ed.Public().(ed25519.PublicKey))),
			s.head(ed), fair(nil)),
		"RS256":                        mint(t, with(jose.RS256, rsaKey), s.head(ed), fair(nil)),
		"ES256 under the EdDSA key id": mint(t, with(jose.ES256, s.ec), s.head(ed), fair(nil)),
		"EdDSA under the ES256 key id": mint(t, with(jose.EdDSA, s.ed), s.head(ec), fair(nil)),
	})
}

// silent fails the test on any call to the outside.
type silent struct{ t *testing.T }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.t.Errorf("the token had %s fetched", r.URL)
	return nil, errors.New("nothing is fetched")
}

// check 4: nothing that a token carries or points to is a key, and nothing is fetched for it.
func TestATokenBringsNoKeyOfItsOwn(t *testing.T) {
	before := http.DefaultTransport
	http.DefaultTransport = silent{t}
	defer func() { http.DefaultTransport = before }()
	s := newSmith(t)
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	kid := func(id string) string { return mint(t, with(jose.EdDSA, s.ed), s.head(id), fair(nil)) }
	s.refuses(map[string]string{
		"a stranger's key, our key id": mint(t, with(jose.EdDSA, stranger), s.head(s.edPublic.KeyID), fair(nil)),
		"a path for a key id":          kid("../../dev/null"),
		"SQL for a key id":             kid("' OR 1=1 --"),
		"an address for a key id":      kid("http://127.0.0.1/key"),
		"another key's id":             kid(s.ecPublic.KeyID),
		"no key id":                    kid(""),
		"a key in the header":          embedded(t, stranger, nil),
		"a key in it under our key id": embedded(t, stranger, heads{"kid": s.edPublic.KeyID}),
		"jku":                          s.headed("jku", "https://evil.example/jwks"),
		"x5u":                          s.headed("x5u", "https://evil.example/cert"),
		"x5c":                          s.headed("x5c", []string{"MIIB"}),
		"crit":                         s.headed("crit", []string{"exp"}),
		"b64":                          s.headed("b64", true),
	})
}

// embedded returns a token that brings its key.
func embedded(t *testing.T, key ed25519.PrivateKey, more heads) string {
	t.Helper()
	h := heads{"typ": "at+jwt"}
	maps.Copy(h, more)
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key},
		&jose.SignerOptions{EmbedJWK: true, ExtraHeaders: h})
	if err != nil {
		t.Fatal(err)
	}
	out, err := jwt.Signed(s).Claims(fair(nil)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// check 5: thirty seconds of difference between clocks are forgiven, in each direction.
func TestTimesOfTokens(t *testing.T) {
	s := newSmith(t)
	at := func(name string, d time.Duration) string { return s.set(name, now.Add(d).Unix()) }
	s.refuses(map[string]string{
		"expired by 31 s":    at("exp", -31*time.Second),
		"not before in 31 s": at("nbf", 31*time.Second),
		"issued in 31 s":     at("iat", 31*time.Second),
		"exp as a string":    s.set("exp", "tomorrow"),
		"exp beyond time":    s.set("exp", -1e300),
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

// check 6: only what we issued as an access token, for here, is one.
func TestOnlyAccessTokensForHere(t *testing.T) {
	s := newSmith(t)
	idToken := mint(t, with(jose.EdDSA, s.ed), heads{"kid": s.edPublic.KeyID, "typ": "JWT"}, map[string]any{
		"iss": issuer, "sub": "usr_1", "aud": "client_1", "azp": "client_1", "nonce": "n1", "email": "ada@example.com",
		"email_verified": true,
		"iat":            now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})
	s.refuses(map[string]string{
		"no exp":                   s.drop("exp"),
		"no iat":                   s.drop("iat"),
		"no sub":                   s.drop("sub"),
		"no jti":                   s.drop("jti"),
		"no session":               s.drop("sid"),
		"no version":               s.drop("ver"),
		"another version":          s.set("ver", 2),
		"no audience":              s.drop("aud"),
		"an audience of nothing":   s.set("aud", []string{}),
		"the audience of tools":    s.set("aud", []string{"mcp"}),
		"an audience in capitals":  s.set("aud", []string{"REST"}),
		"no issuer":                s.drop("iss"),
		"another issuer":           s.set("iss", "https://evil.example"),
		"an issuer with a slash":   s.set("iss", issuer+"/"),
		"type JWT":                 s.headed("typ", "JWT"),
		"no type":                  mint(t, with(jose.EdDSA, s.ed), heads{"kid": s.edPublic.KeyID}, fair(nil)),
		"an ID token":              idToken,
		"a refresh token":          "lampr_abc.1.DEF.ghi",
		"a reset ticket":           "lampt_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		"a personal access token":  identity.NewPAT(),
		"another deployment's own": mint(t, with(jose.EdDSA, newForge(t).ed), s.head(s.edPublic.KeyID), fair(nil)),
	})
}

// check 7: a token has one spelling, and a signature is of one payload.
func TestATokenHasOneSpelling(t *testing.T) {
	s := newSmith(t)
	good, other := s.changed(nil), s.set("sub", "usr_admin")
	parts, others := strings.Split(good, "."), strings.Split(other, ".")
	s.refuses(map[string]string{
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
