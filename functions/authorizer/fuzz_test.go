package authorizer

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

// FuzzAuthorize checks that every header except the two genuine ones is refused as an unknown credential, without
// another error. It starts from genuine tokens, so that its variations get far. The tokens are the same in every
// process of the fuzzer. check 1, check 7.
func FuzzAuthorize(f *testing.F) {
	fx := apitest.New(f)
	fx.Tokens = token.NewJWTs(fixedKey(f), fx.Settings.BaseURL, fx.Clock)
	session := enterOrg(fx, org)
	const secret = "lampp_0123456789ABCDEFGHIJKLMNOPQRST1YCA3o"
	hash := apitest.Value(identity.ParsePAT(secret))(fx)
	fx.Put(identity.PATKey(hash),
		identity.PAT{ID: "pat_1", User: user, Expires: fx.Clock.Now().AddDate(1, 0, 0), Used: fx.Clock.Now().Unix()})
	fx.Put(identity.MembershipKey(user, org), identity.Membership{Org: org})
	genuine := []string{strings.TrimPrefix(session, "Bearer "), secret}
	for _, token := range genuine {
		parts := strings.Split(token, ".")
		for _, s := range []string{
			"Bearer " + token, "bearer " + token, "Bearer " + token + "\n", "Bearer\t" + token, token, "Basic " + token,
			"Bearer " + token[:len(token)-1], "Bearer " + strings.ToUpper(token), "Bearer " + parts[0],
			"Bearer " + token + "." + parts[0],
			"Bearer " + token[:20] + "A" + token[21:], "Bearer " + token + ", Bearer " + token,
		} {
			f.Add(s, "")
			f.Add(s, org)
		}
	}
	a := Handler(fx.Platform)
	f.Fuzz(func(t *testing.T, header, wished string) {
		r := headerRequest("Authorization", header)
		if wished != "" {
			r.MultiValueHeaders["X-Organisation-Id"] = []string{wished}
		}
		got, err := a(context.Background(), r)
		if err != nil {
			if !errors.Is(err, errUnauthorized) || got.Context != nil || got.PrincipalID != "" {
				t.Errorf("%q %q: %v, %+v", header, wished, err, got)
			}
			return
		}
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") || token != genuine[0] && token != genuine[1] {
			t.Errorf("%q lets %+v in", header, got)
		}
		if who, err := identity.NewDecoder().Decode(got.Context); got.Context != nil &&
			(err != nil || who.User != user || who.Org != org) {
			t.Errorf("%q %q is %+v, %v", header, wished, who, err)
		}
	})
}

// fixedKey returns a keyring whose one key everybody knows.
func fixedKey(f *testing.F) token.Keyring {
	f.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), "fixed.pem")
	if err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		f.Fatal(err)
	}
	keys := apitest.Value(token.OpenKeyFile(path, clock.System{}))(f)
	return keys
}
