package seal_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestSecretsUnderAKeyOfKMS(t *testing.T) {
	ctx := context.Background()
	endpoint := tabletest.StartMoto(t)
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("peer", "peer", ""),
	}
	key, err := kms.NewFromConfig(cfg).CreateKey(ctx, &kms.CreateKeyInput{})
	if err != nil {
		t.Fatal(err)
	}
	s := seal.NewEnvelope(seal.NewKMS(cfg, *key.KeyMetadata.KeyId))
	for name, p := range map[string]seal.Place{"of an organization": here, "of none": {Kind: "mail", ID: "mail_1"}} {
		t.Run(name, func(t *testing.T) {
			sealed, err := s.Seal(ctx, p, []byte("secret"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Open(ctx, p, sealed); err != nil || !bytes.Equal(got, []byte("secret")) {
				t.Errorf("%q, %v", got, err)
			}
			refused(t, s, seal.Place{Org: "org_2", Kind: p.Kind, ID: p.ID}, sealed)
		})
	}
	t.Run("after another key took over", func(t *testing.T) {
		sealed, err := s.Seal(ctx, here, []byte("secret"))
		if err != nil {
			t.Fatal(err)
		}
		next, err := kms.NewFromConfig(cfg).CreateKey(ctx, &kms.CreateKeyInput{})
		if err != nil {
			t.Fatal(err)
		}
		both := seal.NewEnvelope(seal.NewKMS(cfg, *next.KeyMetadata.Arn, *key.KeyMetadata.KeyId))
		if got, err := both.Open(ctx, here, sealed); err != nil || string(got) != "secret" {
			t.Errorf("what the key before sealed: %q, %v", got, err)
		}
		fresh, err := both.Seal(ctx, here, []byte("secret"))
		if err != nil {
			t.Fatal(err)
		}
		refused(t, s, here, fresh) // wrapped by a key that is not configured
		refused(t, seal.NewEnvelope(seal.NewKMS(cfg, *next.KeyMetadata.Arn)), here, sealed)
	})
}
