package identity_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"lamplighter.dev/shared/clock"
	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
)

const issuer = "https://lamplighter.test"

var now = time.Date(2026, time.March, 10, 9, 0, 0, 0, time.UTC)

// forge is a keyring whose private halves the tests hold, so that they can sign whatever they like.
type forge struct {
	ed       ed25519.PrivateKey
	ec       *ecdsa.PrivateKey
	edPublic jose.JSONWebKey
	ecPublic jose.JSONWebKey
}

func newForge(tb testing.TB) *forge {
	tb.Helper()
	_, ed, err := ed25519.GenerateKey(nil)
	if err != nil {
		tb.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	f := &forge{ed: ed, ec: ec}
	if f.edPublic, err = identity.PublicKey(ed.Public(), jose.EdDSA); err != nil {
		tb.Fatal(err)
	}
	if f.ecPublic, err = identity.PublicKey(ec.Public(), jose.ES256); err != nil {
		tb.Fatal(err)
	}
	return f
}

func (f *forge) Public() jose.JSONWebKey { return f.edPublic }

func (f *forge) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(f.ed, data), nil
}

func (f *forge) Signing(context.Context) (identity.SigningKey, error) { return f, nil }

func (f *forge) Accepted(context.Context) (jose.JSONWebKeySet, error) {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{f.edPublic, f.ecPublic}}, nil
}

// heads are the headers of a token.
type heads map[jose.HeaderKey]any

// with makes the key of an algorithm.
func with(alg jose.SignatureAlgorithm, key any) jose.SigningKey {
	return jose.SigningKey{Algorithm: alg, Key: key}
}

