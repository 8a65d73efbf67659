package token_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestTokensSignedByKMS(t *testing.T) {
	ctx := context.Background()
	endpoint := tabletest.StartMoto(t)
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("peer", "peer", ""),
	}
	create := func(spec types.KeySpec) string {
		out, err := kms.NewFromConfig(cfg).CreateKey(ctx,
			&kms.CreateKeyInput{KeySpec: spec, KeyUsage: types.KeyUsageTypeSignVerify})
		if err != nil {
			t.Fatal(err)
		}
		return *out.KeyMetadata.Arn
	}
	c := clock.NewManual(now)
	tokens := func(keys ...string) *token.JWTs {
		t.Helper()
		ring, err := token.NewKMSKeys(cfg, c, keys...)
		if err != nil {
			t.Fatal(err)
		}
		return token.NewJWTs(ring, issuer, c)
	}
	older, newer := create(types.KeySpecEccNistP256), create(types.KeySpecEccNistP256)
	claims := token.Claims{User: "usr_1", Session: "s", ID: "j", Issued: now, Expires: now.Add(token.TTL)}
	signed, err := tokens(older).Sign(ctx, claims)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tokens(newer, older).Verify(ctx, signed); err != nil || got != claims {
		t.Errorf("a token of the key before: %+v, %v", got, err)
	}
	if _, err := tokens(newer).Verify(ctx, signed); err == nil {
		t.Error("accepted without its key")
	}
	t.Run("rotate at a time that is known before", func(t *testing.T) {
		both := tokens(older, newer+"@"+now.Add(time.Hour).Format(time.RFC3339))
		sign := func() (signed string, byNewer bool) {
			claims := token.Claims{
				User: "usr_1", Session: "s", ID: "j", Issued: c.Now(),
				Expires: c.Now().Add(token.TTL),
			}
			signed, err := both.Sign(ctx, claims)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tokens(newer).Verify(ctx, signed)
			return signed, err == nil
		}
		if _, byNewer := sign(); byNewer {
			t.Error("the next key signs before its time")
		}
		c.Advance(time.Hour - time.Minute)
		last, _ := sign()
		c.Advance(time.Minute)
		if _, byNewer := sign(); !byNewer {
			t.Error("the next key does not sign from its time on")
		}
		if _, err := both.Verify(ctx, last); err != nil {
			t.Errorf("the last token of the key before: %v", err)
		}
		if _, err := tokens(newer).Verify(ctx, last); err == nil {
			t.Error("accepted when its key was taken out of the list")
		}
		c.Advance(-time.Hour)
	})
	for name, bad := range map[string]*token.JWTs{
		"no key": tokens(), "a key that is not there": tokens(older + "0"),
		"an RSA key": tokens(create(types.KeySpecRsa2048)),
	} {
		if got, err := bad.Sign(ctx, claims); err == nil {
			t.Errorf("%s: signed %s", name, got)
		}
	}
}
