package s3_test

import (
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"lamplighter.dev/shared/engine/archive/s3"
	"lamplighter.dev/shared/testkit/archivetest"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestBucketOfMoto_KeepsTheContract(t *testing.T) {
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		BaseEndpoint: aws.String(tabletest.StartMoto(t)),
	}
	byPath := func(o *sdk.Options) { o.UsePathStyle = true }
	client := sdk.NewFromConfig(cfg, byPath)
	if _, err := client.CreateBucket(t.Context(), &sdk.CreateBucketInput{Bucket: aws.String("archive")}); err != nil {
		t.Fatal(err)
	}
	archivetest.Run(t, s3.New(cfg, "archive", byPath), func(name string) []byte {
		out, err := client.GetObject(t.Context(), &sdk.GetObjectInput{Bucket: aws.String("archive"), Key: &name})
		if err != nil {
			return nil
		}
		defer out.Body.Close()
		b, err := io.ReadAll(out.Body)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

func TestVaultOfMoto_KeepsTheContract(t *testing.T) {
	cfg := aws.Config{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		BaseEndpoint: aws.String(tabletest.StartMoto(t)),
	}
	byPath := func(o *sdk.Options) { o.UsePathStyle = true }
	client := sdk.NewFromConfig(cfg, byPath)
	if _, err := client.CreateBucket(t.Context(), &sdk.CreateBucketInput{
		Bucket: aws.String("anchors"), ObjectLockEnabledForBucket: aws.Bool(true),
	}); err != nil {
		t.Fatal(err)
	}
	archivetest.RunVault(t, s3.NewVault(cfg, "anchors", byPath))
}