// mint signs claims with any key and header.
func mint(t *testing.T, key jose.SigningKey, head heads, claims any) string {
	t.Helper()
	if kid, ok := head["kid"].(string); ok {
		key.Key = jose.JSONWebKey{Key: key.Key, KeyID: kid}
		delete(head, "kid")
	}
	s, err := jose.NewSigner(key, &jose.SignerOptions{ExtraHeaders: head})
	if err != nil {
		t.Fatal(err)
	}
	out, err := jwt.Signed(s).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fair are claims that would be accepted, changed by change.
func fair(change func(c map[string]any)) map[string]any {
	c := map[string]any{
		"iss": issuer, "sub": "usr_1", "aud": []string{"rest"}, "jti": "jti_1", "sid": "s1", "org": "org_1", "ver": 1,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}
	if change != nil {
		change(c)
	}
	return c
}

func TestATokenSaysWhatWasSigned(t *testing.T) {
	tokens := identity.NewJWTs(newForge(t), issuer, clock.NewManual(now))
	want := identity.Claims{User: "usr_1", Org: "org_1", Session: "s1", ID: "jti_1", Issued: now, Expires: now.Add(identity.TokenTTL)}
	token, err := tokens.Sign(context.Background(), want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tokens.Verify(context.Background(), token)
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestHostileTokensAreRefused(t *testing.T) {
	f := newForge(t)
	tokens := identity.NewJWTs(f, issuer, clock.NewManual(now))
	ed, ec := f.edPublic.KeyID, f.ecPublic.KeyID
	head := func(kid string) heads {
		return heads{"kid": kid, "typ": "at+jwt"}
	}
	changed := func(change func(c map[string]any)) string {
		return mint(t, with(jose.EdDSA, f.ed), head(ed), fair(change))
	}
	set := func(name string, v any) string { return changed(func(c map[string]any) { c[name] = v }) }
	drop := func(name string) string { return changed(func(c map[string]any) { delete(c, name) }) }
	headed := func(name jose.HeaderKey, v any) string {
		h := head(ed)
		h[name] = v
		return mint(t, with(jose.EdDSA, f.ed), h, fair(nil))
	}
	good := changed(nil)
	if _, err := tokens.Verify(context.Background(), good); err != nil {
		t.Fatalf("the fair token is refused: %v", err)
	}
	if _, err := tokens.Verify(context.Background(), mint(t, with(jose.ES256, f.ec), head(ec), fair(nil))); err != nil {
		t.Fatalf("the fair ES256 token is refused: %v", err)
	}
	parts := strings.Split(good, ".")
	b64 := base64.RawURLEncoding.EncodeToString
	unsigned := func(alg string) string {
		return b64([]byte(`{"alg":"`+alg+`","typ":"at+jwt","kid":"`+ed+`"}`)) + "." + parts[1] + "."
	}
	der, err := x509.MarshalPKIXPublicKey(f.ec.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	embedded := func() string {
		s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: stranger},
			&jose.SignerOptions{EmbedJWK: true, ExtraHeaders: heads{"typ": "at+jwt"}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := jwt.Signed(s).Claims(fair(nil)).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, token := range map[string]string{
		"alg none":                      unsigned("none"),
		"alg None":                      unsigned("None"),
		"alg nOnE":                      unsigned("nOnE"),
		"HS256 with the public PEM":     mint(t, with(jose.HS256, public), head(ec), fair(nil)),
		"HS256 with the Ed25519 public": mint(t, with(jose.HS256, []byte(f.ed.Public().(ed25519.PublicKey))), head(ed), fair(nil)),
		"RS256":                         mint(t, with(jose.RS256, rsaKey), head(ed), fair(nil)),
		"ES256 under the EdDSA key id":  mint(t, with(jose.ES256, f.ec), head(ed), fair(nil)),
		"a stranger's key, our key id":  mint(t, with(jose.EdDSA, stranger), head(ed), fair(nil)),
		"a path for a key id":           mint(t, with(jose.EdDSA, f.ed), head("../../dev/null"), fair(nil)),
		"SQL for a key id":              mint(t, with(jose.EdDSA, f.ed), head("' OR 1=1 --"), fair(nil)),
		"an address for a key id":       mint(t, with(jose.EdDSA, f.ed), head("http://127.0.0.1/key"), fair(nil)),
		"no key id":                     mint(t, with(jose.EdDSA, f.ed), head(""), fair(nil)),
		"a key in the header":           embedded(),
		"jku":                           headed("jku", "https://evil.example/jwks"),
		"x5u":                           headed("x5u", "https://evil.example/cert"),
		"x5c":                           headed("x5c", []string{b64(der)}),
		"crit":                          headed("crit", []string{"exp"}),
		"b64":                           headed("b64", true),
		"type JWT":                      headed("typ", "JWT"),
		"no type":                       mint(t, with(jose.EdDSA, f.ed), heads{"kid": ed}, fair(nil)),
		"expired by 31 s":               set("exp", now.Add(-31*time.Second).Unix()),
		"not before in 31 s":            set("nbf", now.Add(31*time.Second).Unix()),
		"issued in 31 s":                set("iat", now.Add(31*time.Second).Unix()),
		"no exp":                        drop("exp"),
		"no iat":                        drop("iat"),
		"no sub":                        drop("sub"),
		"no jti":                        drop("jti"),
		"no session":                    drop("sid"),
		"no version":                    drop("ver"),
		"no audience":                   drop("aud"),
		"no issuer":                     drop("iss"),
		"another audience":              set("aud", []string{"mcp"}),
		"another issuer":                set("iss", "https://evil.example"),
		"exp as a string":               set("exp", "tomorrow"),
		"a signature cut short":         good[:len(good)-4],
		"another payload":               parts[0] + "." + b64([]byte(`{"sub":"admin"}`)) + "." + parts[2],
		"no signature":                  parts[0] + "." + parts[1] + ".",
		"four parts":                    good + ".x",
		"a blank at the end":            good + " ",
		"a newline at the end":          good + "\n",
		"a newline within":              parts[0] + ".\n" + parts[1] + "." + parts[2],
		"padding":                       good + "=",
		"JSON serialization":            `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"empty":                         "",
		"two dots":                      "..",
		"a megabyte":                    strings.Repeat("a", 1<<20),
		"a refresh token":               "lampr_abc.1.DEF.ghi",
	} {
		t.Run(name, func(t *testing.T) {
			claims, err := tokens.Verify(context.Background(), token)
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%+v, %v", claims, err)
			}
		})
	}
}

func TestTheLeewayIsThirtySeconds(t *testing.T) {
	f := newForge(t)
	tokens := identity.NewJWTs(f, issuer, clock.NewManual(now))
	head := heads{"kid": f.edPublic.KeyID, "typ": "at+jwt"}
	token := mint(t, with(jose.EdDSA, f.ed), head, fair(func(c map[string]any) { c["exp"] = now.Add(-29 * time.Second).Unix() }))
	if _, err := tokens.Verify(context.Background(), token); err != nil {
		t.Errorf("expired by 29 s: %v", err)
	}
}

func TestKeysInAFile(t *testing.T) {
	ctx := context.Background()
	claims := identity.Claims{User: "usr_1", Session: "s1", ID: "jti_1", Issued: now, Expires: now.Add(time.Minute)}
	dir := t.TempDir()
	open := func(t *testing.T, path string) *identity.JWTs {
		t.Helper()
		k, err := identity.OpenKeyFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return identity.NewJWTs(k, issuer, clock.NewManual(now))
	}
	path := filepath.Join(dir, "keys.pem")
	token, err := open(t, path).Sign(ctx, claims)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("are made once and read afterwards", func(t *testing.T) {
		if _, err := open(t, path).Verify(ctx, token); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	})
	t.Run("are published without their private halves", func(t *testing.T) {
		set, err := open(t, path).JWKS(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Keys []map[string]string `json:"keys"`
		}
		if err = json.Unmarshal(set, &got); err != nil || len(got.Keys) != 1 {
			t.Fatalf("%s: %v", set, err)
		}
		k := got.Keys[0]
		if k["kty"] != "OKP" || k["alg"] != "EdDSA" || k["use"] != "sig" || k["kid"] == "" || k["d"] != "" {
			t.Errorf("key %v", k)
		}
	})
	t.Run("rotate: the first signs, the others are still accepted", func(t *testing.T) {
		fresh := filepath.Join(dir, "fresh.pem")
		open(t, fresh)
		newer, err := os.ReadFile(fresh)
		if err != nil {
			t.Fatal(err)
		}
		older, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		both := filepath.Join(dir, "both.pem")
		if err = os.WriteFile(both, append(newer, older...), 0o600); err != nil {
			t.Fatal(err)
		}
		rotated := open(t, both)
		if _, err = rotated.Verify(ctx, token); err != nil {
			t.Errorf("a token of the key before: %v", err)
		}
		next, err := rotated.Sign(ctx, claims)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = open(t, fresh).Verify(ctx, next); err != nil {
			t.Errorf("the new key does not sign: %v", err)
		}
		if _, err = open(t, path).Verify(ctx, next); err == nil {
			t.Error("the old key alone accepts what the new one signed")
		}
	})
	for name, content := range map[string]string{"empty": "", "of text": "hello", "of a certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		t.Run("are refused when the file is "+name, func(t *testing.T) {
			bad := filepath.Join(t.TempDir(), "bad.pem")
			if err := os.WriteFile(bad, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := identity.OpenKeyFile(bad); err == nil {
				t.Error("accepted")
			}
		})
	}
	t.Run("are refused when others may read the file", func(t *testing.T) {
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := identity.OpenKeyFile(path); err == nil || !strings.Contains(err.Error(), "0640") {
			t.Errorf("error %v does not tell the mode", err)
		}
	})
}

func FuzzVerify(f *testing.F) {
	keys := newForge(f)
	keys.ed = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // the same in every process of the fuzzer
	public, err := identity.PublicKey(keys.ed.Public(), jose.EdDSA)
	if err != nil {
		f.Fatal(err)
	}
	keys.edPublic = public
	tokens := identity.NewJWTs(keys, issuer, clock.NewManual(now))
	good, err := tokens.Sign(context.Background(), identity.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(time.Minute)})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{good, "", "..", good + ".", "e30.e30.", strings.ToLower(good)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := tokens.Verify(context.Background(), s); err == nil && s != good {
			t.Errorf("accepted %q as %+v", s, c)
		}
	})
}

// What was verified once is not trusted for ever.
func TestATokenSeenBefore(t *testing.T) {
	ctx := context.Background()
	c := clock.NewManual(now)
	f := newForge(t)
	tokens := identity.NewJWTs(f, issuer, c)
	token, err := tokens.Sign(ctx, identity.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err = tokens.Verify(ctx, token); err != nil {
			t.Fatal(err)
		}
	}
	kept := f.edPublic
	f.edPublic = newForge(t).edPublic
	if _, err = tokens.Verify(ctx, token); err == nil {
		t.Error("accepted after its key was taken out")
	}
	f.edPublic = kept
	c.Advance(time.Minute + 31*time.Second)
	if _, err = tokens.Verify(ctx, token); err == nil {
		t.Error("accepted after its end")
	}
}

func BenchmarkVerify(b *testing.B) {
	ctx := context.Background()
	claims := identity.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(time.Minute)}
	keys := newForge(b)
	tokens := identity.NewJWTs(keys, issuer, clock.NewManual(now))
	token, err := tokens.Sign(ctx, claims)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := identity.NewJWTs(keys, issuer, clock.NewManual(now)).Verify(ctx, token); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("seen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tokens.Verify(ctx, token); err != nil {
				b.Fatal(err)
			}
		}
	})
}
