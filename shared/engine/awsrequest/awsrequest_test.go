package awsrequest

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

func TestNew_SignsForTheServiceOfTheRegion(t *testing.T) {
	for region, want := range map[string]string{
		"eu-west-1":      "https://lambda.eu-west-1.amazonaws.com/x?a=b",
		"cn-north-1":     "https://lambda.cn-north-1.amazonaws.com.cn/x?a=b",
		"eusc-de-east-1": "https://lambda.eusc-de-east-1.amazonaws.eu/x?a=b",
	} {
		cfg := aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "session")}
		at := time.Date(2026, 3, 10, 9, 30, 0, 0, time.UTC)
		r, err := New(t.Context(), Service{cfg, "lambda", "/x?a=b", at}, map[string]string{"X-Amz-Target": "t"},
			[]byte("{}"))
		if err != nil || r.URL.String() != want {
			t.Fatalf("%s: %v, %v", region, r.URL, err)
		}
		signed := r.Header.Get("Authorization")
		if !strings.Contains(signed, "Credential=id/20260310/"+region+"/lambda/aws4_request") ||
			!strings.Contains(signed, "x-amz-target") || r.Header.Get("X-Amz-Security-Token") != "session" {
			t.Errorf("%s: signed as %s", region, signed)
		}
	}
}
