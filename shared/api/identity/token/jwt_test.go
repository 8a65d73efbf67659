package token_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/clock"
)

const issuer = "https://lamplighter.test"

var now = time.Date(2026, time.March, 10, 9, 0, 0, 0, time.UTC)

// forge is a keyring whose private keys the tests hold, so that they can sign anything.
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
	if f.edPublic, err = token.PublicKey(ed.Public(), jose.EdDSA); err != nil {
		tb.Fatal(err)
	}
	if f.ecPublic, err = token.PublicKey(ec.Public(), jose.ES256); err != nil {
		tb.Fatal(err)
	}
	return f
}

func (f *forge) Public() jose.JSONWebKey { return f.edPublic }

func (f *forge) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(f.ed, data), nil
}

func (f *forge) Signing(context.Context) (token.SigningKey, error) { return f, nil }

func (f *forge) Accepted(context.Context) (jose.JSONWebKeySet, error) {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{f.edPublic, f.ecPublic}}, nil
}

// heads are the headers of a token.
type heads map[jose.HeaderKey]any

// signingKey returns the signing key of an algorithm.
func signingKey(alg jose.SignatureAlgorithm, key any) jose.SigningKey {
	return jose.SigningKey{Algorithm: alg, Key: key}
}

// mintToken signs claims with any key and header.
func mintToken(t *testing.T, key jose.SigningKey, head heads, claims any) string {
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

// validClaims returns valid claims, changed by change.
func validClaims(change func(c map[string]any)) map[string]any {
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
	tokens := token.NewJWTs(newForge(t), issuer, clock.NewManual(now))
	want := token.Claims{
		User: "usr_1", Org: "org_1", Session: "s1", ID: "jti_1", Issued: now,
		Expires: now.Add(token.TTL),
	}
	token, err := tokens.Sign(context.Background(), want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tokens.Verify(context.Background(), token)
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestKeysInAFile(t *testing.T) {
	ctx := context.Background()
	claims := token.Claims{User: "usr_1", Session: "s1", ID: "jti_1", Issued: now, Expires: now.Add(time.Minute)}
	dir := t.TempDir()
	open := func(t *testing.T, path string) *token.JWTs {
		t.Helper()
		c := clock.NewManual(now)
		k, err := token.OpenKeyFile(path, c)
		if err != nil {
			t.Fatal(err)
		}
		return token.NewJWTs(k, issuer, c)
	}
	path := filepath.Join(dir, "keys.pem")
	signed, err := open(t, path).Sign(ctx, claims)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("are made once and read afterwards", func(t *testing.T) {
		if _, err := open(t, path).Verify(ctx, signed); err != nil {
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
		if _, err = rotated.Verify(ctx, signed); err != nil {
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
	for name, content := range map[string]string{
		"empty": "", "of a key with a strange header": "-----BEGIN PRIVATE KEY-----\nWhy: " +
			"not\n\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n",
		"of a key with a time that is none": "-----BEGIN PRIVATE KEY-----\nSigns-From: " +
			"soon\n\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n",
		"of text":          "hello",
		"of a certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	} {
		t.Run("are refused when the file is "+name, func(t *testing.T) {
			bad := filepath.Join(t.TempDir(), "bad.pem")
			if err := os.WriteFile(bad, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := token.OpenKeyFile(bad, clock.NewManual(now)); err == nil {
				t.Error("accepted")
			}
		})
	}
	t.Run("are refused when others may read the file", func(t *testing.T) {
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := token.OpenKeyFile(path, clock.NewManual(now)); err == nil ||
			!strings.Contains(err.Error(), "0640") {
			t.Errorf("error %v does not tell the mode", err)
		}
	})
}

func FuzzVerify(f *testing.F) {
	keys := newForge(f)
	keys.ed = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // the same in every process of the fuzzer
	public, err := token.PublicKey(keys.ed.Public(), jose.EdDSA)
	if err != nil {
		f.Fatal(err)
	}
	keys.edPublic = public
	tokens := token.NewJWTs(keys, issuer, clock.NewManual(now))
	good, err := tokens.Sign(context.Background(),
		token.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(time.Minute)})
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

// A token that was verified once is not trusted forever.
func TestATokenSeenBefore(t *testing.T) {
	ctx := context.Background()
	c := clock.NewManual(now)
	f := newForge(t)
	tokens := token.NewJWTs(f, issuer, c)
	token, err := tokens.Sign(ctx,
		token.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(time.Minute)})
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
	claims := token.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(time.Minute)}
	keys := newForge(b)
	tokens := token.NewJWTs(keys, issuer, clock.NewManual(now))
	signed, err := tokens.Sign(ctx, claims)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := token.NewJWTs(keys, issuer, clock.NewManual(now)).Verify(ctx, signed); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("seen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tokens.Verify(ctx, signed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
